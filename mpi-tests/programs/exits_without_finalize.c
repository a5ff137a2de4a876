/* Ends without MPI_Finalize after 20 requests per rank.
 * usage: exits_without_finalize DIRECTORY exit|_exit */
#include "write_some.h"

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    if (argc != 3)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_File file = open_own_file(argv[1]);
    write_requests(file, 0, 20);
    /* The launcher ends the others when the first rank leaves: all must have written by then. */
    MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(argv[2], "exit"))
        exit(0);
    _exit(0);
}
