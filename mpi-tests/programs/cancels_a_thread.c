/* A helper thread flushes the trace again and again and is cancelled in the end, as helper threads are.
 * usage: cancels_a_thread DIRECTORY */
#include "write_some.h"
#include <pthread.h>
#include <tmio.h>

static void *helper(void *nothing) {
    for (;;) {
        iotrace_summary();
        for (volatile int i = 0; i < 20000; i++)
            ;
        pthread_testcancel();
    }
    return nothing;
}

int main(int argc, char **argv) {
    int provided;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (argc != 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_File file = open_own_file(argv[1]);
    for (int i = 0; i < 10; i++) {
        pthread_create(&thread, NULL, helper, NULL);
        usleep(20000);
        write_requests(file, 0, 1);
        pthread_cancel(thread);
        pthread_join(thread, NULL);
    }
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
