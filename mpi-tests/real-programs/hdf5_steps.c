/* Writes five datasets through parallel HDF5, each rank its own rows, collectively, and leaves the file to
 * MPI_Finalize to close. */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>

enum { ROWS = 8192, STEPS = 5 };

int main(int argc, char **argv) {
    static double data[ROWS];
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), transfer = H5Pcreate(H5P_DATASET_XFER),
          create = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
    H5Pset_obj_track_times(create, 0); /* two runs give the same bytes */
    hid_t file = H5Fcreate("hdf5.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    for (int step = 0; step < STEPS; step++) {
        char name[32];
        hsize_t all = (hsize_t)ranks * ROWS, mine = ROWS, start = (hsize_t)rank * ROWS;
        for (int i = 0; i < ROWS; i++)
            data[i] = step * 1e6 + rank * 1e5 + i;
        snprintf(name, sizeof name, "step%d", step);
        hid_t space = H5Screate_simple(1, &all, NULL), memory = H5Screate_simple(1, &mine, NULL);
        hid_t set = H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, create, H5P_DEFAULT);
        H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &mine, NULL);
        if (H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, transfer, data) < 0)
            MPI_Abort(MPI_COMM_WORLD, 1);
        H5Dclose(set);
        H5Sclose(space);
        H5Sclose(memory);
    }
    H5Pclose(access);
    H5Pclose(transfer);
    H5Pclose(create);
    MPI_Finalize();
    if (!rank)
        puts("done");
    return 0;
}
