/* An MPI program that forks between two bursts of I/O. Only the parent's I/O is the job's; the child must end
 * as it would without a tracer: by exit, by _exit, or by becoming another program.
 * usage: forks DIRECTORY exit|_exit|exec; 5 requests per rank before the fork and 5 after it */
#include "write_some.h"
#include <sys/wait.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    if (argc != 3)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_File file = open_own_file(argv[1]);
    write_requests(file, 0, 5);

    pid_t child = fork();
    if (child == 0) {
        if (!strcmp(argv[2], "exit"))
            exit(5);
        if (!strcmp(argv[2], "_exit"))
            _exit(5);
        execl("/bin/sh", "sh", "-c", "exit 5", (char *)NULL);
        _exit(1);
    }
    int status = 0;
    int good =
        child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 5;

    write_requests(file, 5, 5);
    MPI_File_close(&file);
    MPI_Finalize();
    return good ? 0 : 1;
}
