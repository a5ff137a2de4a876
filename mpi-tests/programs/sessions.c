/* MPI-IO without MPI_Init: each process opens a session, makes a communicator of itself, and does 10
 * requests.
 * usage: sessions DIRECTORY; ends with 3 where this MPI has no sessions */
#include "write_some.h"

int main(int argc, char **argv) {
#if MPI_VERSION >= 4 || defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5
    char name[4096], data[WRITE_SIZE] = {0};
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_File file;
    if (argc != 2)
        return 2;
    if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session) ||
        MPI_Group_from_session_pset(session, "mpi://SELF", &group) ||
        MPI_Comm_create_from_group(group, "tmio.test", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm))
        return 1;
    snprintf(name, sizeof name, "%s/session_%ld.dat", argv[1], (long)getpid());
    if (MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file))
        return 1;
    for (int i = 0; i < 10; i++)
        if (MPI_File_write_at(file, (MPI_Offset)i * WRITE_SIZE, data, WRITE_SIZE, MPI_BYTE,
                              MPI_STATUS_IGNORE))
            return 1;
    MPI_File_close(&file);
    MPI_Group_free(&group);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    return 0;
#else
    (void)argc, (void)argv;
    return 3;
#endif
}
