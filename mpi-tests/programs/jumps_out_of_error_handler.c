/* The file's error handler leaves the failing call with longjmp, as a C++ program may with an exception. What
 * comes after it must be traced like what came before: 5 requests, a failing read, 5 requests.
 * usage: jumps_out_of_error_handler DIRECTORY */
#include "write_some.h"
#include <setjmp.h>

static jmp_buf after_failure;

static void jump(MPI_File *file, int *code, ...) {
    (void)file, (void)code;
    longjmp(after_failure, 1);
}

int main(int argc, char **argv) {
    char byte;
    MPI_Errhandler handler;
    MPI_Init(&argc, &argv);
    if (argc != 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    static MPI_File file;
    file = open_own_file(argv[1]);
    MPI_File_create_errhandler(jump, &handler);
    MPI_File_set_errhandler(file, handler);
    write_requests(file, 0, 5);
    if (!setjmp(after_failure)) {
        MPI_File_read_at(file, 0, &byte, -1, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_Abort(MPI_COMM_WORLD, 1); /* a negative count is an error */
    }
    write_requests(file, 5, 5);
    MPI_File_close(&file);
    MPI_Errhandler_free(&handler);
    MPI_Finalize();
    return 0;
}
