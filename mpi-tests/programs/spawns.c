/* Starts one more process of itself with MPI_Comm_spawn; parents do 10 requests each, the child 3. They are
 * two jobs with two traces.
 * usage: spawns DIRECTORY */
#include "write_some.h"

int main(int argc, char **argv) {
    MPI_Comm parent, child;
    MPI_Init(&argc, &argv);
    if (argc != 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Comm_get_parent(&parent);
    MPI_File file = open_own_file(argv[1]);
    if (parent == MPI_COMM_NULL) {
        MPI_Comm_spawn(argv[0], argv + 1, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &child, MPI_ERRCODES_IGNORE);
        write_requests(file, 0, 10);
        MPI_Comm_disconnect(&child);
    } else {
        write_requests(file, 0, 3);
        MPI_Comm_disconnect(&parent);
    }
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
