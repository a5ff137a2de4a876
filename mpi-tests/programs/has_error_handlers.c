/* Says whether errors are fatal at first. Then has some of its own on MPI_COMM_WORLD and MPI_COMM_SELF, which
 * count, and an attribute of MPI_COMM_WORLD, whose copying counts. Makes errors before and after its I/O and
 * in MPI_Finalize: every one of them, and no other, must come to its own handlers, and nobody may copy the
 * communicator.
 * usage: has_error_handlers DIRECTORY */
#include "write_some.h"

static int of_world, of_self, copied;

static void world_handler(MPI_Comm *comm, int *error, ...) {
    (void)comm, (void)error;
    of_world++;
}

static void self_handler(MPI_Comm *comm, int *error, ...) {
    (void)comm, (void)error;
    of_self++;
}

static int copy(MPI_Comm comm, int keyval, void *extra, void *value, void *place, int *flag) {
    (void)comm, (void)keyval, (void)extra, (void)value, (void)place;
    copied++;
    *flag = 0;
    return MPI_SUCCESS;
}

static void make_errors(int expected) {
    int flag;
    MPI_Iprobe(1 << 20, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Iprobe(1 << 20, 0, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    if (of_world != expected || of_self != expected || copied) {
        fprintf(stderr, "errors of world %d, of self %d, instead of %d; copied %d times\n", of_world, of_self,
                expected, copied);
        _exit(1);
    }
}

static int in_finalize(MPI_Comm comm, int keyval, void *value, void *extra) {
    (void)comm, (void)keyval, (void)value, (void)extra;
    make_errors(3);
    return MPI_SUCCESS;
}

int main(int argc, char **argv) {
    MPI_Errhandler handler, other;
    int keyval, rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
    MPI_Comm_get_errhandler(MPI_COMM_SELF, &other);
    if (!rank)
        printf("%d %d\n", handler == MPI_ERRORS_ARE_FATAL, other == MPI_ERRORS_ARE_FATAL);
    MPI_Comm_create_errhandler(world_handler, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Errhandler_free(&handler);
    MPI_Comm_create_errhandler(self_handler, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    MPI_Errhandler_free(&handler);
    MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, NULL);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, in_finalize, &keyval, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
    make_errors(1);
    MPI_File file = open_own_file(argv[1]);
    write_requests(file, 0, 10);
    MPI_File_close(&file);
    make_errors(2);
    MPI_Finalize();
    if (of_world != 3 || of_self != 3 || copied) {
        fprintf(stderr, "in MPI_Finalize: errors of world %d, of self %d; copied %d times\n", of_world,
                of_self, copied);
        return 1;
    }
    return 0;
}
