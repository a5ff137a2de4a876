/* Makes a namespace of process ids for its children, writes two megabytes to "first", and starts two children
 * one after the other, the first of which writes as much to "second".
 * usage: makes_a_namespace */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static void write_some(const char *name)
{
    static char bytes[1 << 16];
    int file = open(name, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    for (int i = 0; i < 32; i++)
        if (write(file, bytes, sizeof bytes) != sizeof bytes)
            _exit(9);
    close(file);
}

int main(void)
{
    if (unshare(CLONE_NEWPID) != 0)
        return 2;
    write_some("first");
    fsync(1);
    pid_t child = fork();
    if (child < 0) {
        perror("fork");
        return 3;
    }
    if (child == 0) {
        printf("child %d\n", (int)getpid());
        fflush(stdout);
        write_some("second");
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    printf("ended %d\n", status);
    return 0;
}
