/* Four times: writes 8 MB in REQUESTS nonblocking requests, computes for half a second, waits for all.
 * usage: outstanding DIRECTORY REQUESTS */
#include "write_some.h"

int main(int argc, char **argv) {
    enum { TOTAL = 8000000, MOST = 64 };
    MPI_Request requests[MOST];
    MPI_Init(&argc, &argv);
    int count = argc == 3 ? atoi(argv[2]) : 0;
    if (count < 1 || count > MOST)
        MPI_Abort(MPI_COMM_WORLD, 2);
    int size = TOTAL / count;
    char *data = calloc(1, TOTAL);
    MPI_File file = open_own_file(argv[1]);
    for (int step = 0; step < 4; step++) {
        for (int i = 0; i < count; i++)
            MPI_File_iwrite_at(file, (MPI_Offset)i * size, data + (size_t)i * size, size, MPI_BYTE,
                               requests + i);
        usleep(500000);
        MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    }
    MPI_File_close(&file);
    free(data);
    MPI_Finalize();
    return 0;
}
