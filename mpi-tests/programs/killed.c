/* One rank, or all of them, gets SIGNAL (9, SIGKILL, unless given) after every rank has done COUNT requests,
 * the file still open; `nobody` gets one, and all wait to be ended from outside, after DIRECTORY/ready was
 * written.
 * usage: killed DIRECTORY COUNT all|nobody|RANK [SIGNAL] */
#include "write_some.h"
#include <signal.h>

static void say_ready(const char *directory) {
    char name[4096];
    snprintf(name, sizeof name, "%s/ready", directory);
    FILE *file = fopen(name, "w");
    if (!file || fclose(file))
        MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    if (argc < 4 || argc > 5)
        MPI_Abort(MPI_COMM_WORLD, 2);
    int signal_number = argc == 5 ? atoi(argv[4]) : SIGKILL;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_File file = open_own_file(argv[1]);
    write_requests(file, 0, atoi(argv[2]));
    MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(argv[3], "nobody")) {
        if (!rank)
            say_ready(argv[1]);
    } else if (!strcmp(argv[3], "all") || atoi(argv[3]) == rank) {
        raise(signal_number);
    }
    /* A handled signal ends pause(), and must not end this. */
    for (;;)
        pause();
}
