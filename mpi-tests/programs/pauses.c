/* What begins before a pause of the profiling and ends in it, and the other way round.
 *   async   10 nonblocking requests, each issued before a pause and completed in it
 *   split   one split collective across the beginning of a pause, half a second later one across its end
 *   flush   10 requests, a pause, MPI_Pcontrol(2), then DIRECTORY/ready, and a wait until that is gone
 * usage: pauses DIRECTORY async|split|flush */
#include "write_some.h"

int main(int argc, char **argv) {
    static char data[WRITE_SIZE];
    MPI_Request request;
    MPI_Init(&argc, &argv);
    if (argc != 3)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_File file = open_own_file(argv[1]);
    if (!strcmp(argv[2], "async"))
        for (int i = 0; i < 10; i++) {
            MPI_File_iwrite_at(file, 0, data, WRITE_SIZE, MPI_BYTE, &request);
            MPI_Pcontrol(0);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            MPI_Pcontrol(1);
        }
    if (!strcmp(argv[2], "split")) {
        MPI_File_write_at_all_begin(file, 0, data, WRITE_SIZE, MPI_BYTE);
        MPI_Pcontrol(0);
        MPI_File_write_at_all_end(file, data, MPI_STATUS_IGNORE);
        usleep(500000);
        MPI_File_write_at_all_begin(file, 0, data, WRITE_SIZE, MPI_BYTE);
        MPI_Pcontrol(1);
        MPI_File_write_at_all_end(file, data, MPI_STATUS_IGNORE);
    }
    if (!strcmp(argv[2], "flush")) {
        char ready[4096];
        snprintf(ready, sizeof ready, "%s/ready", argv[1]);
        write_requests(file, 0, 10);
        MPI_Pcontrol(0);
        MPI_Pcontrol(2);
        fclose(fopen(ready, "w"));
        while (access(ready, F_OK) == 0)
            usleep(10000);
        write_requests(file, 0, 5);
    }
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
