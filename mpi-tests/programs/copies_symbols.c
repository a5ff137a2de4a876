/* Refers to data of the C library and of the dynamic linker, of which a program that is not position
 * independent, and often one that is, gets its own copy (V8 and Boehm's collector do so); and to functions by
 * their address. Writes 1 MB each to "own" and "own-too" in the working directory, by a descriptor and by a
 * stream, in two threads. With `overflow` or `leak` it makes a mistake that a sanitizer finds.
 * usage: copies_symbols [overflow|leak] */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void *__libc_stack_end;
extern char **environ;

static char data[1000];

static void *streams(void *unused)
{
    FILE *stream = fopen("own-too", "w");
    for (int i = 0; i < 1000 && stream; i++)
        fwrite(data, 1, sizeof data, stream);
    fclose(stream);
    return unused;
}

int main(int argc, char **argv)
{
    ssize_t (*by_address)(int, const void *, size_t) = write;
    const char *mistake = argc > 1 ? argv[1] : "";
    pthread_t thread;
    long written = 0;
    int objects = 0, file = open("own", O_CREAT | O_WRONLY | O_TRUNC, 0600);
    pthread_create(&thread, NULL, streams, NULL);
    for (int i = 0; i < 1000; i++)
        written += i % 2 ? by_address(file, data, sizeof data) : write(file, data, sizeof data);
    pthread_join(thread, NULL);
    for (struct link_map *map = _r_debug.r_map; map; map = map->l_next)
        objects += strstr(map->l_name, "libc.so") != NULL;
    void *end = __libc_stack_end;
    printf("%ld bytes; the stack is %s, the C library is %s, the environment is %s, write is %s\n", written,
           end && (char *)end > (char *)&end ? "known" : "unknown", objects == 1 ? "there" : "not there",
           environ && environ[0] ? "there" : "not there",
           dlsym(RTLD_DEFAULT, "write") == (void *)by_address ? "one" : "two");
    fprintf(stderr, "%s\n", program_invocation_short_name);
    char *block = malloc(100);
    memset(block, 1, 100);
    if (!strcmp(mistake, "overflow"))
        printf("%d\n", ((volatile char *)block)[100 + (argc > 2)]);
    if (strcmp(mistake, "leak"))
        free(block);
    block = NULL;
    return 3;
}
