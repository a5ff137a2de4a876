/* Stands for an MPI that switches to other user-level threads inside a blocking call; see
 * switches_stacks.c. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>

typedef int Function(MPI_File, MPI_Offset, const void *, int, MPI_Datatype, MPI_Status *);

int MPI_File_write_at(MPI_File file, MPI_Offset offset, const void *data, int count, MPI_Datatype type,
                      MPI_Status *status) {
    void (*yield)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "switch_stacks");
    Function *next = (Function *)dlsym(RTLD_NEXT, "MPI_File_write_at");
    if (yield)
        yield();
    return next(file, offset, data, count, type, status);
}
