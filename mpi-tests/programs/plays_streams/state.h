/* What a script works on: its streams, descriptors and directories, its names, and the log of results. */
#ifndef PLAYS_STREAMS_STATE_H
#define PLAYS_STREAMS_STATE_H

#include "board.h"
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <wchar.h>

enum { STREAMS = 9, DESCRIPTORS = 12, DIRECTORIES = 2, LINES = 4096, WORDS = 8 };
enum { ROOM = 1 << 17, OWN = 1 << 17, WIDE = 1 << 13 };
/* The last three streams are the standard ones. */
enum { IN = STREAMS - 3, OUT, ERR };

struct state {
    FILE *stream[STREAMS];
    fpos_t place[STREAMS]; /* of fgetpos */
    bool has_place[STREAMS];
    char *memory[STREAMS]; /* of open_memstream */
    wchar_t *wide_memory[STREAMS];
    size_t length[STREAMS];
    int descriptor[DESCRIPTORS]; /* -1: none */
    DIR *directory[DIRECTORIES];
    int branch;       /* one of several threads at a time: its number; else -1 */
    unsigned written; /* calls so far: each writes something else */
    char *log;        /* of a branch: handed out when all have ended */
    size_t logged;
    char own[STREAMS][OWN]; /* buffers for setvbuf; last, as pages that nobody uses should stay so */
};

static struct board *board;
static char *root;          /* directory of the scripts */
static char *shared_memory; /* how names of files in shared memory begin, with /dev/shm/ */
static unsigned script;
static char *lines[LINES];
static size_t number_of_lines;
static __thread const char *current = ""; /* the line that is executed */
static __thread _Alignas(4096) char room[ROOM];
static char text[ROOM];        /* what is written */
static wchar_t wide_text[WIDE];

static __thread unsigned thread_number;

static void belongs_to(enum layer layer)
{
    if (thread_number == 0)
        thread_number = (unsigned)syscall(SYS_gettid);
    board->layers[thread_number % THREADS].thread = thread_number;
    board->layers[thread_number % THREADS].layer = layer;
}

/* At the start of every process. */
static void note_process(void)
{
    thread_number = 0;
    unsigned at = __atomic_fetch_add(&board->processes, 1, __ATOMIC_RELAXED);
    if (at < PROCESSES) {
        board->owners[at].process = (unsigned)getpid();
        board->owners[at].script = script;
    }
}

static void add_to_log(const char *words, size_t length)
{
    unsigned at = __atomic_fetch_add(&board->logged, (unsigned)length, __ATOMIC_RELAXED);
    if (at + length <= LOG)
        memcpy(board->log + at, words, length);
}

static void say(struct state *s, const char *format, ...)
{
    char line[256];
    va_list values;
    va_start(values, format);
    int length = vsnprintf(line, sizeof line, format, values);
    va_end(values);
    if (length > (int)sizeof line - 1)
        length = sizeof line - 1;
    if (s->branch < 0)
        add_to_log(line, length);
    else if (s->logged + length <= ROOM)
        memcpy(s->log + s->logged, line, length), s->logged += length;
}

/* The result of a call; a failure with its error. */
static void told(struct state *s, long result)
{
    int error = errno;
    if (result < 0)
        say(s, "%s: %ld error %d\n", current, result, error);
    else
        say(s, "%s: %ld\n", current, result);
}

/* The same with what was read. */
static void told_data(struct state *s, long result, const void *data, size_t length)
{
    unsigned long hash = 1469598103934665603UL;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ ((const unsigned char *)data)[i]) * 1099511628211UL;
    int error = errno;
    say(s, "%s: %ld error %d data %lx\n", current, result, result < 0 ? error : 0, hash);
}

/* A number of a descriptor or the like: which of them races with other threads in a branch. */
static void told_number(struct state *s, long result)
{
    told(s, s->branch >= 0 && result >= 0 ? 0 : result);
}

/* What the script works on is not there, as the call that should have made it failed. */
static void nothing_there(struct state *s)
{
    say(s, "%s: nothing there\n", current);
}

static long number(const char *word)
{
    return strtol(word, NULL, 0);
}

/* s0 to s5, in, out, err */
static int stream_slot(const char *word)
{
    if (word[0] == 's')
        return (int)number(word + 1);
    return strcmp(word, "in") == 0 ? IN : strcmp(word, "out") == 0 ? OUT : ERR;
}

/* d3, g0 */
static int slot(const char *word)
{
    return (int)number(word + 1);
}

static const char *next_text(struct state *s)
{
    return text + s->written++ * 37 % 4999;
}

/* A string of that length, of text without line ends but perhaps one at its end. */
static char *next_string(struct state *s, long length, bool is_line)
{
    memcpy(room, next_text(s), length);
    for (long i = 0; i < length; i++)
        if (room[i] == '\n')
            room[i] = ';';
    if (is_line && length > 0)
        room[length - 1] = '\n';
    room[length] = 0;
    return room;
}

/* A name of a script:
 *   f0 d/f0 ./f0    as it stands there, below the branch's directory
 *   =f0             from the root of all files
 *   +f0             in shared memory
 *   %d3 &d3         by the number of a descriptor: /dev/fd/3, /proc/self/fd/3
 *   /dev/null       as it stands there */
static char *name(struct state *s, const char *word, char *path)
{
    char below[16] = "", flat[16] = "";
    if (s->branch >= 0) {
        snprintf(below, sizeof below, "t%d/", s->branch);
        snprintf(flat, sizeof flat, "t%d-", s->branch);
    }
    switch (word[0]) {
    case '=': snprintf(path, PATH_MAX, "%s/s%u/%s%s", root, script, below, word + 1); break;
    case '+': snprintf(path, PATH_MAX, "%ss%u-%s%s", shared_memory, script, flat, word + 1); break;
    case '%': snprintf(path, PATH_MAX, "/dev/fd/%d", s->descriptor[slot(word + 1)]); break;
    case '&': snprintf(path, PATH_MAX, "/proc/self/fd/%d", s->descriptor[slot(word + 1)]); break;
    case '/': snprintf(path, PATH_MAX, "%s", word); break;
    default: snprintf(path, PATH_MAX, "%s%s", below, word);
    }
    return path;
}

static void prepare_texts(void)
{
    for (size_t i = 0; i < sizeof text; i++) {
        char letter = i % 29 < 3 ? (char)('0' + i % 7) : (char)('a' + i % 23);
        text[i] = i % 71 == 50 ? '\n' : i % 13 == 9 ? ' ' : letter;
    }
    for (size_t i = 0; i < WIDE; i++) {
        wchar_t letter = i % 61 == 60 ? L'\n' : L'a' + (wchar_t)(i % 23);
        wide_text[i] = i % 17 == 4 ? L'\u00e9' : i % 41 == 7 ? L'\u20ac' : letter;
    }
}

static void prepare_state(struct state *s)
{
    memset(s, 0, offsetof(struct state, own));
    s->branch = -1;
    for (int i = 0; i < DESCRIPTORS; i++)
        s->descriptor[i] = -1;
}

typedef void operation(struct state *, char **);
#define OP(name) static void op_##name(struct state *s, char **w)
/* Unused where an operation has no words. */
#define NO_WORDS (void)w
#define STREAM(f, word) \
    FILE *f = s->stream[stream_slot(word)]; \
    if (!f) { \
        nothing_there(s); \
        return; \
    }
#define DESCRIPTOR(d, word) \
    int d = s->descriptor[slot(word)]; \
    if (d < 0) { \
        nothing_there(s); \
        return; \
    }

#endif
