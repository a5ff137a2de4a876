/* Does much before it calls MPI_Init, and takes longer for that than a process that leaves nothing behind:
 * each rank writes 4 MiB to "before.PROCESS" and, as a rank, 2 MiB to "after.RANK" by POSIX calls and as much
 * to "mpi.RANK" by MPI-IO. With "never" it ends without MPI.
 * usage: begins_before_mpi DIRECTORY [never] */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char data[1 << 20];
static char path[4096];

static void write_twice(const char *directory, const char *name, int number)
{
    snprintf(path, sizeof path, "%s/%s.%d", directory, name, number);
    int file = open(path, O_CREAT | O_APPEND | O_WRONLY, 0600);
    for (int i = 0; i < 2; i++)
        if (write(file, data, sizeof data) != sizeof data)
            exit(9);
    close(file);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_File file;
    write_twice(argv[1], "before", (int)getpid());
    usleep(1200000);
    write_twice(argv[1], "before", (int)getpid());
    if (argc > 2 && !strcmp(argv[2], "never"))
        return 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    write_twice(argv[1], "after", rank);
    snprintf(path, sizeof path, "%s/mpi.%d", argv[1], rank);
    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    for (int i = 0; i < 2; i++)
        MPI_File_write(file, data, sizeof data, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
