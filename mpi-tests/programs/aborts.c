/* Rank 0 calls MPI_Abort with code 3 after every rank has done 20 requests.
 * usage: aborts DIRECTORY */
#include "write_some.h"

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    if (argc != 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_File file = open_own_file(argv[1]);
    write_requests(file, 0, 20);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Abort(MPI_COMM_WORLD, 3);
    pause();
    return 0;
}
