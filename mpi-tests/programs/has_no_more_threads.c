/* Lets its user have no more processes and threads than there are now, and writes 10 requests.
 * usage: has_no_more_threads DIRECTORY */
#define _GNU_SOURCE
#include "write_some.h"
#include <pthread.h>
#include <sys/resource.h>

static void *nothing(void *unused) {
    return unused;
}

int main(int argc, char **argv) {
    pthread_t thread;
    struct rlimit none = {1, 1};
    MPI_Init(&argc, &argv);
    if (argc != 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    if (setrlimit(RLIMIT_NPROC, &none) || !pthread_create(&thread, NULL, nothing, NULL)) {
        fprintf(stderr, "a thread could be started\n");
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    MPI_File file = open_own_file(argv[1]);
    write_requests(file, 0, 10);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
