/* Prints, for each of 50 requests of each rank, the wall-clock time at which it began, which is the same for
 * all ranks even where their monotonic clocks differ: lines "RANK NANOSECONDS".
 * usage: stamps DIRECTORY */
#include "write_some.h"

enum { COUNT = 50 };

int main(int argc, char **argv) {
    long long stamps[COUNT], *all;
    int rank, ranks;
    MPI_Init(&argc, &argv);
    if (argc != 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_File file = open_own_file(argv[1]);
    for (int i = 0; i < COUNT; i++) {
        struct timespec t, pause = {0, 2000000};
        clock_gettime(CLOCK_REALTIME, &t);
        stamps[i] = t.tv_sec * 1000000000LL + t.tv_nsec;
        write_requests(file, i, 1);
        nanosleep(&pause, NULL);
    }
    MPI_File_close(&file);
    all = malloc((size_t)ranks * sizeof stamps);
    MPI_Gather(stamps, COUNT, MPI_LONG_LONG, all, COUNT, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
    for (int i = 0; !rank && i < ranks * COUNT; i++)
        printf("%d %lld\n", i / COUNT, all[i]);
    free(all);
    MPI_Finalize();
    return 0;
}
