/* Four threads write from the first moment on, where making a directory takes half a second: a tracer that
 * begins to record must neither hold up the other threads nor lose what they do meanwhile.
 * Prints how many bytes were written. To be linked with -rdynamic. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, WRITES = 300, SIZE = 16384 };

int mkdir(const char *path, mode_t mode) {
    usleep(500000);
    return (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

static void *writes(void *argument) {
    static char data[SIZE];
    char name[32];
    snprintf(name, sizeof name, "data.%d", *(int *)argument);
    int file = open(name, O_CREAT | O_WRONLY, 0600);
    if (file < 0)
        exit(1);
    for (int i = 0; i < WRITES; i++) {
        if (pwrite(file, data, SIZE, (off_t)i * SIZE) != SIZE)
            exit(1);
        usleep(3000);
    }
    close(file);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    int numbers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        pthread_create(threads + i, NULL, writes, numbers + i);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", THREADS * WRITES * SIZE);
    return 0;
}
