/* Ten requests. Then duplicates MPI_COMM_SELF until MPI has no more communicators to give, keeps them, and
 * prints how many there were. From then on an error is fatal again.
 * usage: takes_all_communicators DIRECTORY */
#include "write_some.h"

int main(int argc, char **argv) {
    MPI_Comm comm;
    int made = 0;
    MPI_Init(&argc, &argv);
    MPI_File file = open_own_file(argv[1]);
    write_requests(file, 0, 10);
    MPI_File_close(&file);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    while (made < 100000 && MPI_Comm_dup(MPI_COMM_SELF, &comm) == MPI_SUCCESS)
        made++;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    printf("%d communicators\n", made);
    MPI_Finalize();
    return 0;
}
