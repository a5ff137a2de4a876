/* Streams: how they are opened, buffered, positioned and closed. */
#ifndef PLAYS_STREAMS_STREAMS_H
#define PLAYS_STREAMS_STREAMS_H

#include "state.h"
#include <stdio_ext.h>

/* Streams without a file may lie in memory that was used before: there the number of an open file is found in
 * every word. */
static void leave_numbers_in_memory(struct state *s)
{
    int number = 1;
    for (int i = 3; i < DESCRIPTORS; i++)
        if (s->descriptor[i] >= 0)
            number = s->descriptor[i];
    enum { FIRST = 0x100, STEP = 16, EACH = 3, ALL = EACH * 32 };
    int *used[ALL];
    for (int i = 0; i < ALL; i++) {
        size_t words = (FIRST + i / EACH * STEP) / sizeof(int);
        used[i] = malloc(words * sizeof(int));
        /* Through a volatile pointer: stores to memory that is freed next must stay. */
        for (size_t k = 0; used[i] && k < words; k++)
            ((volatile int *)used[i])[k] = number;
    }
    for (int i = 0; i < ALL; i++)
        free(used[i]);
}

static void opened(struct state *s, const char *word, FILE *f)
{
    int at = stream_slot(word);
    s->stream[at] = f;
    s->has_place[at] = false;
    int error = errno;
    long number = f ? fileno(f) : -1;
    errno = error;
    /* Streams without a file have no number, which is no failure. */
    told_number(s, f && number < 0 ? 0 : number);
}

OP(fopen) { char path[PATH_MAX]; opened(s, w[1], fopen(name(s, w[2], path), w[3])); }

OP(fdopen)
{
    DESCRIPTOR(d, w[2]);
    FILE *f = fdopen(d, w[3]);
    if (f)
        s->descriptor[slot(w[2])] = -1; /* the stream's from now on */
    opened(s, w[1], f);
}

OP(freopen)
{
    STREAM(f, w[1]);
    char path[PATH_MAX];
    opened(s, w[1], freopen(strcmp(w[2], "-") == 0 ? NULL : name(s, w[2], path), w[3], f));
}

OP(tmpfile) { opened(s, w[1], tmpfile()); }

OP(open_memstream)
{
    int at = stream_slot(w[1]);
    leave_numbers_in_memory(s);
    opened(s, w[1], open_memstream(&s->memory[at], &s->length[at]));
}

OP(open_wmemstream)
{
    int at = stream_slot(w[1]);
    leave_numbers_in_memory(s);
    opened(s, w[1], open_wmemstream(&s->wide_memory[at], &s->length[at]));
}

/* What is in memory that the C library gets for it would differ from run to run. */
OP(fmemopen)
{
    int at = stream_slot(w[1]);
    size_t size = number(w[2]);
    leave_numbers_in_memory(s);
    s->memory[at] = malloc(size);
    if (!s->memory[at])
        abort();
    memcpy(s->memory[at], text, size);
    s->length[at] = size;
    opened(s, w[1], fmemopen(s->memory[at], size, w[3]));
}

/* A stream of the program's own: reads and writes memory, or the file of a descriptor by read and write. */
struct cookie {
    int descriptor;
    size_t position, length;
    char data[20000];
};

static ssize_t read_cookie(void *of, char *to, size_t length)
{
    struct cookie *cookie = of;
    if (cookie->descriptor >= 0) {
        belongs_to(POSIX);
        ssize_t got = read(cookie->descriptor, to, length);
        belongs_to(STDIO);
        return got;
    }
    size_t left = cookie->length - cookie->position;
    length = length < left ? length : left;
    memcpy(to, cookie->data + cookie->position, length);
    cookie->position += length;
    return (ssize_t)length;
}

static ssize_t write_cookie(void *of, const char *from, size_t length)
{
    struct cookie *cookie = of;
    if (cookie->descriptor >= 0) {
        belongs_to(POSIX);
        ssize_t put = write(cookie->descriptor, from, length);
        belongs_to(STDIO);
        return put < 0 ? 0 : put;
    }
    size_t left = sizeof cookie->data - cookie->position;
    length = length < left ? length : left;
    memcpy(cookie->data + cookie->position, from, length);
    cookie->position += length;
    if (cookie->length < cookie->position)
        cookie->length = cookie->position;
    return (ssize_t)length;
}

static int seek_cookie(void *of, off64_t *offset, int whence)
{
    struct cookie *cookie = of;
    if (cookie->descriptor >= 0) {
        off64_t at = lseek64(cookie->descriptor, *offset, whence);
        *offset = at;
        return at < 0 ? -1 : 0;
    }
    off64_t base = whence == SEEK_SET ? 0 : (off64_t)(whence == SEEK_CUR ? cookie->position : cookie->length);
    if (base + *offset < 0 || base + *offset > (off64_t)cookie->length) {
        errno = EINVAL;
        return -1;
    }
    cookie->position = base + *offset;
    *offset = cookie->position;
    return 0;
}

static int close_cookie(void *of)
{
    free(of);
    return 0;
}

OP(fopencookie)
{
    struct cookie *cookie = calloc(1, sizeof *cookie);
    if (!cookie)
        abort();
    cookie->descriptor = w[3][0] == 'd' ? s->descriptor[slot(w[3])] : -1;
    memcpy(cookie->data, text, cookie->length = 5000);
    leave_numbers_in_memory(s);
    cookie_io_functions_t functions = {read_cookie, write_cookie, seek_cookie, close_cookie};
    opened(s, w[1], fopencookie(cookie, w[2], functions));
}

static void closed(struct state *s, int at)
{
    s->stream[at] = NULL;
    free(s->memory[at]);
    free(s->wide_memory[at]);
    s->memory[at] = NULL;
    s->wide_memory[at] = NULL;
}

OP(fclose)
{
    STREAM(f, w[1]);
    long result = fclose(f);
    int at = stream_slot(w[1]);
    if (s->memory[at])
        told_data(s, result, s->memory[at], s->length[at]);
    else if (s->wide_memory[at])
        told_data(s, result, s->wide_memory[at], s->length[at] * sizeof(wchar_t));
    else
        told(s, result);
    closed(s, at);
}

OP(fcloseall)
{
    NO_WORDS;
    told(s, fcloseall());
    for (int at = 0; at < STREAMS; at++)
        closed(s, at);
}

OP(setvbuf)
{
    STREAM(f, w[1]);
    int way = strcmp(w[2], "full") == 0 ? _IOFBF : strcmp(w[2], "line") == 0 ? _IOLBF : _IONBF;
    told(s, setvbuf(f, strcmp(w[3], "own") == 0 ? s->own[stream_slot(w[1])] : NULL, way, number(w[4])));
}

OP(setbuf)
{
    STREAM(f, w[1]);
    setbuf(f, strcmp(w[2], "own") == 0 ? s->own[stream_slot(w[1])] : NULL);
    told(s, 0);
}

OP(setbuffer) { STREAM(f, w[1]); setbuffer(f, s->own[stream_slot(w[1])], number(w[2])); told(s, 0); }
OP(setlinebuf) { STREAM(f, w[1]); setlinebuf(f); told(s, 0); }

static int whence(const char *word)
{
    return strcmp(word, "set") == 0 ? SEEK_SET : strcmp(word, "cur") == 0 ? SEEK_CUR : SEEK_END;
}

OP(fseek) { STREAM(f, w[1]); told(s, fseek(f, number(w[3]), whence(w[2]))); }
OP(fseeko) { STREAM(f, w[1]); told(s, fseeko(f, number(w[3]), whence(w[2]))); }
OP(rewind) { STREAM(f, w[1]); rewind(f); told(s, 0); }
OP(ftell) { STREAM(f, w[1]); told(s, ftell(f)); }
OP(ftello) { STREAM(f, w[1]); told(s, ftello(f)); }

OP(fgetpos)
{
    STREAM(f, w[1]);
    int at = stream_slot(w[1]);
    long result = fgetpos(f, &s->place[at]);
    s->has_place[at] = result == 0;
    told(s, result);
}

OP(fsetpos)
{
    STREAM(f, w[1]);
    int at = stream_slot(w[1]);
    if (s->has_place[at])
        told(s, fsetpos(f, &s->place[at]));
    else
        nothing_there(s);
}

OP(fflush) { STREAM(f, w[1]); told(s, fflush(f)); }
OP(fflush_unlocked) { STREAM(f, w[1]); told(s, fflush_unlocked(f)); }
OP(fflush_all) { NO_WORDS; told(s, fflush(NULL)); }
OP(fpurge) { STREAM(f, w[1]); __fpurge(f); told(s, (long)__fpending(f)); }
OP(clearerr) { STREAM(f, w[1]); long was = ferror(f) ? 1 : feof(f) ? 2 : 0; clearerr(f); told(s, was); }
OP(fwide) { STREAM(f, w[1]); told(s, fwide(f, (int)number(w[2])) + 1); }

#endif
