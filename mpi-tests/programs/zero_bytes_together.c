/* Writes 12 requests of no bytes and 12 of 100 bytes, all under way at once, and completes them with one
 * call: an MPI may give the same handle to all requests that are complete at once.
 * usage: zero_bytes_together DIRECTORY */
#include "write_some.h"

enum { EACH = 12 };

int main(int argc, char **argv) {
    static char data[EACH][100];
    MPI_Request requests[2 * EACH];
    MPI_Init(&argc, &argv);
    if (argc != 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_File file = open_own_file(argv[1]);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < EACH; i++) {
            MPI_File_iwrite_at(file, i * 100, data[i], 0, MPI_BYTE, &requests[2 * i]);
            MPI_File_iwrite_at(file, i * 100, data[i], 100, MPI_BYTE, &requests[2 * i + 1]);
        }
        if (round < 2)
            MPI_Waitall(2 * EACH, requests, MPI_STATUSES_IGNORE);
        else
            for (int i = 0; i < 2 * EACH; i++)
                MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    }
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
