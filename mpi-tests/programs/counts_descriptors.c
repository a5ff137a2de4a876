/* Prints how many file descriptors rank 0 has open in the middle of its I/O: a program may close or reuse any
 * descriptor, so a tracer keeps none.
 * usage: counts_descriptors DIRECTORY */
#include "write_some.h"
#include <fcntl.h>

int main(int argc, char **argv) {
    int rank, open = 0;
    MPI_Init(&argc, &argv);
    if (argc != 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_File file = open_own_file(argv[1]);
    write_requests(file, 0, 5);
    for (int descriptor = 0; descriptor < 1024; descriptor++)
        open += fcntl(descriptor, F_GETFD) != -1;
    write_requests(file, 5, 5);
    MPI_File_close(&file);
    if (rank == 0)
        printf("%d\n", open);
    MPI_Finalize();
    return 0;
}
