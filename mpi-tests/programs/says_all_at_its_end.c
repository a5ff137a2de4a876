/* Says BYTES bytes on standard output, which its stream keeps until the process ends ("fork": a child that
 * ends has them as well, and the parent waits for it).
 * usage: says_all_at_its_end BYTES [fork] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    static char buffer[16 << 20];
    size_t bytes = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    for (size_t i = 0; i < bytes; i++)
        putchar('x');
    if (argc > 2 && !strcmp(argv[2], "fork")) {
        if (fork() == 0)
            exit(0);
        wait(NULL);
    }
    return 0;
}
