/* 
 * What POSIX and stdio calls cost: CPU time per call, the best of several batches, as one JSON line.
 *
 *   posix_calls pwrite N | pread N | write N     N calls of 8 bytes
 *   posix_calls fwrite N                         N calls of 64 KiB
 *   posix_calls fprintf N                        N lines
 *   posix_calls open N                           N times open and close
 *   posix_calls null N                           N writes of 8 bytes to /dev/null
 *
 * The file is FILE in the environment.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BATCHES = 40 };

static char data[65536];

static double cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
    const char *name = getenv("FILE");
    if (argc != 3 || !name)
        return 2;
    const char *what = argv[1];
    long calls = atol(argv[2]) / BATCHES, wrong = 0;
    double best = 1e9, all = 0;
    int file = open(strcmp(what, "null") ? name : "/dev/null", O_CREAT | O_RDWR, 0600);
    FILE *stream = fopen(name, "r+");
    if (file < 0 || !stream || pwrite(file, data, sizeof data, 0) < 0)
        return 1;
    for (int batch = 0; batch < BATCHES; batch++) {
        lseek(file, 0, SEEK_SET);
        rewind(stream);
        double began = cpu();
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
            else {
                int again = open(name, O_RDONLY);
                wrong += again < 0 || close(again) != 0;
            }
        }
        double took = (cpu() - began) / (double)calls * 1e9;
        all += took;
        if (took < best)
            best = took;
    }
    printf("{\"best_ns\": %.1f, \"mean_ns\": %.1f, \"wrong\": %ld}\n", best, all / BATCHES, wrong);
    return wrong != 0;
}
