/* MPI-IO on a stack of its own, as coroutines do it: the file's error handler gives control back for good,
 * and the stack is freed. Then 10 requests.
 * usage: leaves_a_coroutine DIRECTORY */
#define _GNU_SOURCE
#include "write_some.h"
#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { SIZE = 1 << 20 };
static ucontext_t outside, inside;
static MPI_File file;
static void *stack;

static void leave(MPI_File *failed, int *code, ...) {
    (void)failed, (void)code;
    setcontext(&outside);
}

static void fail(void) {
    char byte;
    MPI_File_read_at(file, 0, &byte, -1, MPI_BYTE, MPI_STATUS_IGNORE);
}

static void *thread(void *nothing) {
    volatile int back = 0;
    getcontext(&outside);
    if (!back) {
        back = 1;
        getcontext(&inside);
        inside.uc_stack.ss_sp = stack;
        inside.uc_stack.ss_size = SIZE;
        inside.uc_link = &outside;
        makecontext(&inside, fail, 0);
        setcontext(&inside);
    }
    munmap(stack, SIZE);
    write_requests(file, 0, 10);
    return nothing;
}

int main(int argc, char **argv) {
    int provided;
    MPI_Errhandler handler;
    pthread_t helper;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    if (argc != 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    file = open_own_file(argv[1]);
    MPI_File_create_errhandler(leave, &handler);
    MPI_File_set_errhandler(file, handler);
    stack = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_create(&helper, NULL, thread, NULL);
    pthread_join(helper, NULL);
    MPI_File_close(&file);
    MPI_Errhandler_free(&handler);
    MPI_Finalize();
    return 0;
}
