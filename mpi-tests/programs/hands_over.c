/* Threads hand each other files and requests: a file is opened by one thread, 6 requests on it are begun by
 * another, completed one by one with MPI_Waitany by a third, and the file is closed by a fourth; four such
 * chains at once.
 * usage: hands_over DIRECTORY [one-at-a-time]
 * With the last word no two threads are inside MPI at once, for MPIs that do not stand it. */
#include "write_some.h"
#include <pthread.h>

enum { CHAINS = 4, REQUESTS = 6, ROUNDS = 50 };

struct chain {
    MPI_File file;
    MPI_Request requests[REQUESTS];
    char data[REQUESTS][256];
};

static const char *directory;
static int one_at_a_time;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static void enter(void) {
    if (one_at_a_time)
        pthread_mutex_lock(&turn);
}

static void leave(void) {
    if (one_at_a_time)
        pthread_mutex_unlock(&turn);
}

static void *opens(void *chain) {
    enter();
    ((struct chain *)chain)->file = open_own_file(directory);
    leave();
    return NULL;
}

static void *begins(void *given) {
    struct chain *chain = given;
    for (int i = 0; i < REQUESTS; i++) {
        enter();
        if (MPI_File_iwrite_at(chain->file, i * 256, chain->data[i], 200 + i, MPI_BYTE, &chain->requests[i]))
            MPI_Abort(MPI_COMM_WORLD, 1);
        leave();
    }
    return NULL;
}

static void *completes(void *given) {
    struct chain *chain = given;
    for (int i = 0; i < REQUESTS; i++) {
        int index, count;
        MPI_Status status;
        enter();
        if (MPI_Waitany(REQUESTS, chain->requests, &index, &status) || index == MPI_UNDEFINED)
            MPI_Abort(MPI_COMM_WORLD, 1);
        MPI_Get_count(&status, MPI_BYTE, &count);
        leave();
        if (count != 200 + index)
            MPI_Abort(MPI_COMM_WORLD, 3);
    }
    return NULL;
}

static void *closes(void *chain) {
    enter();
    MPI_File_close(&((struct chain *)chain)->file);
    leave();
    return NULL;
}

static void *runs(void *unused) {
    void *(*steps[])(void *) = {opens, begins, completes, closes};
    struct chain chain = {0};
    for (int round = 0; round < ROUNDS; round++)
        for (int step = 0; step < 4; step++) {
            pthread_t thread;
            if (pthread_create(&thread, NULL, steps[step], &chain) || pthread_join(thread, NULL))
                MPI_Abort(MPI_COMM_WORLD, 1);
        }
    return unused;
}

int main(int argc, char **argv) {
    int provided;
    pthread_t threads[CHAINS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (argc < 2 || provided != MPI_THREAD_MULTIPLE)
        MPI_Abort(MPI_COMM_WORLD, 2);
    directory = argv[1];
    one_at_a_time = argc > 2;
    /* MPICH sets up its MPI-IO in the first open. */
    MPI_File file = open_own_file(directory);
    MPI_File_close(&file);
    for (int i = 0; i < CHAINS; i++)
        pthread_create(&threads[i], NULL, runs, NULL);
    for (int i = 0; i < CHAINS; i++)
        pthread_join(threads[i], NULL);
    MPI_Finalize();
    return 0;
}
