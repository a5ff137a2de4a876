/* Writes COUNT requests to a file of its own, talks to the other ranks, and prints one line: which rank it is
 * of how many, and what it has written. Which worlds a launcher makes of its processes can be read off the
 * lines.
 * usage: tells_its_world DIRECTORY COUNT [SECONDS before MPI_Finalize, for odd ranks] */
#include "write_some.h"

int main(int argc, char **argv) {
    int rank, size, sum = 0;
    MPI_Init(&argc, &argv);
    if (argc < 3)
        MPI_Abort(MPI_COMM_WORLD, 2);
    int count = atoi(argv[2]);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_File file = open_own_file(argv[1]);
    write_requests(file, 0, count + rank);
    MPI_File_close(&file);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (sum != size * (size - 1) / 2)
        MPI_Abort(MPI_COMM_WORLD, 3);
    printf("rank %d of %d: %d requests, %d bytes\n", rank, size, count + rank, (count + rank) * WRITE_SIZE);
    fflush(stdout);
    if (argc > 3 && rank % 2)
        usleep((useconds_t)(atof(argv[3]) * 1e6));
    MPI_Finalize();
    return 0;
}
