/* Closes a file in a way that is seldom used, gets a pipe of the same number, and moves 2 MiB through it; a
 * megabyte goes to a file. It writes where it is.
 * usage: reuses_numbers stream|mapped|descriptors|memory */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char data[1 << 15];
static int shared;

static int closes(void *nothing) {
    int ends[2];
    (void)nothing;
    return close(shared) != 0 || pipe(ends) != 0;
}

/* A child that has the same descriptors, and perhaps the same memory. */
static int clones(int flags) {
    static char stack[1 << 18];
    int status = 1;
    int child = clone(closes, stack + sizeof stack, CLONE_FILES | SIGCHLD | flags, NULL);
    return waitpid(child, &status, 0) != child || status != 0;
}

int main(int argc, char **argv) {
    int ends[2];
    if (argc != 2)
        return 1;
    shared = open("written", O_CREAT | O_RDWR, 0600);
    for (int i = 0; i < 32; i++)
        if (write(shared, data, sizeof data) != (ssize_t)sizeof data)
            return 1;
    if (strcmp(argv[1], "stream") == 0 || strcmp(argv[1], "mapped") == 0) {
        FILE *stream = fopen("written", argv[1][0] == 's' ? "r" : "rm");
        int number = stream ? fileno(stream) : -1;
        fgetc(stream);
        if (fclose(stream) || pipe(ends) || (ends[0] != number && ends[1] != number))
            return 1;
    } else {
        if (clones(argv[1][0] == 'd' ? 0 : CLONE_VM))
            return 1;
        ends[0] = shared;
        ends[1] = shared + 1;
    }
    for (int i = 0; i < 64; i++)
        if (write(ends[1], data, sizeof data) != (ssize_t)sizeof data ||
            read(ends[0], data, sizeof data) != (ssize_t)sizeof data)
            return 1;
    return 0;
}
