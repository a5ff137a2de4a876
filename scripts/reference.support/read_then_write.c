/* read_then_write FILE BYTES SECONDS: every rank reads so many bytes from FILE.in.RANK, computes (sleeps) for
 * so many seconds, and writes as many to its part of FILE. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 1 << 20 };

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: read_then_write FILE BYTES SECONDS\n");
        return 2;
    }
    long bytes = atol(argv[2]);
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char *data = malloc(CHUNK), name[4096];
    memset(data, 'a' + rank, CHUNK);
    MPI_File in, out;
    /* The input was made by somebody else. */
    snprintf(name, sizeof name, "%s.in.%d", argv[1], rank);
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &in);
    for (long at = 0; at < bytes; at += CHUNK)
        MPI_File_read_at(in, at, data, CHUNK, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&in);
    usleep((useconds_t)(atof(argv[3]) * 1e6));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &out);
    for (long at = 0; at < bytes; at += CHUNK)
        MPI_File_write_at(out, rank * bytes + at, data, CHUNK, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&out);
    MPI_Finalize();
    return 0;
}
