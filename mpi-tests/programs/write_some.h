/* The I/O of the small programs: each rank writes `count` requests of WRITE_SIZE bytes with MPI_File_write_at
 * to a file of its own with a fresh name in `directory`, and leaves it open or closes it. */
#ifndef WRITE_SOME_H
#define WRITE_SOME_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WRITE_SIZE 1000

static MPI_File open_own_file(const char *directory) {
    char name[4096];
    MPI_File file;
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    snprintf(name, sizeof name, "%s/some_%ld_%ld%09ld.dat", directory, (long)getpid(), (long)t.tv_sec,
             t.tv_nsec);
    if (MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file)) {
        fprintf(stderr, "cannot open %s\n", name);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return file;
}

static void write_requests(MPI_File file, int first, int count) {
    char data[WRITE_SIZE];
    memset(data, 'w', sizeof data);
    for (int i = first; i < first + count; i++)
        if (MPI_File_write_at(file, (MPI_Offset)i * WRITE_SIZE, data, WRITE_SIZE, MPI_BYTE,
                              MPI_STATUS_IGNORE))
            MPI_Abort(MPI_COMM_WORLD, 1);
}

#endif
