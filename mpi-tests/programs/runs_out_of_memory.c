/* Takes all the memory that its limit leaves, handles malloc returning NULL, and goes on: 20 requests, then
 * 20000 more (or a flush). A little of malloc's memory is given back first, because MPI itself needs some.
 * usage: runs_out_of_memory DIRECTORY writes|flush */
#include "write_some.h"
#include <sys/resource.h>
#include <tmio.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    if (argc != 3)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_File file = open_own_file(argv[1]);
    write_requests(file, 0, 20);
    void *spare[64];
    for (int i = 0; i < 64; i++)
        spare[i] = malloc(4000);
    struct rlimit none = {1, 1};
    setrlimit(RLIMIT_AS, &none);
    for (size_t size = 1 << 20; size >= 16; size /= 2)
        while (malloc(size))
            ;
    for (int i = 0; i < 64; i++)
        free(spare[i]);
    if (!strcmp(argv[2], "flush"))
        iotrace_summary();
    else
        for (int i = 0; i < 1000; i++)
            write_requests(file, 0, 20);
    static const char done[] = "went on\n";
    if (write(1, done, sizeof done - 1) < 0)
        return 1;
    _exit(0);
}
