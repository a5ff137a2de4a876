/* Writes COUNT requests of 64 bytes, then waits until the file GO is there (at most a minute), writes COUNT
 * more and ends well. With `threads` every request is made by a thread of its own; with `descriptors` the
 * first half is written while the process has no descriptor left; with `until` it goes on writing while it
 * waits.
 * usage: waits_between DIRECTORY COUNT GO [threads|descriptors|until] */
#include "write_some.h"
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>

static MPI_File file;

static void *write_one(void *unused) {
    static char data[64];
    (void)unused;
    if (MPI_File_write_at(file, 0, data, sizeof data, MPI_BYTE, MPI_STATUS_IGNORE))
        MPI_Abort(MPI_COMM_WORLD, 1);
    return NULL;
}

static void write_many(int count, int in_threads) {
    for (int i = 0; i < count; i++) {
        pthread_t thread;
        if (!in_threads)
            write_one(NULL);
        else if (pthread_create(&thread, NULL, write_one, NULL) || pthread_join(thread, NULL))
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

int main(int argc, char **argv) {
    int provided, rank, taken[4096], used = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (argc < 4)
        MPI_Abort(MPI_COMM_WORLD, 2);
    int in_threads = argc > 4 && !strcmp(argv[4], "threads");
    int until = argc > 4 && !strcmp(argv[4], "until");
    int no_descriptors = argc > 4 && !strcmp(argv[4], "descriptors");
    int count = atoi(argv[2]);
    struct stat about;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    file = open_own_file(argv[1]);
    if (no_descriptors) {
        struct rlimit limit = {256, 256};
        write_one(NULL);
        setrlimit(RLIMIT_NOFILE, &limit);
        while (used < 4096 && (taken[used] = open("/dev/null", O_RDONLY)) >= 0)
            used++;
    }
    write_many(count - no_descriptors, in_threads);
    while (used > 0)
        close(taken[--used]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!rank)
        fprintf(stderr, "%s", argv[3][0] == '-' ? "" : "half-way\n");
    for (int i = 0; i < 6000 && argv[3][0] != '-' && stat(argv[3], &about); i++) {
        if (until)
            write_many(count, 0);
        usleep(10000);
    }
    write_many(count, in_threads);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
