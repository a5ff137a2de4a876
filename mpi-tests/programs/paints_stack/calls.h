/* One case a function: what is prepared on another stack (without a call that a library could stand in for,
 * where that is possible), the call itself with valid arguments, and what is undone afterwards. Cases of
 * descriptors are in descriptor_calls.h, of streams in stream_calls.h, of processes in process_calls.h. */
#ifndef CALLS_H
#define CALLS_H

#define _GNU_SOURCE
#include "raw.h"
#include <aio.h>
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <grp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

struct call {
    const char *name;
    void (*before)(void);
    void (*make)(void);
    void (*after)(void);
    /* It ends its process, or leaves it in no state to go on. */
    int ends;
};

/* Pointers to all cases, put together by the linker. */
extern const struct call *const __start_cases[], *const __stop_cases[];

#define CASE(function, prepared, action, undone, last)                                                    \
    static void before_##function(void) { prepared; }                                                   \
    static void make_##function(void) { action; }                                                        \
    static void after_##function(void) { undone; }                                                      \
    static const struct call case_##function = {#function, before_##function, make_##function,          \
                                                after_##function, last};                                \
    static const struct call *const pointer_##function                                                  \
        __attribute__((section("cases"), used)) = &case_##function;

#define CALL(function, prepared, action, undone) CASE(function, prepared, action, undone, 0)
#define LAST_CALL(function, prepared, action) CASE(function, prepared, action, , 1)
/* One that headers do not declare, or by another name, or that not every C library has: called as f. */
#define RARE_CALL(type, function, parameters, prepared, action, undone)                                   \
    CASE(function, prepared, type(*f) parameters = (type(*) parameters)found; action, undone, 0)

/* The function of this run. */
static void *found;
static int is_first, is_repeated;
static int fd, second, ends[2];
static long result;
static char path[512], buffer[65536], *line;
static size_t line_size;
static struct iovec vector = {buffer, 8};
static struct aiocb control, *controls[1];

/* A name that nobody has seen, relative and long. */
static const char *fresh_path(void)
{
    static int count;
    static const char below[] = "a-directory-with-a-name-that-is-longer-than-most-names-of-directories-are";
    if (!count)
        mkdir(below, 0700);
    snprintf(path, sizeof path, "%s/.././%s/a-file-of-the-test-%d-XXXXXX", below, below, count++);
    return path;
}

/* A file of text that nobody knows to be open; the same one again if a call is repeated. */
static int fresh_file(void)
{
    static int known = -1;
    if (known < 0 || !is_repeated) {
        static char text[8192];
        memset(text, '7', sizeof text);
        for (size_t i = 1; i < sizeof text; i += 2)
            text[i] = i % 64 == 63 ? '\n' : ' ';
        known = (int)RAW(SYS_openat, AT_FDCWD, fresh_path(), O_CREAT | O_RDWR, 0600);
        RAW(SYS_write, known, text, sizeof text, 0);
    }
    RAW(SYS_lseek, known, 0, SEEK_SET, 0);
    return known;
}

/* The same file by a number that may be closed. */
static int fresh_number(void)
{
    return (int)RAW(SYS_fcntl, fresh_file(), F_DUPFD, 20, 0);
}

static void drop(long number)
{
    if (number > 2)
        RAW(SYS_close, number, 0, 0, 0);
}

#include "descriptor_calls.h"
#include "process_calls.h"
#include "stream_calls.h"

CALL(dlopen, , result = dlopen(NULL, RTLD_LAZY) != NULL, )
RARE_CALL(void, iotrace_summary, (void), , f(), )
RARE_CALL(void, iotrace_pause, (void), , f(), )
RARE_CALL(void, iotrace_resume, (void), , f(), )
RARE_CALL(void, iotrace_mark, (const char *), , f("a mark"), )
/* What the measurement itself takes. */
CALL(nothing, , , )

#endif
