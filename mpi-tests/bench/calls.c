/*
 * What MPI-IO calls cost, as one JSON line. Calls are timed in short batches, because a batch that nothing
 * else has interrupted is rare on a busy machine: the shortest and the median batch by the clock, and CPU
 * time for the mean, in which everything counts that is done now and then.
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

enum { BATCHES = 20, CALLS_OF_A_SHORT_BATCH = 100 };

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

__attribute__((noinline)) static void write_batch(MPI_File file, long calls)
{
    static char data[8];
    for (long i = 0; i < calls; i++)
        MPI_File_write_at(file, (i % 1000) * 8, data, 8, MPI_BYTE, MPI_STATUS_IGNORE);
}

__attribute__((noinline)) static void iwrite_batch(MPI_File file, long calls)
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

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    double first_of_all = 0;
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

    int is_short = strcmp(what, "write_at") == 0 || strcmp(what, "iwrite_at") == 0;
    long batches = is_short ? calls / CALLS_OF_A_SHORT_BATCH : BATCHES;
    long per_batch = is_short ? CALLS_OF_A_SHORT_BATCH : calls / BATCHES > 0 ? calls / BATCHES : 1;
    double *each = malloc((batches + 1) * sizeof *each), sum = 0;
    for (long batch = -1; batch < batches; batch++) {
        double n = (double)per_batch, began = is_short ? 0 : cpu(), start = wall(), spent;
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
            spent = is_short ? wall() - start : cpu() - began;
        }
        if (batch < 0) { /* the first one warms up */
            first_of_all = cpu();
            continue;
        }
        each[batch] = spent / n;
        sum += spent / n;
    }
    double mean = is_short ? (cpu() - first_of_all) / (double)(batches * per_batch) : sum / (double)batches;
    qsort(each, batches, sizeof *each, ascending);
    MPI_File_close(&file);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = wall();
    MPI_Finalize();
    printf("{\"what\": \"%s\", \"rank\": %d, \"best_ns\": %.2f, \"median_ns\": %.2f, \"mean_ns\": %.2f, "
           "\"finalize_s\": %.4f, \"rss_kb\": %ld}\n",
           what, rank, each[0] * 1e9, each[batches / 2] * 1e9, mean * 1e9, wall() - begin, usage.ru_maxrss);
    return 0;
}
