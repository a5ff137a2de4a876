/* Each rank does 10 requests and closes its file; then rank 0 makes DIRECTORY/ready and waits until it is
 * taken away.
 * usage: closes_then_waits DIRECTORY */
#include "write_some.h"

int main(int argc, char **argv) {
    char name[4096];
    int rank;
    struct timespec moment = {0, 10000000};
    MPI_Init(&argc, &argv);
    if (argc != 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_File file = open_own_file(argv[1]);
    write_requests(file, 0, 10);
    MPI_File_close(&file);
    MPI_Barrier(MPI_COMM_WORLD);
    snprintf(name, sizeof name, "%s/ready", argv[1]);
    if (!rank) {
        FILE *ready = fopen(name, "w");
        if (!ready || fclose(ready))
            MPI_Abort(MPI_COMM_WORLD, 1);
        while (!access(name, F_OK))
            nanosleep(&moment, NULL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
