/* Forks without exec around MPI: the child has to end as it does alone, and to write what it is asked to.
 *   before   fork, then MPI in the parent; the child writes without MPI
 *   child    fork, then MPI in the child, while the parent only waits
 *   after    fork between MPI_Init and MPI_Finalize; the child writes, and leaves by exit
 *   chain    the same with a grandchild, which outlives its parent
 *   ended    fork after MPI_Finalize
 * Whoever has MPI writes "mpi" by MPI-IO, all others "posix.N" by POSIX and "stream.N" by C streams.
 * usage: forks_around_mpi DIRECTORY before|child|after|chain|ended */
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PIECE = 64 << 10, PIECES = 40 };

static char piece[PIECE];
static char path[4096];
static const char *directory;

static const char *in(const char *name, int number)
{
    snprintf(path, sizeof path, "%s/%s.%d", directory, name, number);
    return path;
}

static void by_posix(int number)
{
    int file = open(in("posix", number), O_CREAT | O_TRUNC | O_WRONLY, 0600);
    for (int i = 0; i < PIECES; i++)
        if (write(file, piece, PIECE) != PIECE)
            _exit(9);
    close(file);
    FILE *stream = fopen(in("stream", number), "w");
    for (int i = 0; i < PIECES; i++)
        if (fwrite(piece, 1, PIECE, stream) != PIECE)
            _exit(9);
    fclose(stream);
}

static void by_mpi(void)
{
    MPI_File file;
    snprintf(path, sizeof path, "%s/mpi", directory);
    if (MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file))
        MPI_Abort(MPI_COMM_WORLD, 3);
    for (int i = 0; i < PIECES; i++)
        MPI_File_write(file, piece, PIECE, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

static int ended_well(pid_t child)
{
    int status = 0;
    pid_t seen;
    while ((seen = waitpid(child, &status, 0)) < 0 && errno == EINTR)
        ;
    printf("child %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
    return seen == child && WIFEXITED(status) && WEXITSTATUS(status) == 5;
}

static int is(const char *word, const char *other)
{
    return strcmp(word, other) == 0;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    directory = argv[1];
    const char *way = argv[2];
    pid_t child = 1;
    if (is(way, "before") || is(way, "child")) {
        child = fork();
        if (child == 0 && is(way, "before")) {
            by_posix(1);
            exit(5);
        }
        if (child != 0 && is(way, "child"))
            return ended_well(child) ? 0 : 1;
    }
    MPI_Init(&argc, &argv);
    by_mpi();
    if (is(way, "after") || is(way, "chain")) {
        child = fork();
        if (child == 0 && is(way, "chain")) {
            int up[2];
            if (pipe(up) != 0)
                _exit(9);
            if (fork() == 0) {
                char byte;
                close(up[1]);
                if (read(up[0], &byte, 1) != 0)
                    _exit(9);
                by_posix(2);
                _exit(5);
            }
            by_posix(1);
            _exit(5);
        }
        if (child == 0) {
            by_posix(1);
            exit(5);
        }
        if (!ended_well(child))
            return 1;
        by_mpi();
    }
    MPI_Finalize();
    if (is(way, "child"))
        exit(5);
    if (is(way, "ended")) {
        child = fork();
        if (child == 0) {
            by_posix(1);
            exit(5);
        }
    }
    if (is(way, "before") || is(way, "ended"))
        return ended_well(child) ? 0 : 1;
    return 0;
}
