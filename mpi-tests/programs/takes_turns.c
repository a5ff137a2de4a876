// Computes and writes, again and again, and reads back what it wrote.
// takes_turns DIRECTORY NAME MODE PHASES WRITES BYTES COMPUTE_MS [PAUSE_MS [START]]
// MODE: own (a file per rank), all (collective writes to one file), nonblocking, split, mixed (all of them).
// START: seconds since 1970 at which it begins. Rank 0 prints a line "phase START END" per phase, in seconds
// of the monotonic clock, and "right" at the end.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void rest(long ms) {
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

// A barrier that does not spin: a core is worth more than a moment.
static void meet(void) {
    MPI_Request request;
    int done = 0;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    while (MPI_Test(&request, &done, MPI_STATUS_IGNORE), !done) rest(1);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    if (argc < 8) return 2;
    int rank, size, wrong = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char *mode = argv[3];
    int phases = atoi(argv[4]), writes = atoi(argv[5]), bytes = atoi(argv[6]);
    long compute = atol(argv[7]), pause = argc > 8 ? atol(argv[8]) : 0;
    double begin = argc > 9 ? atof(argv[9]) : 0;
    int own = !strcmp(mode, "own"), mixed = !strcmp(mode, "mixed");
    char name[4096];
    snprintf(name, sizeof name, "%s/%s%s%.0d", argv[1], argv[2], own ? "." : "", own ? rank + 1 : 0);
    MPI_File file;
    MPI_Comm who = own ? MPI_COMM_SELF : MPI_COMM_WORLD;
    int amode = MPI_MODE_CREATE | MPI_MODE_RDWR;
    if (MPI_File_open(who, name, amode, MPI_INFO_NULL, &file) != MPI_SUCCESS) return 3;
    char *buffer = malloc((size_t)bytes), *back = malloc((size_t)bytes);
    struct timespec today;
    clock_gettime(CLOCK_REALTIME, &today);
    double early = begin - (double)today.tv_sec - 1e-9 * (double)today.tv_nsec;
    if (early > 0) rest((long)(1e3 * early));
    if (rank == 0) printf("start %.6f\n", now());
    for (int phase = 0; phase < phases; phase++) {
        rest(compute);
        meet();
        double start = now();
        for (int i = 0; i < writes; i++) {
            MPI_Offset at = ((MPI_Offset)(phase * writes + i) * (own ? 1 : size) + (own ? 0 : rank)) * bytes;
            memset(buffer, (phase * 31 + i * 7 + rank) & 0xff, (size_t)bytes);
            int alike = own ? 0 : !strcmp(mode, "all") ? 1 : !strcmp(mode, "nonblocking") ? 2 : 3;
            int kind = mixed ? i % 4 : alike, result;
            if (kind == 0) result = MPI_File_write_at(file, at, buffer, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
            else if (kind == 1)
                result = MPI_File_write_at_all(file, at, buffer, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
            else if (kind == 2) {
                MPI_Request request;
                result = MPI_File_iwrite_at(file, at, buffer, bytes, MPI_BYTE, &request);
                MPI_Wait(&request, MPI_STATUS_IGNORE);
            } else {
                result = MPI_File_write_at_all_begin(file, at, buffer, bytes, MPI_BYTE);
                MPI_File_write_at_all_end(file, buffer, MPI_STATUS_IGNORE);
            }
            wrong += result != MPI_SUCCESS;
            if (pause) rest(pause);
        }
        meet();
        if (rank == 0) {
            printf("phase %.6f %.6f\n", start, now());
            fflush(stdout);
        }
    }
    for (int i = 0; i < phases * writes; i++) {
        MPI_Offset at = ((MPI_Offset)i * (own ? 1 : size) + (own ? 0 : rank)) * bytes;
        memset(buffer, (i / writes * 31 + i % writes * 7 + rank) & 0xff, (size_t)bytes);
        wrong += MPI_File_read_at(file, at, back, bytes, MPI_BYTE, MPI_STATUS_IGNORE) != MPI_SUCCESS;
        wrong += memcmp(buffer, back, (size_t)bytes) != 0;
    }
    MPI_File_close(&file);
    int all = 0;
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) puts(all ? "wrong" : "right");
    free(buffer);
    free(back);
    MPI_Finalize();
    return all != 0;
}
