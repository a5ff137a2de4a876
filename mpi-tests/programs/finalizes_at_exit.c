/* Writes 10 requests and ends MPI in an exit handler, which main has registered before or, with `late`, after
 * MPI_Init; the last file is open until then.
 * usage: finalizes_at_exit DIRECTORY [late] */
#include "write_some.h"

static MPI_File file;

static void finalize(void) {
    write_requests(file, 5, 5);
    MPI_File_close(&file);
    MPI_Finalize();
}

int main(int argc, char **argv) {
    int late = argc > 2;
    if (!late)
        atexit(finalize);
    MPI_Init(&argc, &argv);
    if (late)
        atexit(finalize);
    file = open_own_file(argv[1]);
    write_requests(file, 0, 5);
    exit(0);
}
