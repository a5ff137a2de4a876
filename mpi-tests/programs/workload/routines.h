/* All data access routines in one function, included once for those whose count is an int and once for their
 * `_c` twins: PERFORM is the function's name and ROUTINE(name) the MPI function. */

/* Transfers, or for nonblocking access starts to; one of `status` and `request` is used. */
static int PERFORM(const struct options *o, const struct transfer *t, MPI_Status *status,
                   MPI_Request *request) {
    MPI_File f = t->file;
    MPI_Offset at = t->offset;
    void *b = t->buffer;
    int n = t->count, rc; /* a larger type in the `_c` routines, to which it converts */
    MPI_Datatype d = t->datatype;
    bool w = t->write;

    switch (o->access * 3 + o->pointer) {
    case BLOCKING * 3 + EXPLICIT_OFFSET:
        return w ? ROUTINE(write_at)(f, at, b, n, d, status) : ROUTINE(read_at)(f, at, b, n, d, status);
    case BLOCKING * 3 + INDIVIDUAL_POINTER:
        return w ? ROUTINE(write)(f, b, n, d, status) : ROUTINE(read)(f, b, n, d, status);
    case BLOCKING * 3 + SHARED_POINTER:
        return w ? ROUTINE(write_shared)(f, b, n, d, status) : ROUTINE(read_shared)(f, b, n, d, status);

    case NONBLOCKING * 3 + EXPLICIT_OFFSET:
        return w ? ROUTINE(iwrite_at)(f, at, b, n, d, request) : ROUTINE(iread_at)(f, at, b, n, d, request);
    case NONBLOCKING * 3 + INDIVIDUAL_POINTER:
        return w ? ROUTINE(iwrite)(f, b, n, d, request) : ROUTINE(iread)(f, b, n, d, request);
    case NONBLOCKING * 3 + SHARED_POINTER:
        return w ? ROUTINE(iwrite_shared)(f, b, n, d, request) : ROUTINE(iread_shared)(f, b, n, d, request);

    case COLLECTIVE * 3 + EXPLICIT_OFFSET:
        return w ? ROUTINE(write_at_all)(f, at, b, n, d, status)
                 : ROUTINE(read_at_all)(f, at, b, n, d, status);
    case COLLECTIVE * 3 + INDIVIDUAL_POINTER:
        return w ? ROUTINE(write_all)(f, b, n, d, status) : ROUTINE(read_all)(f, b, n, d, status);
    case COLLECTIVE * 3 + SHARED_POINTER:
        return w ? ROUTINE(write_ordered)(f, b, n, d, status) : ROUTINE(read_ordered)(f, b, n, d, status);

    case NONBLOCKING_COLLECTIVE * 3 + EXPLICIT_OFFSET:
        return w ? ROUTINE(iwrite_at_all)(f, at, b, n, d, request)
                 : ROUTINE(iread_at_all)(f, at, b, n, d, request);
    case NONBLOCKING_COLLECTIVE * 3 + INDIVIDUAL_POINTER:
        return w ? ROUTINE(iwrite_all)(f, b, n, d, request) : ROUTINE(iread_all)(f, b, n, d, request);

    case SPLIT_COLLECTIVE * 3 + EXPLICIT_OFFSET:
        if ((rc = w ? ROUTINE(write_at_all_begin)(f, at, b, n, d)
                    : ROUTINE(read_at_all_begin)(f, at, b, n, d)))
            return rc;
        return w ? MPI_File_write_at_all_end(f, b, status) : MPI_File_read_at_all_end(f, b, status);
    case SPLIT_COLLECTIVE * 3 + INDIVIDUAL_POINTER:
        if ((rc = w ? ROUTINE(write_all_begin)(f, b, n, d) : ROUTINE(read_all_begin)(f, b, n, d)))
            return rc;
        return w ? MPI_File_write_all_end(f, b, status) : MPI_File_read_all_end(f, b, status);
    case SPLIT_COLLECTIVE * 3 + SHARED_POINTER:
        if ((rc = w ? ROUTINE(write_ordered_begin)(f, b, n, d) : ROUTINE(read_ordered_begin)(f, b, n, d)))
            return rc;
        return w ? MPI_File_write_ordered_end(f, b, status) : MPI_File_read_ordered_end(f, b, status);
    }
    return MPI_ERR_ARG;
}
