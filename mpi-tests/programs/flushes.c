/* 5 requests, a flush, 5 more requests per rank: the calls of tmio.h as an application makes them.
 * usage: flushes DIRECTORY */
#include "write_some.h"
#include <tmio.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    if (argc != 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_File file = open_own_file(argv[1]);
    iotrace_mark("first half");
    write_requests(file, 0, 5);
    iotrace_summary();
    iotrace_pause();
    write_requests(file, 20, 3);
    iotrace_resume();
    write_requests(file, 5, 5);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
