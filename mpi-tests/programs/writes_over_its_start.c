/* Changes what the kernel gave it at its start, as programs do that take options out of their arguments or
 * set their title, and then writes two megabytes to the file PATH. Prints how many bytes.
 * usage: writes_over_its_start PATH arguments|title|freed */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

int main(int count, char **arguments)
{
    if (count != 3)
        return 2;
    char path[4096];
    snprintf(path, sizeof path, "%s", arguments[1]);
    const char *how = strdup(arguments[2]);
    if (!strcmp(how, "arguments")) {
        /* git and GLib take out the options that they have understood. */
        arguments[1] = arguments[2];
        arguments[2] = NULL;
        arguments[1] = NULL;
    } else if (!strcmp(how, "title")) {
        /* sshd, PostgreSQL and setproctitle(3) write over arguments and variables. */
        char *begin = arguments[0], *end = begin;
        for (int i = 0; i < count; i++)
            end = arguments[i] + strlen(arguments[i]) + 1;
        char **variables = environ;
        int number = 0;
        while (variables[number]) {
            end = variables[number] + strlen(variables[number]) + 1;
            number++;
        }
        char **copy = calloc(number + 1, sizeof *copy);
        for (int i = 0; i < number; i++)
            copy[i] = strdup(variables[i]);
        environ = copy;
        memset(begin, 'x', end - begin - 1);
    } else {
        /* putenv puts our own memory into the list, which is then given back to the kernel. */
        for (char **variable = environ; *variable; variable++) {
            static char nothing[] = "A=";
            if (!strncmp(*variable, "TMIO_", 5))
                *variable = nothing;
        }
        clearenv();
    }
    int file = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    static char bytes[1 << 16];
    long written = 0;
    for (int i = 0; i < 32; i++)
        written += write(file, bytes, sizeof bytes);
    close(file);
    printf("%ld\n", written);
    return 3;
}
