/* Starts COUNT children one after the other, with PAUSE seconds between them. Each writes two megabytes to a
 * file of its own in the current directory; the program itself writes nothing.
 * usage: starts_writers COUNT PAUSE */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void write_some(int number)
{
    static char bytes[1 << 16];
    char name[30];
    snprintf(name, sizeof name, "of-child-%d", number);
    int file = open(name, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    for (int i = 0; i < 32; i++)
        if (write(file, bytes, sizeof bytes) != sizeof bytes)
            _exit(9);
    close(file);
    _exit(0);
}

int main(int count, char **arguments)
{
    if (count != 3)
        return 2;
    for (int i = 0; i < atoi(arguments[1]); i++) {
        if (fork() == 0)
            write_some(i);
        int status;
        wait(&status);
        if (status != 0)
            return 1;
        sleep(atoi(arguments[2]));
    }
    return 0;
}
