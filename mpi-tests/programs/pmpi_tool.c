/* Another PMPI tool, as a shared library: passes calls on to PMPI as mpiP or Score-P do, counts those of
 * MPI_File_write_at and at MPI_Finalize writes the number to $PMPI_TOOL_OUTPUT.RANK. A tracer in the same
 * process must leave it all its calls, and count none of them twice. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static long writes;

int MPI_File_write_at(MPI_File file, MPI_Offset offset, const void *data, int count, MPI_Datatype type,
                      MPI_Status *status) {
    writes++;
    return PMPI_File_write_at(file, offset, data, count, type, status);
}

int MPI_File_open(MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *file) {
    return PMPI_File_open(comm, name, mode, info, file);
}

int MPI_File_set_view(MPI_File file, MPI_Offset start, MPI_Datatype etype, MPI_Datatype filetype,
                      const char *form, MPI_Info info) {
    return PMPI_File_set_view(file, start, etype, filetype, form, info);
}

int MPI_File_sync(MPI_File file) { return PMPI_File_sync(file); }

int MPI_File_close(MPI_File *file) { return PMPI_File_close(file); }

int MPI_Finalize(void) {
    const char *output = getenv("PMPI_TOOL_OUTPUT");
    char name[4096];
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(name, sizeof name, "%s.%d", output ? output : "pmpi_tool", rank);
    FILE *file = fopen(name, "w");
    if (file) {
        fprintf(file, "%ld\n", writes);
        fclose(file);
    }
    return PMPI_Finalize();
}
