/* Forbids itself to write files (RLIMIT_FSIZE 0) and then reads: a tracer can write nothing, either, and what
 * it has recorded has no place to go. Prints how many reads this rank did.
 * usage: reads_under_a_limit DIRECTORY early|late (before the first I/O by MPI, or after it) */
#include "write_some.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

enum { READS = 20000 };

static void forbid(void) {
    struct rlimit limit = {0, 0};
    signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &limit))
        MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    if (argc != 3)
        MPI_Abort(MPI_COMM_WORLD, 2);
    char name[4096], data[WRITE_SIZE] = {0};
    MPI_File file;
    snprintf(name, sizeof name, "%s/read_%ld.dat", argv[1], (long)getpid());
    int made = open(name, O_CREAT | O_WRONLY, 0600);
    if (made < 0 || write(made, data, sizeof data) != sizeof data || close(made))
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (!strcmp(argv[2], "early"))
        forbid();
    if (MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file))
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (strcmp(argv[2], "early"))
        forbid();
    for (int i = 0; i < READS; i++)
        if (MPI_File_read_at(file, 0, data, WRITE_SIZE, MPI_BYTE, MPI_STATUS_IGNORE))
            MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_File_close(&file);
    MPI_Finalize();
    printf("%d reads\n", READS);
    return 0;
}
