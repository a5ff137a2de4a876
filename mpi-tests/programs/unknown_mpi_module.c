/* Stands for an MPI of a family that the tracer does not know: handles are small numbers, and one that is
 * not valid ends the job, as in HPE's MPT. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int invalid(const char *function) {
    fprintf(stderr, "ERROR: %s: invalid handle\n", function);
    abort();
}

#define REFUSES(name) \
    int name(void) { return invalid(#name); }

int MPI_Init(int *argc, char ***argv) { return (void)argc, (void)argv, 0; }
int PMPI_Init(int *argc, char ***argv) { return (void)argc, (void)argv, 0; }
int MPI_Finalize(void) { return 0; }
int PMPI_Get_version(int *version, int *subversion) { return *version = 3, *subversion = 1, 0; }
int PMPI_Get_library_version(char *text, int *length) {
    strcpy(text, "HPE MPT 2.25");
    return *length = 12, 0;
}
REFUSES(PMPI_Comm_rank)
REFUSES(PMPI_Comm_size)
REFUSES(PMPI_Comm_dup)
REFUSES(PMPI_Comm_idup)
REFUSES(PMPI_Comm_group)
REFUSES(PMPI_Comm_create_group)
REFUSES(PMPI_Comm_free)
REFUSES(PMPI_Comm_get_parent)
REFUSES(PMPI_Comm_create_errhandler)
REFUSES(PMPI_Comm_set_errhandler)
REFUSES(PMPI_Comm_create_keyval)
REFUSES(PMPI_Comm_set_attr)
REFUSES(PMPI_Get_elements_x)
REFUSES(PMPI_Status_set_elements_x)
REFUSES(PMPI_Type_size_x)

/* The program of this MPI. */
int run(const char *directory) {
    (void)directory;
    MPI_Init(NULL, NULL);
    MPI_Finalize();
    puts("done");
    return 0;
}
