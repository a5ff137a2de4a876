/* Streams of wide characters. */
#ifndef PLAYS_STREAMS_WIDE_H
#define PLAYS_STREAMS_WIDE_H

#include "state.h"

static wchar_t *wide_room(void)
{
    return (wchar_t *)room;
}

/* Of that length, at most a quarter of the room, with an end. */
static const wchar_t *wide_string(struct state *s, long length)
{
    wmemcpy(wide_room(), wide_text + s->written++ * 13 % 999, length);
    wide_room()[length] = 0;
    return wide_room();
}

#define READS_WIDE(function) \
    OP(function) \
    { \
        STREAM(f, w[1]); \
        long got = 0, asked = number(w[2]); \
        for (wint_t c; got < asked && (c = function(f)) != WEOF; got++) \
            wide_room()[got] = (wchar_t)c; \
        told_data(s, got, room, got * sizeof(wchar_t)); \
    }
READS_WIDE(fgetwc)
READS_WIDE(getwc)

OP(ungetwc) { STREAM(f, w[1]); told(s, (long)(int)ungetwc((wint_t)number(w[2]), f)); }

OP(fgetws)
{
    STREAM(f, w[1]);
    wchar_t *got = fgetws(wide_room(), (int)number(w[2]), f);
    told_data(s, got ? 1 : 0, room, got ? wcslen(got) * sizeof(wchar_t) : 0);
}

OP(fwscanf)
{
    STREAM(f, w[1]);
    int got = 0, value = 0;
    wide_room()[0] = 0;
    switch (number(w[2])) {
    case 0: got = fwscanf(f, L"%99ls", room); break;
    case 1: got = fwscanf(f, L"%*[a-z ]%d", &value); break;
    default: got = fwscanf(f, L"%*[^\001]");
    }
    told_data(s, got, room, wcslen(wide_room()) * sizeof(wchar_t));
}

#define WRITES_WIDE(function) \
    OP(function) \
    { \
        STREAM(f, w[1]); \
        const wchar_t *from = wide_text + s->written++ * 13 % 999; \
        long put = 0, asked = number(w[2]); \
        for (; put < asked && function(from[put], f) != WEOF; put++) \
            ; \
        told(s, put); \
    }
WRITES_WIDE(fputwc)
WRITES_WIDE(putwc)

OP(fputws) { STREAM(f, w[1]); told(s, fputws(wide_string(s, number(w[2])), f)); }
OP(fwprintf) { STREAM(f, w[1]); told(s, fwprintf(f, L"%d %ls\n", 7, wide_string(s, number(w[2])))); }

#endif
