/* A signal handler ends the job, as those for time limits do, while the program writes: by exit or MPI_Abort.
 * usage: ends_in_signal_handler DIRECTORY exit|abort MICROSECONDS */
#include "write_some.h"
#include <signal.h>
#include <sys/time.h>

static const char *how;

static void end(int signal) {
    (void)signal;
    if (!strcmp(how, "exit"))
        exit(3);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

int main(int argc, char **argv) {
    char data[8] = {0};
    MPI_Init(&argc, &argv);
    if (argc != 4)
        MPI_Abort(MPI_COMM_WORLD, 2);
    how = argv[2];
    MPI_File file = open_own_file(argv[1]);
    struct itimerval after = {{0, 0}, {0, atoi(argv[3])}};
    signal(SIGALRM, end);
    setitimer(ITIMER_REAL, &after, NULL);
    for (long i = 0;; i++)
        MPI_File_write_at(file, i * 7919 % 100000, data, sizeof data, MPI_BYTE, MPI_STATUS_IGNORE);
}
