/* 
 * What MPI-IO calls cost: CPU time per call, best and mean of several batches, as one JSON line.
 *
 *   calls write_at N          N blocking writes of 8 bytes
 *   calls iwrite_at N         N nonblocking writes of 0 bytes, each waited for at once
 *   calls outstanding N M     M waits, in reverse order, while N nonblocking writes are outstanding
 *   calls p2p N               N times MPI_Waitall on 1000 point-to-point requests to self
 *   calls random N            N writes of random sizes at random offsets, about a millisecond apart
 *   calls many N              N writes and then MPI_Finalize: its wall-clock time and the memory
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { BATCHES = 20 };

static double cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static double wall(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void write_batch(MPI_File file, long calls)
{
    static char data[8];
    for (long i = 0; i < calls; i++)
        MPI_File_write_at(file, (i % 1000) * 8, data, 8, MPI_BYTE, MPI_STATUS_IGNORE);
}

static void iwrite_batch(MPI_File file, long calls)
{
    static char data[8];
    for (long i = 0; i < calls; i++) {
        MPI_Request request;
        MPI_File_iwrite_at(file, 0, data, 0, MPI_BYTE, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void random_batch(MPI_File file, long calls)
{
    static char data[65536];
    static unsigned long long state = 88172645463325252ULL;
    for (long i = 0; i < calls; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        MPI_File_write_at(file, (MPI_Offset)(state % (1u << 28)), data, (int)(state >> 40) % 65536,
                          MPI_BYTE, MPI_STATUS_IGNORE);
        usleep(900 + (unsigned)(state % 200));
    }
}

static void p2p_batch(long calls)
{
    enum { REQUESTS = 1000 };
    static int in[REQUESTS / 2], out[REQUESTS / 2];
    MPI_Request requests[REQUESTS];
    for (long n = 0; n < calls; n++) {
        for (int i = 0; i < REQUESTS / 2; i++) {
            MPI_Irecv(&in[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[2 * i]);
            MPI_Isend(&out[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[2 * i + 1]);
        }
        MPI_Waitall(REQUESTS, requests, MPI_STATUSES_IGNORE);
    }
}

/* Only the waits are timed. */
static double outstanding_batch(MPI_File file, long outstanding, long waits)
{
    static char data[8];
    MPI_Request *requests = malloc(outstanding * sizeof *requests);
    for (long i = 0; i < outstanding; i++)
        MPI_File_iwrite_at(file, i * 8, data, 8, MPI_BYTE, &requests[i]);
    usleep(200000);
    double start = cpu();
    for (long i = 0; i < waits; i++)
        MPI_Wait(&requests[outstanding - 1 - i], MPI_STATUS_IGNORE);
    double spent = cpu() - start;
    MPI_Waitall((int)(outstanding - waits), requests, MPI_STATUSES_IGNORE);
    free(requests);
    return spent;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "write_at";
    long calls = argc > 2 ? atol(argv[2]) : 100000;
    long waits = argc > 3 ? atol(argv[3]) : 10;
    int rank;
    char name[128];
    MPI_File file;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(name, sizeof name, "/dev/shm/tmio-bench.%ld.%d", (long)getpid(), rank);
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);

    double best = 1e99, sum = 0;
    long per_batch = calls / BATCHES > 0 ? calls / BATCHES : 1;
    double counted = 0;
    for (int batch = -1; batch < BATCHES; batch++) {
        double start = cpu(), spent;
        double n = (double)per_batch;
        if (strcmp(what, "outstanding") == 0) {
            spent = outstanding_batch(file, calls, waits);
            n = (double)waits;
        } else {
            if (strcmp(what, "iwrite_at") == 0)
                iwrite_batch(file, per_batch);
            else if (strcmp(what, "random") == 0)
                random_batch(file, per_batch);
            else if (strcmp(what, "p2p") == 0)
                p2p_batch(per_batch);
            else
                write_batch(file, per_batch);
            spent = cpu() - start;
        }
        if (batch < 0)
            continue; /* the first one warms up */
        if (spent / n < best)
            best = spent / n;
        sum += spent;
        counted += n;
    }
    MPI_File_close(&file);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = wall();
    MPI_Finalize();
    printf("{\"what\": \"%s\", \"rank\": %d, \"best_ns\": %.2f, \"mean_ns\": %.2f, \"finalize_s\": %.4f, "
           "\"rss_kb\": %ld}\n",
           what, rank, best * 1e9, sum / counted * 1e9, wall() - begin, usage.ru_maxrss);
    return 0;
}
