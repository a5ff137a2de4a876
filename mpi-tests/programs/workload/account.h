/* What the program knows to be true about its own I/O, counted from what it asked for and the size of the
 * file, never from what MPI says it did: that is what the tracer is judged by. */
#ifndef WORKLOAD_ACCOUNT_H
#define WORKLOAD_ACCOUNT_H

#include <stdio.h>
#include <time.h>

enum class { WRITE_SYNC, READ_SYNC, WRITE_ASYNC, READ_ASYNC, CLASSES };
static const char *const CLASS_NAMES[CLASSES] = {"write_sync", "read_sync", "write_async", "read_async"};

struct account {
    long long ops[CLASSES], bytes[CLASSES];
    /* Nonblocking classes, in seconds: inside the i... calls; inside the calls that completed requests;
     * inside unsuccessful tests. And the time lost: inside the i... calls and the waits, or, where requests
     * are completed by tests, inside the unsuccessful ones. A call counts once, however many requests it is
     * about. */
    double issue_time[CLASSES], wait_time[CLASSES], test_time[CLASSES], lost_time[CLASSES];
    long long posix_ops[2], posix_bytes[2]; /* written, read */
    /* Operations whose MPI_Status holds another number of bytes than were transferred. */
    long long status_mismatches;
    /* Requests that read back something else than was written. */
    long long damaged;
};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void add_account(struct account *sum, const struct account *a) {
    for (int c = 0; c < CLASSES; c++) {
        sum->ops[c] += a->ops[c];
        sum->bytes[c] += a->bytes[c];
        sum->issue_time[c] += a->issue_time[c];
        sum->wait_time[c] += a->wait_time[c];
        sum->test_time[c] += a->test_time[c];
        sum->lost_time[c] += a->lost_time[c];
    }
    for (int d = 0; d < 2; d++) {
        sum->posix_ops[d] += a->posix_ops[d];
        sum->posix_bytes[d] += a->posix_bytes[d];
    }
    sum->status_mismatches += a->status_mismatches;
    sum->damaged += a->damaged;
}

/* The members of one JSON object, without its braces. */
static void print_account(const struct account *a) {
    for (int c = 0; c < CLASSES; c++) {
        printf("\"%s\": {\"ops\": %lld, \"bytes\": %lld", CLASS_NAMES[c], a->ops[c], a->bytes[c]);
        if (c == WRITE_ASYNC || c == READ_ASYNC)
            printf(", \"issue_time\": %.9f, \"wait_time\": %.9f, \"test_time\": %.9f, \"lost_time\": %.9f",
                   a->issue_time[c], a->wait_time[c], a->test_time[c], a->lost_time[c]);
        printf("}, ");
    }
    printf("\"posix\": {\"writes\": %lld, \"bytes_written\": %lld, \"reads\": %lld, \"bytes_read\": %lld}, ",
           a->posix_ops[0], a->posix_bytes[0], a->posix_ops[1], a->posix_bytes[1]);
    printf("\"status_mismatches\": %lld, \"damaged\": %lld", a->status_mismatches, a->damaged);
}

#endif
