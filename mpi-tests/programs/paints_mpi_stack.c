/* How much of the caller's stack MPI calls take: prints "NAME FIRST MOST" for each that this MPI has, the
 * bytes of the first call and those of the deepest of 2000, in which blocks get full (of fewer, where they
 * take long). One rank.
 * usage: paints_mpi_stack DIRECTORY */
#define _GNU_SOURCE
#include "write_some.h"
#include "paints_stack/painted.h"

static MPI_File file;
static MPI_Status status;
static MPI_Request request;
static char data[64], name[4096];
static int flag, position, count;

struct call {
    const char *name;
    void (*before)(void);
    void (*make)(void);
    void (*after)(void);
};
extern const struct call *const __start_cases[], *const __stop_cases[];

#define CASE(function, prepared, action, undone)                                                        \
    static void before_##function(void) { prepared; }                                                   \
    static void make_##function(void) { action; }                                                       \
    static void after_##function(void) { undone; }                                                      \
    static const struct call case_##function = {#function, before_##function, make_##function,          \
                                                after_##function};                                      \
    static const struct call *const pointer_##function                                                  \
        __attribute__((section("cases"), used)) = &case_##function;
/* By both names. */
#define CALL(function, arguments, prepared, undone)                                                     \
    CASE(MPI_##function, prepared, MPI_##function arguments, undone)                                    \
    CASE(PMPI_##function, prepared, PMPI_##function arguments, undone)
#if MPI_VERSION >= 4
#define LARGE(function, arguments, prepared, undone) CALL(function, arguments, prepared, undone)
#else
#define LARGE(function, arguments, prepared, undone)
#endif
#define BOTH(function, arguments, prepared, undone)                                                     \
    CALL(function, arguments, prepared, undone)                                                         \
    LARGE(function##_c, arguments, prepared, undone)

#define START MPI_File_seek(file, 0, MPI_SEEK_SET)
#define START_SHARED MPI_File_seek_shared(file, 0, MPI_SEEK_SET)
#define WAIT MPI_Wait(&request, MPI_STATUS_IGNORE)
#define BYTES data, 8, MPI_BYTE

BOTH(File_write, (file, BYTES, &status), START, )
BOTH(File_read, (file, BYTES, &status), START, )
BOTH(File_write_at, (file, 0, BYTES, &status), , )
BOTH(File_read_at, (file, 0, BYTES, &status), , )
BOTH(File_write_all, (file, BYTES, &status), START, )
BOTH(File_read_all, (file, BYTES, &status), START, )
BOTH(File_write_at_all, (file, 0, BYTES, &status), , )
BOTH(File_read_at_all, (file, 0, BYTES, &status), , )
BOTH(File_write_shared, (file, BYTES, &status), START_SHARED, )
BOTH(File_read_shared, (file, BYTES, &status), START_SHARED, )
BOTH(File_write_ordered, (file, BYTES, &status), START_SHARED, )
BOTH(File_read_ordered, (file, BYTES, &status), START_SHARED, )
BOTH(File_iwrite, (file, BYTES, &request), START, WAIT)
BOTH(File_iread, (file, BYTES, &request), START, WAIT)
BOTH(File_iwrite_at, (file, 0, BYTES, &request), , WAIT)
BOTH(File_iread_at, (file, 0, BYTES, &request), , WAIT)
BOTH(File_iwrite_all, (file, BYTES, &request), START, WAIT)
BOTH(File_iread_all, (file, BYTES, &request), START, WAIT)
BOTH(File_iwrite_at_all, (file, 0, BYTES, &request), , WAIT)
BOTH(File_iread_at_all, (file, 0, BYTES, &request), , WAIT)
BOTH(File_iwrite_shared, (file, BYTES, &request), START_SHARED, WAIT)
BOTH(File_iread_shared, (file, BYTES, &request), START_SHARED, WAIT)

#define SPLIT(access, begin, offset)                                                                    \
    BOTH(File_##access##_begin, offset, begin, MPI_File_##access##_end(file, data, &status))            \
    CALL(File_##access##_end, (file, data, &status), begin; MPI_File_##access##_begin offset, )
SPLIT(write_all, START, (file, BYTES))
SPLIT(read_all, START, (file, BYTES))
SPLIT(write_at_all, , (file, 0, BYTES))
SPLIT(read_at_all, , (file, 0, BYTES))
SPLIT(write_ordered, START_SHARED, (file, BYTES))
SPLIT(read_ordered, START_SHARED, (file, BYTES))

#define BEGUN MPI_File_iwrite_at(file, 0, BYTES, &request)
#define UNTIL_DONE if (request != MPI_REQUEST_NULL) WAIT
CALL(Wait, (&request, &status), BEGUN, )
CALL(Waitany, (1, &request, &position, &status), BEGUN, )
CALL(Waitsome, (1, &request, &count, &position, &status), BEGUN, )
CALL(Waitall, (1, &request, &status), BEGUN, )
CALL(Test, (&request, &flag, &status), BEGUN, UNTIL_DONE)
CALL(Testany, (1, &request, &position, &flag, &status), BEGUN, UNTIL_DONE)
CALL(Testsome, (1, &request, &count, &position, &status), BEGUN, UNTIL_DONE)
CALL(Testall, (1, &request, &flag, &status), BEGUN, UNTIL_DONE)
CALL(Request_get_status, (request, &flag, &status), BEGUN, UNTIL_DONE)
CALL(Request_free, (&request), MPI_Irecv(data, 1, MPI_BYTE, 0, 1, MPI_COMM_SELF, &request);
     MPI_Send(data + 1, 1, MPI_BYTE, 0, 1, MPI_COMM_SELF), )
CALL(Cancel, (&request), MPI_Irecv(data, 1, MPI_BYTE, 0, 2, MPI_COMM_SELF, &request), WAIT)

CALL(File_seek, (file, 0, MPI_SEEK_SET), , )
CALL(File_seek_shared, (file, 0, MPI_SEEK_SET), , )
CALL(File_sync, (file), , )
CALL(File_set_size, (file, 8192), , )
CALL(File_preallocate, (file, 8192), , )
CALL(File_set_atomicity, (file, 0), , )
CALL(File_set_info, (file, MPI_INFO_NULL), , )
CALL(File_set_view, (file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), , )
CALL(Pcontrol, (1), , )

static MPI_File other;
#define OPEN MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL
#define NEXT_NAME snprintf(name, sizeof name, "%s/of-the-test-%d", directory, ++count)
static const char *directory;
CALL(File_open, (MPI_COMM_SELF, name, OPEN, &other), NEXT_NAME, MPI_File_close(&other))
CALL(File_close, (&other), NEXT_NAME; MPI_File_open(MPI_COMM_SELF, name, OPEN, &other), )
CALL(File_delete, (name, MPI_INFO_NULL),
     NEXT_NAME; MPI_File_open(MPI_COMM_SELF, name, OPEN, &other); MPI_File_close(&other), )

static const struct call *the_call;

static void make_once(void)
{
    the_call->make();
}

static void once(void)
{
    the_call->before();
    on_a_context();
    the_call->after();
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    if (argc != 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    directory = argv[1];
    file = open_own_file(directory);
    write_requests(file, 0, 10);
    call_to_make = make_once;
    for (const struct call *const *one = __start_cases; one < __stop_cases; one++) {
        the_call = *one;
        paint();
        once();
        long first = depth();
        clock_t enough = clock() + CLOCKS_PER_SEC / 20;
        for (int i = 0; i < 2000 && clock() < enough; i++)
            once();
        printf("%s %ld %ld\n", the_call->name, first, depth());
    }
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
