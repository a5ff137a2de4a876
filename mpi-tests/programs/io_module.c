/* A module that a host program loads, linked with an MPI of its own: 10 requests. */
#include "write_some.h"

int run(const char *directory) {
    MPI_Init(NULL, NULL);
    MPI_File file = open_own_file(directory);
    write_requests(file, 0, 10);
    MPI_File_close(&file);
    MPI_Finalize();
    puts("done");
    return 0;
}
