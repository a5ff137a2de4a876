/* An exception out of a failing read; after that no I/O for a second, but ten times iotrace_summary().
 * usage: throws_then_computes DIRECTORY */
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
extern "C" {
#include "tmio.h"
#include "write_some.h"
}
#include <stdexcept>

static void leave(MPI_File *, int *, ...) { throw std::runtime_error("no"); }

int main(int argc, char **argv) {
    char byte;
    MPI_Errhandler handler;
    MPI_Init(&argc, &argv);
    if (argc != 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_File file = open_own_file(argv[1]);
    MPI_File_create_errhandler(leave, &handler);
    MPI_File_set_errhandler(file, handler);
    write_requests(file, 0, 1);
    try {
        MPI_File_read_at(file, 0, &byte, -1, MPI_BYTE, MPI_STATUS_IGNORE);
    } catch (const std::exception &) {
    }
    for (int i = 0; i < 10; i++) {
        usleep(100000);
        iotrace_summary();
    }
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
