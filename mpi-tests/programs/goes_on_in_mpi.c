/* As goes_on, by MPI-IO: a half is 20,000 requests of 100 bytes. It stops before MPI_Init, before the second
 * half, and before MPI_Finalize; END is finalize or exit (without MPI_Finalize).
 * usage: goes_on_in_mpi DIRECTORY WAY END */
#include "goes_on.h"
#include "write_some.h"
#include <tmio.h>

static void half(MPI_File file, const char *way)
{
    static char data[100];
    for (int i = 0; i < 20000; i++) {
        int failed;
        TIMED(failed = MPI_File_write_at(file, i * 100, data, 100, MPI_BYTE, MPI_STATUS_IGNORE));
        if (failed)
            MPI_Abort(MPI_COMM_WORLD, 6);
        if (i % 4000 == 0 && !strcmp(way, "summary"))
            TIMED(iotrace_summary());
        if (i % 200 == 0 && !strcmp(way, "slowly"))
            usleep(10000);
    }
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    directory = argv[1];
    stop_at("begin");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &own_rank);
    MPI_File file = open_own_file(directory);
    half(file, argv[2]);
    stop_at("middle");
    half(file, argv[2]);
    MPI_File_close(&file);
    tell_longest();
    stop_at("end");
    if (!strcmp(argv[3], "finalize"))
        MPI_Finalize();
    /* One write: MPICH makes standard output unbuffered. */
    fputs("it has done its work\n", stdout);
    return 0;
}
