/* How much of a thread's stack MPI_File_write_at uses, over 20000 calls; prints it in KiB.
 * usage: small_stack DIRECTORY */
#define _GNU_SOURCE
#include "write_some.h"
#include <pthread.h>
#include <sys/mman.h>

enum { STACK = 1 << 20 };

static const char *directory;

static void *writes(void *unused) {
    MPI_File file = open_own_file(directory);
    for (int i = 0; i < 20; i++)
        write_requests(file, 0, 1000);
    MPI_File_close(&file);
    return unused;
}

int main(int argc, char **argv) {
    int provided;
    pthread_t thread;
    pthread_attr_t attributes;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    if (argc != 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    directory = argv[1];
    unsigned char *stack =
        mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    memset(stack, 0xa5, STACK);
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack, STACK);
    pthread_create(&thread, &attributes, writes, NULL);
    pthread_join(thread, NULL);
    size_t untouched = 0;
    while (untouched < STACK && stack[untouched] == 0xa5)
        untouched++;
    printf("%zu\n", (STACK - untouched) / 1024);
    MPI_Finalize();
    return 0;
}
