/* Opens, sets the view of, writes to, syncs and closes a file, ten times.
 * usage: metadata DIRECTORY */
#include "write_some.h"

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    if (argc != 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int i = 0; i < 10; i++) {
        MPI_File file = open_own_file(argv[1]);
        MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
        write_requests(file, 0, 1);
        MPI_File_sync(file);
        MPI_File_close(&file);
    }
    MPI_Finalize();
    return 0;
}
