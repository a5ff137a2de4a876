/* MPI-IO beside POSIX, C streams, a thread, and files that MPI makes for itself. Rank 0 prints what all ranks
 * have done by each of them.
 * usage: mixed_io DIRECTORY [SECONDS] */
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PHASES = 10, BLOCK = 256 << 10, SMALL = 1000, OF_THREAD = 200000 };

static char block[BLOCK];
static char path[4096];

static const char *in(const char *directory, const char *name, int rank) {
    snprintf(path, sizeof path, "%s/%s.%d", directory, name, rank);
    return path;
}

static void must(int worked, const char *what) {
    if (!worked) {
        perror(what);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void *write_in_thread(void *name) {
    int file = open(name, O_CREAT | O_WRONLY, 0600);
    must(file >= 0 && write(file, block, OF_THREAD) == OF_THREAD && close(file) == 0, "thread");
    return NULL;
}

int main(int argc, char **argv) {
    const char *directory = argc > 1 ? argv[1] : ".";
    double seconds = argc > 2 ? atof(argv[2]) : 0;
    long long sums[3] = {0, 0, 0}, all[3]; /* MPI-IO, POSIX, C streams */
    int rank, ranks, provided;
    char thread_name[4096];
    memset(block, 'x', sizeof block);
    /* Open before MPI_Init, and used after it. */
    int early = open(in(directory, "early", (int)getpid()), O_CREAT | O_WRONLY, 0600);
    must(early >= 0, "early");
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    must(write(early, block, SMALL) == SMALL, "early");
    sums[1] += SMALL;

    MPI_Comm node;
    MPI_Win window;
    void *memory;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Win_allocate_shared(1 << 20, 1, MPI_INFO_NULL, node, &memory, &window);
    memset(memory, 1, 1 << 20);
    MPI_Win_free(&window);
    MPI_Comm_free(&node);

    MPI_File data, shared;
    const int how = MPI_MODE_CREATE | MPI_MODE_WRONLY;
    char name[4096];
    snprintf(name, sizeof name, "%s/data", directory);
    must(MPI_File_open(MPI_COMM_WORLD, name, how, MPI_INFO_NULL, &data) == 0, name);
    snprintf(name, sizeof name, "%s/shared", directory);
    must(MPI_File_open(MPI_COMM_WORLD, name, how, MPI_INFO_NULL, &shared) == 0, name);
    FILE *log = fopen(in(directory, "log", rank), "w");
    must(log != NULL, "log");
    pthread_t thread;
    strcpy(thread_name, in(directory, "thread", rank));
    pthread_create(&thread, NULL, write_in_thread, thread_name);
    for (int phase = 0; phase < PHASES; phase++) {
        MPI_Offset at = ((MPI_Offset)phase * ranks + rank) * BLOCK;
        MPI_Request request;
        MPI_File_write_at_all(data, at, block, BLOCK / 2, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_File_iwrite_at(data, at + BLOCK / 2, block, BLOCK / 2, MPI_BYTE, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_File_write_shared(shared, block, SMALL, MPI_BYTE, MPI_STATUS_IGNORE);
        sums[0] += BLOCK + SMALL;
        sums[2] += fprintf(log, "phase %d of rank %d\n", phase, rank);
        if (phase % 4 == 3)
            fflush(log);
        usleep((useconds_t)(1e6 * seconds));
    }
    pthread_join(thread, NULL);
    sums[1] += OF_THREAD;
    MPI_File_close(&data);
    MPI_File_close(&shared);
    must(fclose(log) == 0, "log");
    /* Whatever number MPI has used may be the program's own now. */
    for (int i = 0; i < 20; i++) {
        int file = open(in(directory, "late", rank), O_CREAT | O_WRONLY | O_APPEND, 0600);
        must(file >= 0 && write(file, block, SMALL) == SMALL && close(file) == 0, "late");
        sums[1] += SMALL;
    }
    MPI_Reduce(sums, all, 3, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("{\"mpiio\": %lld, \"posix\": %lld, \"stdio\": %lld}\n", all[0], all[1], all[2]);
    MPI_Finalize();
    return 0;
}
