/* checkpoints FOLDER PHASES COMPUTE_SECONDS FILES BYTES JITTER [SEED]: computes and writes in turn. In each
 * phase a rank writes so many new files of so many bytes, one after the other, and closes them. Computing is
 * sleeping, and so is waiting for others: whoever measures storage does not want to measure the processor.
 * Jobs of different seeds compute for different times, and write files of other names.
 * Rank 0 prints one line of JSON: wall time and the seconds of every phase. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { CHUNK = 128 << 10 };

static double uniform(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}

static void spend(double seconds) {
    struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    while (nanosleep(&t, &t))
        ;
}

static void wait_for_all(void) {
    MPI_Request request;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    for (int done = 0; MPI_Test(&request, &done, MPI_STATUS_IGNORE), !done;)
        usleep(500);
}

static const char *job = "";

static void write_file(const char *folder, int phase, int number, int rank, const char *data, long bytes) {
    char name[4096];
    snprintf(name, sizeof name, "%s/checkpoint.%s%04d.%02d.%d", folder, job, phase, number, rank);
    MPI_File file;
    if (MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file)) {
        fprintf(stderr, "checkpoints: cannot open %s\n", name);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (long at = 0; at < bytes; at += CHUNK) {
        long n = bytes - at < CHUNK ? bytes - at : CHUNK;
        if (MPI_File_write_at(file, at, data, (int)n, MPI_BYTE, MPI_STATUS_IGNORE)) {
            fprintf(stderr, "checkpoints: cannot write %s\n", name);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    MPI_File_close(&file);
}

int main(int argc, char **argv) {
    if (argc != 7 && argc != 8) {
        fprintf(stderr, "usage: checkpoints FOLDER PHASES COMPUTE_SECONDS FILES BYTES JITTER [SEED]\n");
        return 2;
    }
    int phases = atoi(argv[2]), files = atoi(argv[4]), rank;
    double compute = atof(argv[3]), jitter = atof(argv[6]);
    long bytes = atol(argv[5]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char *data = malloc(CHUNK);
    memset(data, 'a' + rank, CHUNK);
    double *took = calloc((size_t)phases, sizeof *took);
    uint64_t random = 1;
    if (argc == 8) {
        static char prefix[64];
        random = strtoull(argv[7], NULL, 10);
        snprintf(prefix, sizeof prefix, "job%llu.", (unsigned long long)random);
        job = prefix;
    }
    wait_for_all();
    double begin = MPI_Wtime();
    for (int i = 0; i < phases; i++) {
        spend(compute * (1 + jitter * (2 * uniform(&random) - 1)));
        wait_for_all();
        double start = MPI_Wtime();
        for (int file = 0; file < files; file++)
            write_file(argv[1], i, file, rank, data, bytes);
        wait_for_all();
        took[i] = MPI_Wtime() - start;
    }
    spend(compute);
    wait_for_all();
    if (rank == 0) {
        printf("{\"wall\": %.6f, \"phases\": [", MPI_Wtime() - begin);
        for (int i = 0; i < phases; i++)
            printf("%s%.6f", i ? ", " : "", took[i]);
        printf("]}\n");
    }
    MPI_Finalize();
    return 0;
}
