/* One request through any of MPI's data access routines (MPI 4.1, table 14.1). */
#ifndef WORKLOAD_ACCESS_H
#define WORKLOAD_ACCESS_H

#include "options.h"
#include <mpi.h>

struct transfer {
    MPI_File file;
    bool write;
    MPI_Offset offset; /* only explicit offsets use it */
    void *buffer;
    int count;
    MPI_Datatype datatype;
};

/* Transfers, or for nonblocking access starts to; one of `status` and `request` is used. */
static int perform(const struct options *o, const struct transfer *t, MPI_Status *status, MPI_Request *request) {
    MPI_File f = t->file;
    MPI_Offset at = t->offset;
    void *b = t->buffer;
    int n = t->count, rc;
    MPI_Datatype d = t->datatype;
    bool w = t->write;

    switch (o->access * 3 + o->pointer) {
    case BLOCKING * 3 + EXPLICIT_OFFSET:
        return w ? MPI_File_write_at(f, at, b, n, d, status) : MPI_File_read_at(f, at, b, n, d, status);
    case BLOCKING * 3 + INDIVIDUAL_POINTER:
        return w ? MPI_File_write(f, b, n, d, status) : MPI_File_read(f, b, n, d, status);
    case BLOCKING * 3 + SHARED_POINTER:
        return w ? MPI_File_write_shared(f, b, n, d, status) : MPI_File_read_shared(f, b, n, d, status);

    case NONBLOCKING * 3 + EXPLICIT_OFFSET:
        return w ? MPI_File_iwrite_at(f, at, b, n, d, request) : MPI_File_iread_at(f, at, b, n, d, request);
    case NONBLOCKING * 3 + INDIVIDUAL_POINTER:
        return w ? MPI_File_iwrite(f, b, n, d, request) : MPI_File_iread(f, b, n, d, request);
    case NONBLOCKING * 3 + SHARED_POINTER:
        return w ? MPI_File_iwrite_shared(f, b, n, d, request) : MPI_File_iread_shared(f, b, n, d, request);

    case COLLECTIVE * 3 + EXPLICIT_OFFSET:
        return w ? MPI_File_write_at_all(f, at, b, n, d, status) : MPI_File_read_at_all(f, at, b, n, d, status);
    case COLLECTIVE * 3 + INDIVIDUAL_POINTER:
        return w ? MPI_File_write_all(f, b, n, d, status) : MPI_File_read_all(f, b, n, d, status);
    case COLLECTIVE * 3 + SHARED_POINTER:
        return w ? MPI_File_write_ordered(f, b, n, d, status) : MPI_File_read_ordered(f, b, n, d, status);

    case NONBLOCKING_COLLECTIVE * 3 + EXPLICIT_OFFSET:
        return w ? MPI_File_iwrite_at_all(f, at, b, n, d, request) : MPI_File_iread_at_all(f, at, b, n, d, request);
    case NONBLOCKING_COLLECTIVE * 3 + INDIVIDUAL_POINTER:
        return w ? MPI_File_iwrite_all(f, b, n, d, request) : MPI_File_iread_all(f, b, n, d, request);

    case SPLIT_COLLECTIVE * 3 + EXPLICIT_OFFSET:
        if ((rc = w ? MPI_File_write_at_all_begin(f, at, b, n, d) : MPI_File_read_at_all_begin(f, at, b, n, d)))
            return rc;
        return w ? MPI_File_write_at_all_end(f, b, status) : MPI_File_read_at_all_end(f, b, status);
    case SPLIT_COLLECTIVE * 3 + INDIVIDUAL_POINTER:
        if ((rc = w ? MPI_File_write_all_begin(f, b, n, d) : MPI_File_read_all_begin(f, b, n, d)))
            return rc;
        return w ? MPI_File_write_all_end(f, b, status) : MPI_File_read_all_end(f, b, status);
    case SPLIT_COLLECTIVE * 3 + SHARED_POINTER:
        if ((rc = w ? MPI_File_write_ordered_begin(f, b, n, d) : MPI_File_read_ordered_begin(f, b, n, d)))
            return rc;
        return w ? MPI_File_write_ordered_end(f, b, status) : MPI_File_read_ordered_end(f, b, status);
    }
    return MPI_ERR_ARG;
}

#endif
