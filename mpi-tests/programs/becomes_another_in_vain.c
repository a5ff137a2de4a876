/* Writes 2 MiB, tries TIMES times to become a program that does not exist, each time by another function, and
 * writes 2 MiB more after each; at last ("thread") by another thread.
 * usage: becomes_another_in_vain TIMES [thread] */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static char data[65536];
static int file;

static void *writes(void *none)
{
    for (int i = 0; i < 32; i++)
        if (write(file, data, sizeof data) != sizeof data)
            _exit(2);
    return none;
}

int main(int argc, char **argv)
{
    char *words[] = {"none", NULL};
    int times = argc > 1 ? atoi(argv[1]) : 1;
    pthread_t thread;
    file = open("out", O_CREAT | O_RDWR | O_TRUNC, 0644);
    writes(NULL);
    for (int i = 0; i < times; i++) {
        if (i % 3 == 0)
            execl("/nonexistent/none", "none", NULL);
        else if (i % 3 == 1)
            execvp("there-is-no-such-program", words);
        else
            execve("/nonexistent/none", words, environ);
        if (argc > 2 && i == times - 1) {
            pthread_create(&thread, NULL, writes, NULL);
            pthread_join(thread, NULL);
        } else {
            writes(NULL);
        }
    }
    return 7;
}
