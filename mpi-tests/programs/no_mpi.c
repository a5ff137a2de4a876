/* A program that has nothing to do with MPI: writes a file, forks, prints a line, exits with 7.
 * usage: no_mpi DIRECTORY */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
    char name[4096];
    if (argc != 2)
        return 2;
    snprintf(name, sizeof name, "%s/no_mpi.txt", argv[1]);
    FILE *file = fopen(name, "w");
    if (!file || fputs("not traced\n", file) == EOF || fclose(file))
        return 1;
    pid_t child = fork();
    if (child == 0)
        exit(0);
    if (child < 0 || waitpid(child, NULL, 0) != child)
        return 1;
    puts("no MPI here");
    return 7;
}
