/* One phase of I/O of one rank, or of one of its threads: which bytes go where, by which calls, and the
 * account of it. */
#ifndef WORKLOAD_PHASE_H
#define WORKLOAD_PHASE_H

#include "access.h"
#include "account.h"
#include "completion.h"
#include "pattern.h"
#include <errno.h>
#include <unistd.h>

/* What all threads of a rank share and do not change. */
struct job {
    struct options options;
    int rank, ranks;
    MPI_File *files;      /* one for each of options.files, or */
    int *descriptors;     /* with --posix */
    MPI_Datatype memory;  /* one request in memory */
    int memory_count;
    size_t block;         /* of pattern.h */
    size_t buffer_size;   /* of one request in memory, with its gaps */
    int written;          /* phases that wrote */
    bool interleaved;     /* by a file view: offsets count this rank's own bytes only */
};

struct worker {
    const struct job *job;
    int thread;
    unsigned char *buffers; /* one for each request that can be under way, and one for zero bytes */
    struct outstanding outstanding;
    struct account account;
    uint64_t numbers_written,
        numbers_read; /* sums, for shared pointers, where any rank may read any request */
    int phase;
    double began; /* when the first request of the phase was issued */
};

static bool is_asynchronous(const struct options *o) {
    return !o->posix && (o->access == NONBLOCKING || o->access == NONBLOCKING_COLLECTIVE);
}

static void *allocate(size_t count, size_t size) {
    void *memory = calloc(count ? count : 1, size);
    if (!memory) {
        fprintf(stderr, "workload: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory;
}

static void prepare_worker(struct worker *w, const struct job *job, int thread) {
    size_t slots = (size_t)job->options.requests + 1;
    *w = (struct worker){.job = job, .thread = thread};
    w->buffers = allocate(is_asynchronous(&job->options) ? slots : 1, job->buffer_size);
    w->outstanding.requests = allocate(slots, sizeof(MPI_Request));
    w->outstanding.copies = allocate(slots, sizeof(MPI_Request));
    w->outstanding.statuses = allocate(slots, sizeof(MPI_Status));
    w->outstanding.expected = allocate(slots, sizeof(int));
    w->outstanding.indices = allocate(slots, sizeof(int));
}

static void release_worker(struct worker *w) {
    free(w->buffers);
    free(w->outstanding.requests);
    free(w->outstanding.copies);
    free(w->outstanding.statuses);
    free(w->outstanding.expected);
    free(w->outstanding.indices);
}

/* Requests of one phase in one file: all ranks' if they share the file. */
static long long slots_per_phase(const struct job *job) {
    const struct options *o = &job->options;
    int sharing = o->layout == SHARED_FILE ? job->ranks : 1;
    return (long long)sharing * o->threads * (o->requests / o->files);
}

/* Where in its file request `q` of this worker lies, counted in requests. */
static long long slot(const struct worker *w, int q) {
    const struct options *o = &w->job->options;
    long long per_file = o->requests / o->files;
    long long place = w->thread * per_file + q / o->files;
    if (w->job->interleaved)
        return w->phase * o->threads * per_file + place;
    if (o->layout == SHARED_FILE)
        place += w->job->rank * o->threads * per_file;
    return w->phase * slots_per_phase(w->job) + place;
}

/* A number no other request of the run has; 0 is none. */
static uint64_t request_number(const struct worker *w, int rank, int thread, int q) {
    const struct options *o = &w->job->options;
    uint64_t number = (uint64_t)w->phase;
    number = number * (uint64_t)w->job->ranks + (uint64_t)rank;
    number = number * (uint64_t)o->threads + (uint64_t)thread;
    return (number * (uint64_t)o->requests + (uint64_t)q + 1) * 0x2545f4914f6cdd1dULL;
}

static unsigned char *buffer(const struct worker *w, int q) {
    return w->buffers + (is_asynchronous(&w->job->options) ? (size_t)q : 0) * w->job->buffer_size;
}

static void posix_transfer(struct worker *w, bool write, int q, long long offset, size_t size,
                           size_t expected) {
    int descriptor = w->job->descriptors[q % w->job->options.files];
    ssize_t bytes = write ? pwrite(descriptor, buffer(w, q), size, offset)
                          : pread(descriptor, buffer(w, q), size, offset);
    if (bytes != (ssize_t)expected) {
        fprintf(stderr, "workload: %s returned %zd: %s\n", write ? "pwrite" : "pread", bytes,
                strerror(errno));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    w->account.posix_ops[write ? 0 : 1]++;
    w->account.posix_bytes[write ? 0 : 1] += (long long)expected;
}

/* Performs or starts one request at byte `offset` that will transfer `expected` bytes, and counts it. */
static void transfer(struct worker *w, bool write, int q, long long offset, bool zero, int expected) {
    const struct options *o = &w->job->options;
    if (o->posix) {
        posix_transfer(w, write, q, offset, zero ? 0 : (size_t)o->size, (size_t)expected);
        return;
    }
    struct transfer t = {w->job->files[q % o->files], write, offset, buffer(w, q), w->job->memory_count,
                         w->job->memory};
    if (zero) {
        t.count = 0;
        t.datatype = MPI_BYTE;
    }
    bool asynchronous = is_asynchronous(o);
    enum class class = asynchronous ? (write ? WRITE_ASYNC : READ_ASYNC) : (write ? WRITE_SYNC : READ_SYNC);
    struct outstanding *out = &w->outstanding;
    MPI_Status status;
    double start = now();
    check(perform(o, &t, o->ignore_status ? MPI_STATUS_IGNORE : &status, &out->requests[out->count]),
          write ? "write" : "read");
    if (asynchronous) {
        double elapsed = now() - start;
        w->account.issue_time[class] += elapsed;
        out->issue_time += elapsed;
        out->class = class;
        out->expected[out->count++] = expected;
    } else if (!o->ignore_status) {
        compare_status(&w->account, &status, expected);
    }
    w->account.ops[class]++;
    w->account.bytes[class] += expected;
}

static void verify(struct worker *w, int q) {
    const struct job *job = w->job;
    const unsigned char *data = buffer(w, q);
    if (job->options.pointer == SHARED_POINTER) {
        uint64_t number = pattern_number(data, job->block);
        w->numbers_read += number;
        w->account.damaged += !holds_pattern(data, job->block, number, 0, (size_t)job->options.size);
    } else {
        w->account.damaged += !holds_pattern(data, job->block, request_number(w, job->rank, w->thread, q), 0,
                                             (size_t)job->options.size);
    }
}

/* Issues the phase's requests; nonblocking ones are under way when it returns. */
static void issue_phase(struct worker *w, bool write) {
    const struct options *o = &w->job->options;
    bool asynchronous = is_asynchronous(o);
    begin_requests(&w->outstanding);
    for (int q = 0; q < o->requests; q++) {
        if (write) {
            uint64_t number = request_number(w, w->job->rank, w->thread, q);
            fill_pattern(buffer(w, q), (size_t)o->size, w->job->block, number);
            w->numbers_written += number;
            if (o->corrupt && !w->job->rank && !w->thread && !w->phase && !q)
                buffer(w, q)[o->size / 4 - (o->size > 3)] ^= 1;
        } else {
            memset(buffer(w, q), 0, w->job->buffer_size);
        }
        if (!q) /* filling the buffer takes a while, and longer on a busy machine */
            w->began = now();
        transfer(w, write, q, slot(w, q) * o->size, false, o->size);
        if (!write && !asynchronous)
            verify(w, q);
        if (write && !w->phase && !q && o->prolong > 0)
            usleep((useconds_t)(1e6 * o->prolong));
    }
    if (o->zero)
        transfer(w, write, asynchronous ? o->requests : 0, slot(w, 0) * o->size, true, 0);
}

static void complete_phase(struct worker *w, bool write) {
    const struct options *o = &w->job->options;
    if (!is_asynchronous(o))
        return;
    complete_requests(o, &w->account, &w->outstanding);
    for (int q = 0; !write && q < o->requests; q++)
        verify(w, q);
}

/* One request that begins before the end of the first file and asks for more than is there. The file ends
 * with the last request of the phase: this rank's own as seen through an interleaved view, else the last
 * rank's. */
static void read_beyond_end(struct worker *w) {
    const struct job *job = w->job;
    const struct options *o = &job->options;
    int last_rank = job->interleaved || o->layout == FILE_PER_PROCESS ? job->rank : job->ranks - 1;
    uint64_t number = request_number(w, last_rank, o->threads - 1, o->requests - o->files);
    long long own_slots = (long long)o->threads * (o->requests / o->files);
    long long end = (w->phase + 1) * (job->interleaved ? own_slots : slots_per_phase(job)) * o->size;
    int there = o->size / 2;
    MPI_Offset offset = end - there;

    /* Ordered access: the ranks read one after the other, and only the first meets any data. */
    int expected = o->pointer == SHARED_POINTER && o->layout == SHARED_FILE && job->rank ? 0 : there;
    if (!o->posix && o->pointer == INDIVIDUAL_POINTER)
        check(MPI_File_seek(job->files[0], offset, MPI_SEEK_SET), "MPI_File_seek");
    if (!o->posix && o->pointer == SHARED_POINTER)
        check(MPI_File_seek_shared(job->files[0], offset, MPI_SEEK_SET), "MPI_File_seek_shared");
    begin_requests(&w->outstanding);
    memset(buffer(w, 0), 0, job->buffer_size);
    transfer(w, false, 0, offset, false, expected);
    if (is_asynchronous(o))
        complete_requests(o, &w->account, &w->outstanding);
    w->account.damaged +=
        !holds_pattern(buffer(w, 0), job->block, number, (size_t)(o->size - there), (size_t)expected);
}

/* Puts the file pointers where the phase begins; collective for shared pointers. */
static void seek_to_phase(struct worker *w) {
    const struct options *o = &w->job->options;
    for (int f = 0; f < o->files && !o->posix; f++) {
        if (o->pointer == INDIVIDUAL_POINTER)
            check(MPI_File_seek(w->job->files[f], slot(w, 0) * o->size, MPI_SEEK_SET), "MPI_File_seek");
        if (o->pointer == SHARED_POINTER)
            check(MPI_File_seek_shared(w->job->files[f], w->phase * slots_per_phase(w->job) * o->size,
                                       MPI_SEEK_SET),
                  "MPI_File_seek_shared");
    }
}

#endif
