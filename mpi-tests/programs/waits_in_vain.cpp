/* MPI_Waitall over a receive that fails (its message is too long) and a file request; the communicator's
 * error handler leaves the call by an exception or by longjmp. Ten file requests, each completed then or
 * afterwards.
 * usage: waits_in_vain DIRECTORY throw|jump */
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
extern "C" {
#include "write_some.h"
}
#include <setjmp.h>
#include <stdexcept>

static jmp_buf after_failure;
static bool jumps;

static void leave(MPI_Comm *, int *, ...) {
    if (jumps)
        longjmp(after_failure, 1);
    throw std::runtime_error("a message that is too long");
}

static char large[100], little[10];
static MPI_Request requests[3];
static volatile int left;

static void wait_for_both() {
    MPI_Irecv(little, sizeof little, MPI_BYTE, 0, 1, MPI_COMM_SELF, &requests[0]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv) {
    MPI_Errhandler handler;
    MPI_Init(&argc, &argv);
    if (argc != 3)
        MPI_Abort(MPI_COMM_WORLD, 2);
    jumps = argv[2][0] == 'j';
    static MPI_File file;
    file = open_own_file(argv[1]);
    MPI_Comm_create_errhandler(leave, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    for (volatile int i = 0; i < 10; i = i + 1) {
        for (MPI_Request &request : requests)
            request = MPI_REQUEST_NULL;
        MPI_Isend(large, sizeof large, MPI_BYTE, 0, 1, MPI_COMM_SELF, &requests[2]);
        MPI_File_iwrite_at(file, 0, large, sizeof large, MPI_BYTE, &requests[1]);
        if (jumps) {
            if (setjmp(after_failure) == 0)
                wait_for_both();
            else
                left = left + 1;
        } else {
            try {
                wait_for_both();
            } catch (const std::exception &) {
                left = left + 1;
            }
        }
        for (MPI_Request &request : requests)
            if (&request != &requests[0] && request != MPI_REQUEST_NULL)
                MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_File_close(&file);
    MPI_Finalize();
    printf("left %d\n", (int)left);
    return 0;
}
