/* A request, a split collective with a second between its halves, and half a second of nothing.
 * usage: splits_slowly DIRECTORY */
#include "write_some.h"

int main(int argc, char **argv) {
    static char data[WRITE_SIZE];
    MPI_Init(&argc, &argv);
    if (argc != 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_File file = open_own_file(argv[1]);
    write_requests(file, 0, 1);
    MPI_File_write_at_all_begin(file, 0, data, WRITE_SIZE, MPI_BYTE);
    usleep(1000000);
    MPI_File_write_at_all_end(file, data, MPI_STATUS_IGNORE);
    usleep(500000);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
