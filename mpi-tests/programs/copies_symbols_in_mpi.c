/* As copies_symbols: 10 requests of a rank, and whether its copies are filled.
 * usage: copies_symbols_in_mpi DIRECTORY */
#include "write_some.h"
#include <link.h>

extern void *__libc_stack_end;

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    if (argc != 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_File file = open_own_file(argv[1]);
    write_requests(file, 0, 10);
    MPI_File_close(&file);
    /* One write: MPICH makes standard output unbuffered. */
    fputs(__libc_stack_end && _r_debug.r_map ? "filled\n" : "empty\n", stdout);
    MPI_Finalize();
    return 0;
}
