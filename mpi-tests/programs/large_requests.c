/* Requests of more than 4 GiB, blocking and nonblocking: 5 GiB as 5 elements of a datatype of 1 GiB, and,
 * with `counts`, as a count of bytes that is no int. The data goes to /dev/null.
 * usage: large_requests [counts] */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

int main(int argc, char **argv) {
    const MPI_Count all = (MPI_Count)5 << 30;
    MPI_Datatype gigabyte;
    MPI_File file;
    MPI_Request request;
    MPI_Status status;
    MPI_Count count;
    MPI_Init(&argc, &argv);
    char *data = mmap(NULL, all, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED ||
        MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_WRONLY, MPI_INFO_NULL, &file))
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Type_contiguous(1 << 30, MPI_BYTE, &gigabyte);
    MPI_Type_commit(&gigabyte);
    MPI_File_write_at(file, 0, data, 5, gigabyte, &status);
    MPI_Get_elements_x(&status, MPI_BYTE, &count);
    printf("blocking %lld\n", (long long)count);
    MPI_File_iwrite_at(file, 0, data, 5, gigabyte, &request);
    MPI_Wait(&request, &status);
    MPI_Get_elements_x(&status, MPI_BYTE, &count);
    printf("nonblocking %lld\n", (long long)count);
#if MPI_VERSION >= 4
    if (argc > 1 && !strcmp(argv[1], "counts")) {
        MPI_File_write_at_c(file, 0, data, all, MPI_BYTE, &status);
        MPI_Get_elements_x(&status, MPI_BYTE, &count);
        printf("blocking, counted %lld\n", (long long)count);
        MPI_File_iwrite_at_c(file, 0, data, all, MPI_BYTE, &request);
        MPI_Wait(&request, &status);
        MPI_Get_elements_x(&status, MPI_BYTE, &count);
        printf("nonblocking, counted %lld\n", (long long)count);
    }
#endif
    MPI_Type_free(&gigabyte);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
