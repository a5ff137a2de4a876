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

#define PERFORM perform_int
#define ROUTINE(name) MPI_File_##name
#include "routines.h"
#undef PERFORM
#undef ROUTINE

#if MPI_VERSION >= 4
#define PERFORM perform_large
#define ROUTINE(name) MPI_File_##name##_c
#include "routines.h"
#undef PERFORM
#undef ROUTINE
#endif

static int perform(const struct options *o, const struct transfer *t, MPI_Status *status,
                   MPI_Request *request) {
#if MPI_VERSION >= 4
    if (o->large_count)
        return perform_large(o, t, status, request);
#endif
    return perform_int(o, t, status, request);
}

#endif
