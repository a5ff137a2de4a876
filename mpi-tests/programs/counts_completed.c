/* Every rank writes without end and counts, in a file that outlives it, the writes that have completed.
 * usage: counts_completed DATA_DIRECTORY COUNTS_DIRECTORY [WRITES [MICROSECONDS]]
 * With WRITES it ends after as many, with a pause of MICROSECONDS after each. */
#include "write_some.h"
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>

int main(int argc, char **argv) {
    int rank;
    char name[4096];
    MPI_Init(&argc, &argv);
    if (argc < 3 || argc > 5)
        MPI_Abort(MPI_COMM_WORLD, 2);
    long writes = argc > 3 ? atol(argv[3]) : 0;
    long pause = argc > 4 ? atol(argv[4]) : 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(name, sizeof name, "%s/%d", argv[2], rank);
    int descriptor = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (descriptor < 0 || ftruncate(descriptor, sizeof(long)))
        MPI_Abort(MPI_COMM_WORLD, 3);
    atomic_long *count = mmap(NULL, sizeof(long), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (count == MAP_FAILED)
        MPI_Abort(MPI_COMM_WORLD, 4);
    MPI_File file = open_own_file(argv[1]);
    for (long number = 0; !writes || number < writes; number++) {
        write_requests(file, (int)(number % 1000), 1);
        atomic_fetch_add(count, 1);
        if (pause)
            usleep(pause);
    }
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
