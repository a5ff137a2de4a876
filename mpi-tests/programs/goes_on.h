/* What programs share that show whether they are held up while the trace's file system does not answer: they
 * stop at points where it is frozen, and keep the time of their longest call. Nothing here is a call that a
 * tracer wraps. */
#ifndef GOES_ON_H
#define GOES_ON_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *directory;
static int own_rank;
static double longest;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

/* Makes a call, and keeps how long it took if none was longer. */
#define TIMED(call)                                                                                     \
    do {                                                                                                \
        double began_ = now();                                                                          \
        call;                                                                                           \
        double took_ = now() - began_;                                                                  \
        longest = took_ > longest ? took_ : longest;                                                    \
    } while (0)

/* Says that it has come to a point (a directory DIRECTORY/at-POINT.RANK) and waits for DIRECTORY/go-POINT, at
 * most two minutes. */
static void stop_at(const char *point)
{
    char name[4096];
    snprintf(name, sizeof name, "%s/at-%s.%d", directory, point, own_rank);
    mkdir(name, 0700);
    snprintf(name, sizeof name, "%s/go-%s", directory, point);
    for (int i = 0; i < 12000 && access(name, F_OK); i++)
        usleep(10000);
}

/* DIRECTORY/longest-MILLISECONDS.RANK is how the test learns it. */
static void tell_longest(void)
{
    char name[4096];
    snprintf(name, sizeof name, "%s/longest-%ld.%d", directory, (long)(longest * 1000), own_rank);
    mkdir(name, 0700);
}

#endif
