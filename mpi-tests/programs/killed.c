/* One rank, or all of them, is killed with SIGKILL after every rank has done COUNT requests, the file still open.
 * usage: killed DIRECTORY COUNT all|RANK */
#include "write_some.h"
#include <signal.h>

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    if (argc != 4)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_File file = open_own_file(argv[1]);
    write_requests(file, 0, atoi(argv[2]));
    MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(argv[3], "all") || atoi(argv[3]) == rank)
        raise(SIGKILL);
    pause();
    return 0;
}
