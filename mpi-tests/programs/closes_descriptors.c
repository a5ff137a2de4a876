/* Closes standard input, output and error before MPI_Init, as a daemon does, and puts files of its own in
 * their place: what a tracer wrote to them would be in these files. 20 requests per rank, then each of them
 * holds one line.
 * usage: closes_descriptors DIRECTORY */
#include "write_some.h"
#include <fcntl.h>

int main(int argc, char **argv) {
    char name[4096], text[64];
    int bad = argc != 2;
    for (int descriptor = 0; descriptor < 3 && !bad; descriptor++) {
        close(descriptor);
        snprintf(name, sizeof name, "%s/own_%ld_%d", argv[1], (long)getpid(), descriptor);
        bad |= open(name, O_CREAT | O_RDWR, 0666) != descriptor;
    }
    MPI_Init(&argc, &argv);
    if (bad)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_File file = open_own_file(argv[1]);
    write_requests(file, 0, 10);
    for (int descriptor = 0; descriptor < 3; descriptor++)
        bad |= write(descriptor, "mine\n", 5) != 5;
    write_requests(file, 10, 10);
    MPI_File_close(&file);
    MPI_Finalize();
    for (int descriptor = 0; descriptor < 3; descriptor++)
        bad |= pread(descriptor, text, sizeof text, 0) != 5 || memcmp(text, "mine\n", 5);
    return bad;
}
