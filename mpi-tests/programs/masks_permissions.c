/* Sets a mask with which nothing that is made can be used afterwards, and writes 20000 requests.
 * usage: masks_permissions DIRECTORY */
#include "write_some.h"
#include <sys/stat.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    if (argc != 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_File file = open_own_file(argv[1]);
    umask(0777);
    for (int i = 0; i < 20; i++)
        write_requests(file, 0, 1000);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
