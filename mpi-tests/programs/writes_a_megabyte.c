/* Writes a megabyte, says so and ends with 3. It is also compiled statically, and with another C library.
 * usage: writes_a_megabyte FILE */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
    static char data[1 << 16];
    long written = 0;
    int file = argc == 2 ? open(argv[1], O_CREAT | O_WRONLY | O_TRUNC, 0600) : -1;
    for (int i = 0; i < 16; i++)
        written += write(file, data, sizeof data);
    if (close(file))
        return 1;
    printf("%ld bytes\n", written);
    return 3;
}
