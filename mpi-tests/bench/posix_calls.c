/*
 * What POSIX and stdio calls cost, as one JSON line. Calls are timed in short batches, because a batch that
 * nothing else has interrupted is rare on a busy machine: the shortest and the median batch by the clock, and
 * CPU time for the mean, in which everything counts that is done now and then.
 *
 *   posix_calls pwrite N | pread N | write N     N calls of 8 bytes
 *   posix_calls fwrite N                         N calls of 64 KiB
 *   posix_calls fprintf N                        N lines
 *   posix_calls open N                           N times open and close
 *   posix_calls null N                           N writes of 8 bytes to /dev/null
 *   posix_calls names N                          N times open and close, every time of a new name
 *
 * The file is FILE in the environment. Also says the largest memory that it had.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>


static char data[65536];

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The name of the n-th file. */
static const char *numbered(const char *name, long n)
{
    static char text[4096];
    snprintf(text, sizeof text, "%s-%07ld", name, n);
    return text;
}

int main(int argc, char **argv)
{
    const char *name = getenv("FILE");
    if (argc != 3 || !name)
        return 2;
    const char *what = argv[1];
    /* A batch of large calls is short, too. */
    long calls = strcmp(what, "fwrite") ? 100 : 10, batches = atol(argv[2]) / calls, wrong = 0;
    double *each = malloc((batches + 1) * sizeof *each);
    int file = open(strcmp(what, "null") ? name : "/dev/null", O_CREAT | O_RDWR, 0600);
    FILE *stream = fopen(name, "r+");
    if (!each || file < 0 || !stream || pwrite(file, data, sizeof data, 0) < 0)
        return 1;
    double began = now(CLOCK_PROCESS_CPUTIME_ID);
    for (long batch = 0; batch < batches; batch++) {
        lseek(file, 0, SEEK_SET);
        rewind(stream);
        double start = now(CLOCK_MONOTONIC);
        for (long i = 0; i < calls; i++) {
            if (!strcmp(what, "pwrite"))
                wrong += pwrite(file, data, 8, (i % 1000) * 8) != 8;
            else if (!strcmp(what, "pread"))
                wrong += pread(file, data, 8, (i % 1000) * 8) != 8;
            else if (!strcmp(what, "write") || !strcmp(what, "null"))
                wrong += write(file, data, 8) != 8;
            else if (!strcmp(what, "fwrite"))
                wrong += fwrite(data, 1, sizeof data, stream) != sizeof data;
            else if (!strcmp(what, "fprintf"))
                wrong += fprintf(stream, "%ld\n", i) < 0;
            else if (!strcmp(what, "names")) {
                int again = open(numbered(name, batch * calls + i), O_CREAT | O_RDWR, 0600);
                wrong += again < 0 || close(again) != 0;
            } else {
                int again = open(name, O_RDONLY);
                wrong += again < 0 || close(again) != 0;
            }
        }
        each[batch] = (now(CLOCK_MONOTONIC) - start) / (double)calls * 1e9;
        for (long i = 0; i < calls && !strcmp(what, "names"); i++)
            unlink(numbered(name, batch * calls + i));
    }
    double mean = (now(CLOCK_PROCESS_CPUTIME_ID) - began) / (double)(batches * calls) * 1e9;
    qsort(each, batches, sizeof *each, ascending);
    /* Not of getrusage, which counts the process that started this one, too. */
    long memory = 0;
    char line[200];
    for (FILE *status = fopen("/proc/self/status", "r"); status && fgets(line, sizeof line, status);)
        sscanf(line, "VmHWM: %ld", &memory);
    printf("{\"best_ns\": %.1f, \"median_ns\": %.1f, \"mean_ns\": %.1f, \"rss_kb\": %ld, \"wrong\": %ld}\n",
           each[0], each[batches / 2], mean, memory, wrong);
    return wrong != 0;
}
