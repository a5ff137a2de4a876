// Does I/O in ways that taking turns has to survive.
// asks_oddly DIRECTORY MODE
// order: collective calls on two files, nonblocking in another order on each rank, blocking after I/O of
//        their own; threads: four of each rank write at the same time; fork: a rank forks while it writes;
// abort: rank 1 aborts the job while it writes; leave: rank 1 ends without MPI_Finalize while it writes.
// Rank 0 prints "right" if every write was read back.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BYTES = 16384, ROUNDS = 40, THREADS = 4 };
static int rank, wrong;
static const char *directory;

static void rest(long ms) {
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

static MPI_File open_file(MPI_Comm who, const char *name, int number) {
    char path[4096];
    MPI_File file;
    snprintf(path, sizeof path, "%s/%s-%d", directory, name, number);
    int mode = MPI_MODE_CREATE | MPI_MODE_RDWR;
    if (MPI_File_open(who, path, mode, MPI_INFO_NULL, &file) != MPI_SUCCESS) exit(3);
    return file;
}

static void check(MPI_File file, MPI_Offset at, char value) {
    char back[BYTES];
    wrong += MPI_File_read_at(file, at, back, BYTES, MPI_BYTE, MPI_STATUS_IGNORE) != MPI_SUCCESS;
    for (int i = 0; i < BYTES; i++) wrong += back[i] != value;
}

static void in_any_order(void) {
    MPI_File files[2] = {open_file(MPI_COMM_WORLD, "order", 0), open_file(MPI_COMM_WORLD, "order", 1)};
    MPI_File own = open_file(MPI_COMM_SELF, "own", rank);
    char buffer[BYTES];
    memset(buffer, 'a' + rank, BYTES);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Offset at = (MPI_Offset)(2 * round + rank) * BYTES;
        MPI_Request requests[2];
        MPI_Status statuses[2];
        for (int i = 0; i < 2; i++) {
            int which = rank ? 1 - i : i;
            MPI_File_iwrite_at_all(files[which], at, buffer, BYTES, MPI_BYTE, &requests[i]);
        }
        MPI_Waitall(2, requests, statuses);
        // Rank 1 has something else to write before it comes to the collective call.
        if (rank) MPI_File_write_at(own, at, buffer, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_File_write_at_all(files[round % 2], at, buffer, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
        rest(rank ? 3 : 2);
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < 2; i++)
            check(files[i], (MPI_Offset)(2 * round + rank) * BYTES, (char)('a' + rank));
    for (int i = 0; i < 2; i++) MPI_File_close(&files[i]);
    MPI_File_close(&own);
}

static void *one_thread(void *number) {
    MPI_File file = *(MPI_File *)number;
    char buffer[BYTES];
    memset(buffer, 'x', BYTES);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_File_write_at(file, (MPI_Offset)round * BYTES, buffer, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
        rest(round % 10 ? 1 : 30);
    }
    return NULL;
}

static void in_threads(void) {
    pthread_t threads[THREADS];
    MPI_File files[THREADS];
    for (int i = 0; i < THREADS; i++) files[i] = open_file(MPI_COMM_SELF, "thread", rank * THREADS + i);
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, one_thread, &files[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        for (int round = 0; round < ROUNDS; round++) check(files[i], (MPI_Offset)round * BYTES, 'x');
        MPI_File_close(&files[i]);
    }
}

static void while_it_writes(const char *mode) {
    MPI_File file = open_file(MPI_COMM_SELF, "own", rank);
    char buffer[BYTES];
    memset(buffer, 'y', BYTES);
    for (int round = 0; round < 10 * ROUNDS; round++) {
        MPI_File_write_at(file, (MPI_Offset)(round % ROUNDS) * BYTES, buffer, BYTES, MPI_BYTE,
                          MPI_STATUS_IGNORE);
        rest(2);
        if (rank == 1 && round == ROUNDS && !strcmp(mode, "abort")) MPI_Abort(MPI_COMM_WORLD, 7);
        if (rank == 1 && round == ROUNDS && !strcmp(mode, "leave")) _exit(7);
        if (rank == 0 && round % ROUNDS == 5 && !strcmp(mode, "fork")) {
            pid_t child = fork();
            if (child == 0) exit(0);
            waitpid(child, NULL, 0);
        }
    }
    for (int round = 0; round < ROUNDS; round++) check(file, (MPI_Offset)round * BYTES, 'y');
    MPI_File_close(&file);
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    directory = argv[1];
    int threads = !strcmp(argv[2], "threads"), given = 0;
    MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!strcmp(argv[2], "order")) in_any_order();
    else if (!threads) while_it_writes(argv[2]);
    else if (given == MPI_THREAD_MULTIPLE) in_threads();
    int all = 0;
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) puts(all ? "wrong" : "right");
    MPI_Finalize();
    return all != 0;
}
