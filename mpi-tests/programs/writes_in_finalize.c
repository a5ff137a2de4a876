/* Writes 5 requests as usual and 5 inside MPI_Finalize, from the delete callback of an attribute of
 * MPI_COMM_SELF, as libraries do that flush files left open.
 * usage: writes_in_finalize DIRECTORY */
#include "write_some.h"

static MPI_File file;

static int at_finalize(MPI_Comm comm, int keyval, void *value, void *extra) {
    (void)comm, (void)keyval, (void)value, (void)extra;
    write_requests(file, 5, 5);
    return MPI_File_close(&file);
}

int main(int argc, char **argv) {
    int keyval;
    MPI_Init(&argc, &argv);
    if (argc != 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    file = open_own_file(argv[1]);
    write_requests(file, 0, 5);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_finalize, &keyval, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
    MPI_Finalize();
    return 0;
}
