/* Nonblocking and blocking writes with a datatype that is none: files return errors by default, and the
 * program goes on.
 * usage: bad_datatype DIRECTORY */
#include "write_some.h"

int main(int argc, char **argv) {
    char data[8] = {0};
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Init(&argc, &argv);
    if (argc != 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_File file = open_own_file(argv[1]);
    int nonblocking = MPI_File_iwrite_at(file, 0, data, 1, MPI_DATATYPE_NULL, &request);
    int blocking = MPI_File_write_at(file, 0, data, 1, MPI_DATATYPE_NULL, MPI_STATUS_IGNORE);
    write_requests(file, 0, 5);
    MPI_File_close(&file);
    MPI_Finalize();
    printf("%s %s\n", nonblocking ? "error" : "success", blocking ? "error" : "success");
    return 0;
}
