/* A serial build of a program that uses MPI if it is there, found by weak references or at run time. */
#include <dlfcn.h>
#include <stdio.h>

extern int MPI_Init(int *argc, char ***argv) __attribute__((weak));
extern int PMPI_File_write_at(void) __attribute__((weak));

int main(int argc, char **argv) {
    if (MPI_Init != NULL || PMPI_File_write_at != NULL || dlsym(RTLD_DEFAULT, "MPI_Init") != NULL) {
        printf("MPI is here; MPI_Init says %d\n", MPI_Init(&argc, &argv));
        return 1;
    }
    puts("serial run");
    return 0;
}
