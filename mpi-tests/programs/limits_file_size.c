/* Sets RLIMIT_FSIZE to 16 KiB and then does 20000 requests that stay below it. A tracer that writes more than
 * that to a file would have the program ended by SIGXFSZ.
 * usage: limits_file_size DIRECTORY */
#include "write_some.h"
#include <sys/resource.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    if (argc != 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_File file = open_own_file(argv[1]);
    struct rlimit limit = {16 << 10, 16 << 10};
    if (setrlimit(RLIMIT_FSIZE, &limit))
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < 20000; i++)
        write_requests(file, i % 10, 1);
    MPI_File_close(&file);
    MPI_Finalize();
    puts("done");
    return 0;
}
