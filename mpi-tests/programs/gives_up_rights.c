/* A service that gives up its user, its groups or its root directory, before it has written anything
 * (before), after some (early), or after much (late), and goes on: 20,000 requests of 100 bytes to a file
 * that is open, and 200 to one that it opens then. Says how many bytes it wrote.
 * usage: gives_up_rights HOW before|early|late */
#define _GNU_SOURCE
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NOBODY = 65534 };

static long written;

static void write_some(int file, int count, int size)
{
    static char data[65536];
    for (int i = 0; i < count; i++)
        written += write(file, data, size);
}

static int give_up(const char *how)
{
    if (!strcmp(how, "setuid"))
        return setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY);
    if (!strcmp(how, "seteuid"))
        return setegid(NOBODY) || seteuid(NOBODY);
    if (!strcmp(how, "setreuid"))
        return setregid(NOBODY, NOBODY) || setreuid(NOBODY, NOBODY);
    if (!strcmp(how, "setresuid"))
        return setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY);
    if (!strcmp(how, "initgroups"))
        return initgroups("nobody", NOBODY) || setgid(NOBODY) || setuid(NOBODY);
    if (!strcmp(how, "setfsuid"))
        return setfsuid(NOBODY) < 0;
    if (!strcmp(how, "raw"))
        return syscall(SYS_setgroups, 0, NULL) || syscall(SYS_setgid, NOBODY) || syscall(SYS_setuid, NOBODY);
    if (!strcmp(how, "chroot"))
        return chroot(".") || chdir("/");
    return -1;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    int file = open("own", O_CREAT | O_RDWR | O_TRUNC, 0666);
    chmod(".", 0777);
    if (!strcmp(argv[2], "early"))
        write_some(file, 100, 1000);
    if (!strcmp(argv[2], "late"))
        write_some(file, 40, 65536);
    if (give_up(argv[1])) {
        perror(argv[1]);
        return 4;
    }
    write_some(file, 20000, 100);
    int other = open("opened-later", O_CREAT | O_RDWR | O_TRUNC, 0666);
    write_some(other, 200, 100);
    printf("%ld\n", written);
    return 3;
}
