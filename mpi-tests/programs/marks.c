/* Sets COUNT marks, "step 0", "step 1", …, around one request.
 * usage: marks DIRECTORY COUNT [kill] */
#include "write_some.h"
#include "tmio.h"
#include <signal.h>

int main(int argc, char **argv) {
    char text[64];
    MPI_Init(&argc, &argv);
    if (argc < 3)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_File file = open_own_file(argv[1]);
    write_requests(file, 0, 1);
    for (int i = 0; i < atoi(argv[2]); i++) {
        snprintf(text, sizeof text, "step %d", i);
        iotrace_mark(text);
    }
    if (argc > 3)
        raise(SIGKILL);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
