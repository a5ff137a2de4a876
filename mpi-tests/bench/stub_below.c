/* MPI-IO calls that do nothing, preloaded behind what is measured: a call that takes two microseconds, and
   not always the same, would hide the tenth of one that a wrapper takes. */
#include <mpi.h>
#include <stdint.h>

static char place;

static void completed(MPI_Status *status, int bytes)
{
    if (status == MPI_STATUS_IGNORE)
        return;
    status->MPI_ERROR = MPI_SUCCESS;
#ifdef OPEN_MPI
    status->_cancelled = 0;
    status->_ucount = bytes;
#else
    status->count_lo = bytes;
    status->count_hi_and_cancelled = 0;
#endif
}

/* Called with MPI_BYTE only. */
int MPI_File_write_at(MPI_File f, MPI_Offset o, const void *b, int c, MPI_Datatype d, MPI_Status *s)
{
    (void)f, (void)o, (void)b, (void)d;
    completed(s, c);
    return MPI_SUCCESS;
}

int MPI_File_iwrite_at(MPI_File f, MPI_Offset o, const void *b, int c, MPI_Datatype d, MPI_Request *r)
{
    (void)f, (void)o, (void)b, (void)c, (void)d;
    *r = (MPI_Request)(intptr_t)&place;
    return MPI_SUCCESS;
}

int MPI_Wait(MPI_Request *r, MPI_Status *s)
{
    if (*r != (MPI_Request)(intptr_t)&place)
        return PMPI_Wait(r, s);
    *r = MPI_REQUEST_NULL;
    completed(s, 0);
    return MPI_SUCCESS;
}
