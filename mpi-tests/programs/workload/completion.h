/* Completes nonblocking requests in each of the eight ways MPI has, keeping the times the program spent in it
 * (MPI 4.1, section 3.7.5). */
#ifndef WORKLOAD_COMPLETION_H
#define WORKLOAD_COMPLETION_H

#include "account.h"
#include "options.h"
#include <mpi.h>

/* Requests under way: requests[i] will transfer expected[i] bytes. */
struct outstanding {
    int count;
    MPI_Request *requests;
    int *expected;
    enum class class;
    bool complete;
    double issue_time; /* inside the calls that issued these */
    /* Scratch space of the same length. */
    MPI_Request *copies;
    MPI_Status *statuses;
    int *indices;
};

static void begin_requests(struct outstanding *o) {
    o->count = 0;
    o->complete = false;
    o->issue_time = 0;
}

static void check(int rc, const char *what) {
    if (rc != MPI_SUCCESS) {
        char text[MPI_MAX_ERROR_STRING] = "";
        int length;
        MPI_Error_string(rc, text, &length);
        fprintf(stderr, "workload: %s: %s\n", what, text);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void compare_status(struct account *a, MPI_Status *status, long long expected) {
    MPI_Count bytes;
    check(MPI_Get_elements_x(status, MPI_BYTE, &bytes), "MPI_Get_elements_x");
    a->status_mismatches += bytes != expected;
}

/* One call that completed `completed` requests. */
static void count_call(struct account *a, enum class class, bool blocking, double start, int completed) {
    double elapsed = now() - start;
    if (completed)
        a->wait_time[class] += elapsed;
    else
        a->test_time[class] += elapsed;
    if (blocking || !completed)
        a->lost_time[class] += elapsed;
}

/* The application's own array is left behind, and the requests are completed from a copy in reverse order. */
static MPI_Request *copy_requests(struct outstanding *o) {
    for (int i = 0; i < o->count; i++) {
        o->copies[i] = o->requests[o->count - 1 - i];
        o->requests[o->count - 1 - i] = MPI_REQUEST_NULL;
    }
    for (int i = 0, j = o->count - 1; i < j; i++, j--) {
        int expected = o->expected[i];
        o->expected[i] = o->expected[j];
        o->expected[j] = expected;
    }
    return o->copies;
}

static bool test_all(struct account *a, struct outstanding *o, MPI_Request *requests, bool ignore_status) {
    int flag = 0;
    double start = now();
    check(MPI_Testall(o->count, requests, &flag, ignore_status ? MPI_STATUSES_IGNORE : o->statuses),
          "MPI_Testall");
    count_call(a, o->class, false, start, flag);
    for (int i = 0; flag && !ignore_status && i < o->count; i++)
        compare_status(a, &o->statuses[i], o->expected[i]);
    return flag;
}

static void complete_one_by_one(struct account *a, struct outstanding *o, MPI_Request *requests, bool wait,
                                bool ignore_status) {
    for (int i = 0; i < o->count; i++) {
        MPI_Status *status = ignore_status ? MPI_STATUS_IGNORE : &o->statuses[i];
        for (int flag = 0; !flag;) {
            double start = now();
            if (wait) {
                check(MPI_Wait(&requests[i], status), "MPI_Wait");
                flag = 1;
            } else {
                check(MPI_Test(&requests[i], &flag, status), "MPI_Test");
            }
            count_call(a, o->class, wait, start, flag);
        }
        if (!ignore_status)
            compare_status(a, status, o->expected[i]);
    }
}

static void complete_any(struct account *a, struct outstanding *o, MPI_Request *requests, bool wait,
                         bool ignore_status) {
    for (int left = o->count; left > 0;) {
        MPI_Status *status = ignore_status ? MPI_STATUS_IGNORE : &o->statuses[0];
        int index = MPI_UNDEFINED, flag = 0;
        double start = now();
        if (wait) {
            check(MPI_Waitany(o->count, requests, &index, status), "MPI_Waitany");
            flag = 1;
        } else {
            check(MPI_Testany(o->count, requests, &index, &flag, status), "MPI_Testany");
        }
        count_call(a, o->class, wait, start, flag);
        if (flag) {
            left--;
            if (!ignore_status)
                compare_status(a, status, o->expected[index]);
        }
    }
}

static void complete_some(struct account *a, struct outstanding *o, MPI_Request *requests, bool wait,
                          bool ignore_status) {
    for (int left = o->count; left > 0;) {
        MPI_Status *statuses = ignore_status ? MPI_STATUSES_IGNORE : o->statuses;
        int done = 0;
        double start = now();
        if (wait)
            check(MPI_Waitsome(o->count, requests, &done, o->indices, statuses), "MPI_Waitsome");
        else
            check(MPI_Testsome(o->count, requests, &done, o->indices, statuses), "MPI_Testsome");
        count_call(a, o->class, wait, start, done);
        left -= done;
        for (int i = 0; !ignore_status && i < done; i++)
            compare_status(a, &statuses[i], o->expected[o->indices[i]]);
    }
}

static void complete_requests(const struct options *options, struct account *a, struct outstanding *o) {
    if (o->complete || !o->count)
        return;
    MPI_Request *requests = options->copy_request ? copy_requests(o) : o->requests;
    bool ignore_status = options->ignore_status;
    o->complete = true;
    if (options->completion < TEST)
        a->lost_time[o->class] += o->issue_time;
    switch (options->completion) {
    case WAIT: complete_one_by_one(a, o, requests, true, ignore_status); return;
    case TEST: complete_one_by_one(a, o, requests, false, ignore_status); return;
    case WAITANY: complete_any(a, o, requests, true, ignore_status); return;
    case TESTANY: complete_any(a, o, requests, false, ignore_status); return;
    case WAITSOME: complete_some(a, o, requests, true, ignore_status); return;
    case TESTSOME: complete_some(a, o, requests, false, ignore_status); return;
    case TESTALL:
        while (!test_all(a, o, requests, ignore_status))
            ;
        return;
    case WAITALL: {
        double start = now();
        check(MPI_Waitall(o->count, requests, ignore_status ? MPI_STATUSES_IGNORE : o->statuses),
              "MPI_Waitall");
        count_call(a, o->class, true, start, o->count);
        for (int i = 0; !ignore_status && i < o->count; i++)
            compare_status(a, &o->statuses[i], o->expected[i]);
    }
    }
}

#endif
