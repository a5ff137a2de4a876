/* Four user-level threads on stacks of their own, each with 100 requests. yielding_tool stands for an MPI
 * that switches between them inside a blocking call, as one built with Argobots does.
 * usage: switches_stacks DIRECTORY */
#define _GNU_SOURCE
#include "write_some.h"
#include <sys/mman.h>
#include <ucontext.h>

enum { THREADS = 4, SIZE = 1 << 18 };
static ucontext_t scheduler, threads[THREADS];
static int current, done[THREADS];
static MPI_File file;

void switch_stacks(void) { swapcontext(&threads[current], &scheduler); }

static void body(void) {
    write_requests(file, 0, 100);
    done[current] = 1;
    swapcontext(&threads[current], &scheduler);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    if (argc != 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    file = open_own_file(argv[1]);
    char *stacks = mmap(NULL, THREADS * SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < THREADS; i++) {
        getcontext(&threads[i]);
        /* Each below the one before, as if it were deeper on one stack. */
        threads[i].uc_stack.ss_sp = stacks + (THREADS - 1 - i) * SIZE;
        threads[i].uc_stack.ss_size = SIZE;
        makecontext(&threads[i], body, 0);
    }
    for (int left = THREADS; left;) {
        left = 0;
        for (current = 0; current < THREADS; current++)
            if (!done[current]) {
                left++;
                swapcontext(&scheduler, &threads[current]);
            }
    }
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
