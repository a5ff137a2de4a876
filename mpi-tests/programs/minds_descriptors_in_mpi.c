/* As minds_descriptors with `closed` and `threads`, while it writes by MPI-IO: 0 to 2 are closed after
 * MPI_Init and used nevertheless, and the lowest free number is always the same. One rank.
 * usage: minds_descriptors_in_mpi DIRECTORY */
#define _GNU_SOURCE
#include "write_some.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>

static volatile int stop;
static volatile long wrong;
static int lowest;

static void *looks(void *unused) {
    while (!stop) {
        for (int number = 0; number < 3; number++)
            wrong += write(number, "GARBAGE\n", 8) != -1 || errno != EBADF;
        int number = fcntl(lowest - 1, F_DUPFD, 3);
        wrong += number != lowest;
        close(number);
    }
    return unused;
}

int main(int argc, char **argv) {
    pthread_t thread;
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (argc != 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    int tell = fcntl(1, F_DUPFD, 200);
    MPI_File file = open_own_file(argv[1]);
    write_requests(file, 0, 1);
    for (int number = 0; number < 3; number++)
        close(number);
    /* A number of this thread's, and the next one. */
    int own = fcntl(tell, F_DUPFD, 3);
    lowest = fcntl(own, F_DUPFD, 3);
    close(lowest);
    wrong = lowest != own + 1;
    pthread_create(&thread, NULL, looks, NULL);
    for (int i = 1; i < 40; i++)
        write_requests(file, 1, 1000);
    stop = 1;
    pthread_join(thread, NULL);
    MPI_File_close(&file);
    MPI_Finalize();
    dprintf(tell, "%s\n", wrong ? "some wrong" : "none wrong");
    return wrong != 0;
}
