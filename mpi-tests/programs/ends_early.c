/* Writes COUNT requests of 65,536 bytes, and perhaps a stream that it has flushed, to files of the working
 * directory; and then it ends in a way that leaves nobody the time for anything. All within a second.
 * usage: ends_early kill|abort|term|segv|_exit|raw COUNT */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    static char data[65536];
    if (argc != 3)
        return 2;
    int file = open("own", O_CREAT | O_RDWR | O_TRUNC, 0600);
    for (int i = 0; i < atoi(argv[2]); i++)
        if (write(file, data, sizeof data) != sizeof data)
            return 4;
    FILE *stream = fopen("lines", "w");
    fwrite(data, 1, 1000, stream);
    fflush(stream);
    if (!strcmp(argv[1], "_exit"))
        _exit(3);
    if (!strcmp(argv[1], "raw"))
        syscall(SYS_exit_group, 3);
    if (!strcmp(argv[1], "abort"))
        abort();
    if (!strcmp(argv[1], "segv"))
        *(volatile char *)8 = 1;
    raise(!strcmp(argv[1], "kill") ? SIGKILL : SIGTERM);
    return 5;
}
