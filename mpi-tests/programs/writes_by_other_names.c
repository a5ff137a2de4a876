/* Writes 2,000,000 bytes to a regular file by each of the names that it is given. */
#include <fcntl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    static char data[10000];
    for (int i = 1; i < argc; i++) {
        int file = open(argv[i], O_WRONLY | O_CREAT | O_APPEND, 0600);
        for (int n = 0; n < 200; n++)
            if (write(file, data, sizeof data) != sizeof data)
                return 1;
        close(file);
    }
    return 3;
}
