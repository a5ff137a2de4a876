/* Random interleavings of file operations, requests, threads and completions, checked by the program's own
 * account: blocking and nonblocking reads and writes of any size, also 0; requests completed in any of MPI's
 * ways, in any order, from copies, by another thread than the one that issued them, among point-to-point and
 * null requests; files opened and closed; flushes. Same seed, same steps of each thread.
 * usage: stress DIRECTORY SEED STEPS THREADS [no-testall] [one-at-a-time]
 * With the last word no two threads are inside MPI at once, for MPIs that do not stand it. */
#define _GNU_SOURCE
#include "tmio.h"
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum class { WRITE_SYNC, READ_SYNC, WRITE_ASYNC, READ_ASYNC, CLASSES };
static const char *const NAMES[CLASSES] = {"write_sync", "read_sync", "write_async", "read_async"};
enum { MOST = 24, SLOT = 8192, SLOTS = 32, POOL = 64 };

struct pending {
    MPI_Request request;
    char *buffer;
    int bytes; /* -1: not a file operation */
    enum class class;
};

struct worker {
    uint64_t random;
    int number, steps;
    long long ops[CLASSES], bytes[CLASSES], wrong;
    struct pending pending[MOST];
    int count;
    MPI_File file;
    int files;
};

static const char *directory;
static int rank;
static bool testall = true, one_at_a_time = false;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

/* Requests that wait for any thread to complete them. */
static struct pending pool[POOL];
static int pooled;
static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t any(struct worker *w, uint64_t below) {
    uint64_t z = (w->random += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return (z ^ (z >> 31)) % below;
}

static void check(int rc, const char *what) {
    if (rc != MPI_SUCCESS) {
        fprintf(stderr, "stress: %s failed\n", what);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* A file of SLOTS * SLOT bytes, so that every read is a whole one. */
static void open_file(struct worker *w) {
    char name[4096];
    static const char zeros[SLOT];
    snprintf(name, sizeof name, "%s/stress_%ld_%d_%d", directory, (long)getpid(), w->number, w->files++);
    check(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                        MPI_INFO_NULL, &w->file),
          "MPI_File_open");
    for (int i = 0; i < SLOTS; i++) {
        check(MPI_File_write_at(w->file, (MPI_Offset)i * SLOT, zeros, SLOT, MPI_BYTE, MPI_STATUS_IGNORE),
              "MPI_File_write_at");
        w->ops[WRITE_SYNC]++;
        w->bytes[WRITE_SYNC] += SLOT;
    }
}

/* Half of them small: an eighth is of no bytes at all. */
static int any_size(struct worker *w) {
    return any(w, 8) ? (int)(1 + any(w, any(w, 2) ? 64 : SLOT)) : 0;
}

static void blocking(struct worker *w) {
    char data[SLOT];
    bool write = any(w, 2);
    int size = any_size(w);
    MPI_Status status;
    MPI_Status *place = any(w, 2) ? &status : MPI_STATUS_IGNORE;
    MPI_Offset offset = (MPI_Offset)any(w, SLOTS) * SLOT;
    memset(data, 'b', sizeof data);
    if (write)
        check(MPI_File_write_at(w->file, offset, data, size, MPI_BYTE, place), "MPI_File_write_at");
    else
        check(MPI_File_read_at(w->file, offset, data, size, MPI_BYTE, place), "MPI_File_read_at");
    w->ops[write ? WRITE_SYNC : READ_SYNC]++;
    w->bytes[write ? WRITE_SYNC : READ_SYNC] += size;
}

static void issue(struct worker *w) {
    if (w->count == MOST)
        return;
    struct pending *p = &w->pending[w->count++];
    bool write = any(w, 2);
    MPI_Offset offset = (MPI_Offset)any(w, SLOTS) * SLOT;
    p->bytes = any_size(w);
    p->class = write ? WRITE_ASYNC : READ_ASYNC;
    p->buffer = malloc(SLOT);
    memset(p->buffer, 'n', SLOT);
    if (write)
        check(MPI_File_iwrite_at(w->file, offset, p->buffer, p->bytes, MPI_BYTE, &p->request),
              "MPI_File_iwrite_at");
    else
        check(MPI_File_iread_at(w->file, offset, p->buffer, p->bytes, MPI_BYTE, &p->request),
              "MPI_File_iread_at");
}

/* A message to itself: a request that is none of the tracer's business. */
static void message(struct worker *w) {
    if (w->count + 2 > MOST)
        return;
    for (int receive = 0; receive < 2; receive++) {
        struct pending *p = &w->pending[w->count++];
        *p = (struct pending){.bytes = -1, .buffer = malloc(8)};
        memset(p->buffer, 'm', 8);
        if (receive)
            check(MPI_Irecv(p->buffer, 8, MPI_BYTE, 0, w->number, MPI_COMM_SELF, &p->request), "MPI_Irecv");
        else
            check(MPI_Isend(p->buffer, 8, MPI_BYTE, 0, w->number, MPI_COMM_SELF, &p->request), "MPI_Isend");
    }
}

static void completed(struct worker *w, struct pending *p, MPI_Status *status) {
    if (p->bytes >= 0) {
        int bytes = p->bytes;
        if (status)
            check(MPI_Get_count(status, MPI_BYTE, &bytes), "MPI_Get_count");
        w->wrong += bytes != p->bytes;
        w->ops[p->class]++;
        w->bytes[p->class] += p->bytes;
    }
    free(p->buffer);
    p->buffer = NULL;
}

/* Completes what it will of the first `n` pending operations, from a copy of the requests with null ones
 * between. */
static void complete(struct worker *w, int n, int way) {
    MPI_Request requests[2 * MOST];
    MPI_Status statuses[2 * MOST];
    int owner[2 * MOST], indices[2 * MOST], length = 0, flag = 0, done = 0, index = MPI_UNDEFINED;
    for (int i = 0; i < n; i++) {
        if (!any(w, 5)) {
            owner[length] = -1;
            requests[length++] = MPI_REQUEST_NULL;
        }
        owner[length] = i;
        requests[length++] = w->pending[i].request;
    }
    bool ignore = any(w, 2);
    MPI_Status *one = ignore ? MPI_STATUS_IGNORE : statuses, *all = ignore ? MPI_STATUSES_IGNORE : statuses;
    bool finished[2 * MOST] = {false};
    int status_of[2 * MOST];
    for (int i = 0; i < length; i++)
        status_of[i] = i;
    switch (way) {
    case 0: /* each by itself, in any order */
        for (int i = (int)any(w, 2) ? length - 1 : 0, step = i ? -1 : 1; i >= 0 && i < length; i += step) {
            check(MPI_Wait(&requests[i], ignore ? MPI_STATUS_IGNORE : &statuses[i]), "MPI_Wait");
            finished[i] = true;
        }
        break;
    case 1:
        check(MPI_Waitall(length, requests, all), "MPI_Waitall");
        for (int i = 0; i < length; i++)
            finished[i] = true;
        break;
    case 2:
        check(MPI_Waitany(length, requests, &index, one), "MPI_Waitany");
        if (index != MPI_UNDEFINED)
            finished[index] = true, status_of[index] = 0;
        break;
    case 3:
        check(MPI_Waitsome(length, requests, &done, indices, all), "MPI_Waitsome");
        for (int i = 0; i < done && done != MPI_UNDEFINED; i++)
            finished[indices[i]] = true, status_of[indices[i]] = i;
        break;
    case 4:
        for (int i = 0; i < length; i++) {
            check(MPI_Test(&requests[i], &flag, ignore ? MPI_STATUS_IGNORE : &statuses[i]), "MPI_Test");
            finished[i] = flag;
        }
        break;
    case 5:
        check(MPI_Testany(length, requests, &index, &flag, one), "MPI_Testany");
        if (flag && index != MPI_UNDEFINED)
            finished[index] = true, status_of[index] = 0;
        break;
    case 6:
        check(MPI_Testsome(length, requests, &done, indices, all), "MPI_Testsome");
        for (int i = 0; i < done && done != MPI_UNDEFINED; i++)
            finished[indices[i]] = true, status_of[indices[i]] = i;
        break;
    case 7:
        check(MPI_Testall(length, requests, &flag, all), "MPI_Testall");
        for (int i = 0; i < length; i++)
            finished[i] = flag;
        break;
    }
    for (int i = 0; i < length; i++) {
        if (owner[i] < 0)
            continue;
        struct pending *p = &w->pending[owner[i]];
        p->request = requests[i];
        if (finished[i])
            completed(w, p, ignore ? NULL : &statuses[status_of[i]]);
    }
    int left = 0;
    for (int i = 0; i < w->count; i++)
        if (w->pending[i].buffer)
            w->pending[left++] = w->pending[i];
    w->count = left;
}

/* Gives an operation to whoever wants it, or takes one. A message stays: its other half is with this
 * thread. */
static void exchange(struct worker *w) {
    pthread_mutex_lock(&pool_lock);
    if (any(w, 2)) {
        if (w->count && pooled < POOL && w->pending[w->count - 1].bytes >= 0)
            pool[pooled++] = w->pending[--w->count];
    } else if (pooled && w->count < MOST) {
        w->pending[w->count++] = pool[--pooled];
    }
    pthread_mutex_unlock(&pool_lock);
}

static void take_turn(void) {
    if (one_at_a_time)
        pthread_mutex_lock(&turn);
}

static void end_turn(void) {
    if (one_at_a_time)
        pthread_mutex_unlock(&turn);
}

static void *work(void *argument) {
    struct worker *w = argument;
    take_turn();
    open_file(w);
    end_turn();
    for (int step = 0; step < w->steps; step++) {
        take_turn();
        switch (any(w, 16)) {
        case 0: case 1: case 2: blocking(w); break;
        case 3: case 4: case 5: case 6: case 7: issue(w); break;
        case 8: message(w); break;
        case 9: exchange(w); break;
        case 10:
            if (!any(w, 40))
                iotrace_summary();
            break;
        default:
            if (w->count)
                complete(w, 1 + (int)any(w, (uint64_t)w->count), (int)any(w, testall ? 8 : 7));
        }
        end_turn();
    }
    take_turn();
    while (w->count)
        complete(w, w->count, 1);
    end_turn();
    return NULL;
}

/* MPICH sets up its MPI-IO in the first open, and several threads at once break that. */
static void open_first_file(void) {
    char name[4096];
    MPI_File file;
    snprintf(name, sizeof name, "%s/first_%d", directory, rank);
    check(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                        MPI_INFO_NULL, &file),
          "MPI_File_open");
    check(MPI_File_close(&file), "MPI_File_close");
}

int main(int argc, char **argv) {
    int provided, ranks;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (argc < 5 || provided < MPI_THREAD_MULTIPLE)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    directory = argv[1];
    for (int i = 5; i < argc; i++) {
        testall &= strcmp(argv[i], "no-testall") != 0;
        one_at_a_time |= !strcmp(argv[i], "one-at-a-time");
    }
    open_first_file();
    int threads = atoi(argv[4]);
    struct worker *workers = calloc((size_t)threads, sizeof *workers);
    pthread_t *ids = calloc((size_t)threads, sizeof *ids);
    for (int t = 0; t < threads; t++) {
        workers[t] =
            (struct worker){.random = strtoull(argv[2], NULL, 10) * 1000003 + (uint64_t)(rank * 1000 + t),
                            .number = t,
                            .steps = atoi(argv[3])};
        if (pthread_create(&ids[t], NULL, work, &workers[t]))
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int t = 0; t < threads; t++)
        pthread_join(ids[t], NULL);
    /* What nobody took. */
    for (struct worker *w = workers; pooled;) {
        w->pending[w->count++] = pool[--pooled];
        complete(w, 1, 0);
    }
    long long mine[2 * CLASSES + 1] = {0}, total[2 * CLASSES + 1];
    for (int t = 0; t < threads; t++) {
        check(MPI_File_close(&workers[t].file), "MPI_File_close");
        for (int c = 0; c < CLASSES; c++) {
            mine[2 * c] += workers[t].ops[c];
            mine[2 * c + 1] += workers[t].bytes[c];
        }
        mine[2 * CLASSES] += workers[t].wrong;
    }
    MPI_Reduce(mine, total, 2 * CLASSES + 1, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (!rank) {
        printf("{\"ranks\": %d, \"total\": {\"status_mismatches\": %lld", ranks, total[2 * CLASSES]);
        for (int c = 0; c < CLASSES; c++)
            printf(", \"%s\": {\"ops\": %lld, \"bytes\": %lld}", NAMES[c], total[2 * c], total[2 * c + 1]);
        printf("}}\n");
    }
    free(workers);
    free(ids);
    MPI_Finalize();
    return 0;
}
