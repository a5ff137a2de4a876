/* MPI and no I/O at all, for SECONDS.
 * usage: idle SECONDS */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    usleep((useconds_t)(1e6 * (argc > 1 ? atof(argv[1]) : 0)));
    MPI_Finalize();
    return 0;
}
