/* longjmp out of the file's error handler from a shallow call; the 100 requests that follow are made below
 * a frame with a large buffer that is never filled: what the jump left on the stack stays there.
 * usage: jumps_then_goes_deeper DIRECTORY */
#include "write_some.h"
#include <setjmp.h>

static jmp_buf after_failure;
static MPI_File file;

static void jump(MPI_File *failed, int *code, ...) {
    (void)failed, (void)code;
    longjmp(after_failure, 1);
}

__attribute__((noinline)) static void checkpoint(int count) {
    char buffer[65536];
    buffer[0] = 1;
    for (int i = 0; i < count; i++)
        MPI_File_write_at(file, 0, buffer, 1, MPI_BYTE, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
    char byte;
    MPI_Errhandler handler;
    MPI_Init(&argc, &argv);
    if (argc != 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    file = open_own_file(argv[1]);
    MPI_File_create_errhandler(jump, &handler);
    MPI_File_set_errhandler(file, handler);
    if (!setjmp(after_failure))
        MPI_File_read_at(file, 0, &byte, -1, MPI_BYTE, MPI_STATUS_IGNORE);
    checkpoint(100);
    MPI_File_close(&file);
    MPI_Errhandler_free(&handler);
    MPI_Finalize();
    return 0;
}
