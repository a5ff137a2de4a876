/* Streams of bytes: every function that reads from them or writes to them. */
#ifndef PLAYS_STREAMS_BYTES_H
#define PLAYS_STREAMS_BYTES_H

#include "state.h"
#include <err.h>
#include <error.h>
#include <signal.h>

OP(fread)
{
    STREAM(f, w[1]);
    long size = number(w[2]), got = (long)fread(room, size, number(w[3]), f);
    told_data(s, got, room, got * size);
}

OP(fread_unlocked)
{
    STREAM(f, w[1]);
    long size = number(w[2]), got = (long)fread_unlocked(room, size, number(w[3]), f);
    told_data(s, got, room, got * size);
}

/* One after the other, up to the end of the file. */
#define READS_ONE_BY_ONE(function) \
    OP(function) \
    { \
        STREAM(f, w[1]); \
        long got = 0, asked = number(w[2]); \
        for (int c; got < asked && (c = function(f)) != EOF; got++) \
            room[got] = (char)c; \
        told_data(s, got, room, got); \
    }
READS_ONE_BY_ONE(fgetc)
READS_ONE_BY_ONE(getc)
READS_ONE_BY_ONE(getc_unlocked)

OP(getchar)
{
    STREAM(f, "in");
    long got = 0, asked = number(w[1]);
    for (int c; f && got < asked && (c = getchar()) != EOF; got++)
        room[got] = (char)c;
    told_data(s, got, room, got);
}

OP(ungetc) { STREAM(f, w[1]); told(s, ungetc((int)number(w[2]), f)); }

OP(fgets)
{
    STREAM(f, w[1]);
    char *got = fgets(room, (int)number(w[2]), f);
    told_data(s, got ? 1 : 0, room, got ? strlen(room) : 0);
}

OP(fgets_unlocked)
{
    STREAM(f, w[1]);
    char *got = fgets_unlocked(room, (int)number(w[2]), f);
    told_data(s, got ? 1 : 0, room, got ? strlen(room) : 0);
}

OP(getline)
{
    STREAM(f, w[1]);
    char *line = NULL;
    size_t size = 0;
    ssize_t got = getline(&line, &size, f);
    told_data(s, got, line, got > 0 ? got : 0);
    free(line);
}

OP(getdelim)
{
    STREAM(f, w[1]);
    char *line = NULL;
    size_t size = 0;
    ssize_t got = getdelim(&line, &size, (int)number(w[2]), f);
    told_data(s, got, line, got > 0 ? got : 0);
    free(line);
}

static int scan_by_list(FILE *f, const char *format, ...)
{
    va_list places;
    va_start(places, format);
    int got = vfscanf(f, format, places);
    va_end(places);
    return got;
}

/* The last ones read on through many buffers. */
OP(fscanf)
{
    STREAM(f, w[1]);
    int got = 0, value = 0;
    room[0] = 0;
    switch (number(w[2])) {
    case 0: got = fscanf(f, "%99s", room); break;
    case 1: got = fscanf(f, "%*[a-z ]%d", &value); break;
    case 2: got = fscanf(f, "%5c", room), room[5] = 0; break;
    case 3: got = fscanf(f, "%*[^\n]"); break;
    case 4: got = fscanf(f, "%*[^\001]"); break;
    default: got = scan_by_list(f, "%*[^#]%d", &value);
    }
    told_data(s, got, room, strlen(room));
}

OP(vfscanf)
{
    STREAM(f, w[1]);
    int value = 0;
    room[0] = 0;
    int got = number(w[2]) == 0 ? scan_by_list(f, "%99s", room) : scan_by_list(f, "%*[a-z \n]%d", &value);
    told_data(s, got, room, strlen(room));
}

OP(scanf)
{
    STREAM(f, "in");
    room[0] = 0;
    int got = f && number(w[1]) == 0 ? scanf("%99s", room) : scanf("%*[^\n]");
    told_data(s, got, room, strlen(room));
}

OP(fwrite) { STREAM(f, w[1]); told(s, (long)fwrite(next_text(s), number(w[2]), number(w[3]), f)); }

OP(fwrite_unlocked)
{
    STREAM(f, w[1]);
    told(s, (long)fwrite_unlocked(next_text(s), number(w[2]), number(w[3]), f));
}

#define WRITES_ONE_BY_ONE(function) \
    OP(function) \
    { \
        STREAM(f, w[1]); \
        const char *from = next_text(s); \
        long put = 0, asked = number(w[2]); \
        for (; put < asked && function(from[put], f) != EOF; put++) \
            ; \
        told(s, put); \
    }
WRITES_ONE_BY_ONE(fputc)
WRITES_ONE_BY_ONE(putc)
WRITES_ONE_BY_ONE(putc_unlocked)

OP(putchar)
{
    STREAM(f, "out");
    const char *from = next_text(s);
    long put = 0, asked = number(w[1]);
    for (; f && put < asked && putchar(from[put]) != EOF; put++)
        ;
    told(s, put);
}

static int print_by_list(FILE *f, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    int put = vfprintf(f, format, values);
    va_end(values);
    return put;
}

OP(fputs) { STREAM(f, w[1]); told(s, fputs(next_string(s, number(w[2]), true), f)); }
OP(fputs_unlocked) { STREAM(f, w[1]); told(s, fputs_unlocked(next_string(s, number(w[2]), false), f)); }
OP(fprintf) { STREAM(f, w[1]); told(s, fprintf(f, "%d %s\n", 12345, next_string(s, number(w[2]), false))); }
OP(vfprintf) { STREAM(f, w[1]); told(s, print_by_list(f, "%s %g", next_string(s, number(w[2]), 0), 1.5)); }
OP(puts) { STREAM(f, "out"); told(s, f ? puts(next_string(s, number(w[1]), false)) : 0); }
OP(printf) { STREAM(f, "out"); told(s, f ? printf("%x %s\n", 255, next_string(s, number(w[1]), false)) : 0); }

/* Functions of the C library that write to the standard error by themselves. */
OP(perror) { NO_WORDS; STREAM(f, "err"); errno = ENOENT; perror(f ? "perror" : ""); told(s, 0); }
OP(psignal) { NO_WORDS; STREAM(f, "err"); psignal(SIGTERM, f ? "psignal" : ""); told(s, 0); }
OP(warnx) { STREAM(f, "err"); warnx("%s", f ? next_string(s, number(w[1]), false) : ""); told(s, 0); }
OP(error) { STREAM(f, "err"); error(0, 0, "%s", f ? next_string(s, number(w[1]), false) : ""); told(s, 0); }

#endif
