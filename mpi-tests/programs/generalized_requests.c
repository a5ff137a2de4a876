/* Generalized requests among file requests. Their functions, which MPI calls inside MPI_Waitall and
 * MPI_Test, write to a file themselves: 5 rounds of 2 nonblocking writes and one in a callback.
 * usage: generalized_requests DIRECTORY */
#include "write_some.h"

static MPI_File file;

static int query(void *unused, MPI_Status *status) {
    char data[10] = {0};
    (void)unused;
    if (MPI_File_write_at(file, 5000, data, sizeof data, MPI_BYTE, MPI_STATUS_IGNORE))
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Status_set_elements(status, MPI_BYTE, 77);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int release(void *unused) {
    (void)unused;
    return MPI_SUCCESS;
}

static int cancel(void *unused, int complete) {
    (void)unused, (void)complete;
    return MPI_SUCCESS;
}

int main(int argc, char **argv) {
    static char data[2][1000];
    MPI_Init(&argc, &argv);
    if (argc != 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    file = open_own_file(argv[1]);
    for (int round = 0; round < 5; round++) {
        MPI_Request requests[3];
        MPI_Status statuses[3];
        int count;
        MPI_File_iwrite_at(file, 0, data[0], 1000, MPI_BYTE, &requests[0]);
        MPI_Grequest_start(query, release, cancel, NULL, &requests[1]);
        MPI_File_iwrite_at(file, 1000, data[1], 1000, MPI_BYTE, &requests[2]);
        MPI_Grequest_complete(requests[1]);
        if (round % 2) {
            int done = 0;
            while (!done)
                MPI_Test(&requests[1], &done, &statuses[1]);
            MPI_Wait(&requests[0], &statuses[0]);
            MPI_Wait(&requests[2], &statuses[2]);
        } else {
            MPI_Waitall(3, requests, statuses);
        }
        for (int i = 0; i < 3; i++) {
            MPI_Get_count(&statuses[i], MPI_BYTE, &count);
            if (count != (i == 1 ? 77 : 1000))
                MPI_Abort(MPI_COMM_WORLD, 3);
        }
    }
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
