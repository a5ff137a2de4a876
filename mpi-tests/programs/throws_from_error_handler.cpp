// The file's error handler leaves the failing call with a C++ exception. What comes after it must be traced
// like what came before: 5 requests, a failing read, 5 requests, and the same with a collective read.
// usage: throws_from_error_handler DIRECTORY
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include "write_some.h"
#include <stdexcept>

static void raise_exception(MPI_File *, int *, ...) { throw std::runtime_error("MPI says no"); }

int main(int argc, char **argv) {
    char byte;
    int caught = 0;
    MPI_Errhandler handler;
    MPI_Init(&argc, &argv);
    if (argc != 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_File file = open_own_file(argv[1]);
    MPI_File_create_errhandler(raise_exception, &handler);
    MPI_File_set_errhandler(file, handler);
    for (int collective = 0; collective < 2; collective++) {
        write_requests(file, 10 * collective, 5);
        try {
            if (collective)
                MPI_File_read_at_all(file, 0, &byte, -1, MPI_BYTE, MPI_STATUS_IGNORE);
            else
                MPI_File_read_at(file, 0, &byte, -1, MPI_BYTE, MPI_STATUS_IGNORE);
        } catch (const std::runtime_error &) {
            caught++;
        }
        write_requests(file, 10 * collective + 5, 5);
    }
    MPI_File_close(&file);
    MPI_Errhandler_free(&handler);
    MPI_Finalize();
    return caught == 2 ? 0 : 1;
}
