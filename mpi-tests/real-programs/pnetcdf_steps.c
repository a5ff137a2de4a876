/* Writes five records of a variable through PnetCDF, collectively and, in define mode, some metadata. */
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>

enum { COLUMNS = 4096, STEPS = 5 };

static void check(int error) {
    if (error != NC_NOERR) {
        fprintf(stderr, "%s\n", ncmpi_strerror(error));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

int main(int argc, char **argv) {
    static double data[COLUMNS];
    int rank, ranks, file, dimensions[2], variable;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    check(ncmpi_create(MPI_COMM_WORLD, "pnetcdf.nc", NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file));
    check(ncmpi_def_dim(file, "step", NC_UNLIMITED, &dimensions[0]));
    check(ncmpi_def_dim(file, "column", (MPI_Offset)ranks * COLUMNS, &dimensions[1]));
    check(ncmpi_def_var(file, "field", NC_DOUBLE, 2, dimensions, &variable));
    check(ncmpi_enddef(file));
    for (int step = 0; step < STEPS; step++) {
        MPI_Offset start[2] = {step, (MPI_Offset)rank * COLUMNS}, count[2] = {1, COLUMNS};
        for (int i = 0; i < COLUMNS; i++)
            data[i] = step * 1e6 + rank * 1e5 + i;
        check(ncmpi_put_vara_double_all(file, variable, start, count, data));
    }
    check(ncmpi_close(file));
    MPI_Finalize();
    if (!rank)
        puts("done");
    return 0;
}
