/* An MPI program that behaves like the applications whose I/O has a period (compute, write, compute, write
 * ...) and that knows its own truth: `workload --help`. */
#define _GNU_SOURCE
#include <mpi.h>

#include "workload/name.h"
#include "workload/options.h"
#include "workload/phase.h"

#include "tmio.h"
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <sys/stat.h>

/* splitmix64: the same numbers for the same seed on every machine. */
static double uniform(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    z ^= z >> 31;
    return ((double)(z >> 11) + 0.5) / 9007199254740992.0; /* inside (0, 1) */
}

static double normal(uint64_t *state) {
    double radius = sqrt(-2 * log(uniform(state)));
    return radius * cos(6.283185307179586 * uniform(state));
}

static double exponential(uint64_t *state, double mean) { return -mean * log(uniform(state)); }

static void spend(double duration, bool busy) {
    double end = now() + duration;
    while (busy && now() < end)
        ;
    for (double left; !busy && (left = end - now()) > 0;) {
        struct timespec t = {(time_t)left, (long)((left - (double)(time_t)left) * 1e9)};
        nanosleep(&t, NULL);
    }
}

/* Every run has names of its own: an MPI that was killed can leave a lock behind that belongs to a name. */
static void file_name(char name[PATH_MAX], const struct options *o, const char *run, int file, int rank) {
    int length = snprintf(name, PATH_MAX, "%s/workload_%s_%d", o->directory, run, file);
    if (o->layout == FILE_PER_PROCESS)
        length += snprintf(name + length, (size_t)(PATH_MAX - length), "_rank%d", rank);
    snprintf(name + length, (size_t)(PATH_MAX - length), ".dat");
}

/* Ranks' blocks one after the other, over and over; a rank sees only its own. */
static void interleave(MPI_File file, const struct job *job, int position, int sharing) {
    MPI_Datatype block, tile;
    check(MPI_Type_contiguous((int)job->block, MPI_BYTE, &block), "MPI_Type_contiguous");
    check(MPI_Type_create_resized(block, 0, (MPI_Aint)job->block * sharing, &tile),
          "MPI_Type_create_resized");
    check(MPI_Type_commit(&tile), "MPI_Type_commit");
    check(MPI_File_set_view(file, (MPI_Offset)job->block * position, MPI_BYTE, tile, "native", MPI_INFO_NULL),
          "MPI_File_set_view");
    MPI_Type_free(&tile);
    MPI_Type_free(&block);
}

static void open_files(struct job *job, const char *run) {
    const struct options *o = &job->options;
    bool own = o->layout == FILE_PER_PROCESS;
    job->files = allocate((size_t)o->files, sizeof *job->files);
    job->descriptors = allocate((size_t)o->files, sizeof *job->descriptors);
    for (int f = 0; f < o->files; f++) {
        char name[PATH_MAX];
        file_name(name, o, run, f, job->rank);
        if (o->posix) {
            job->descriptors[f] = open(name, O_CREAT | O_RDWR, 0666);
            if (job->descriptors[f] < 0) {
                fprintf(stderr, "workload: %s: %s\n", name, strerror(errno));
                MPI_Abort(MPI_COMM_WORLD, 1);
            }
            continue;
        }
        check(MPI_File_open(own ? MPI_COMM_SELF : MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR,
                            MPI_INFO_NULL, &job->files[f]),
              name);
        if (job->interleaved)
            interleave(job->files[f], job, own ? 0 : job->rank, own ? 1 : job->ranks);
    }
}

static void close_files(struct job *job) {
    for (int f = 0; f < job->options.files; f++) {
        if (job->options.posix)
            close(job->descriptors[f]);
        else
            check(MPI_File_close(&job->files[f]), "MPI_File_close");
    }
    free(job->files);
    free(job->descriptors);
}

/* In memory a vector is four blocks with gaps between them. A shared pointer allows no view that differs
 * between ranks, so there the file is contiguous. */
static void prepare_datatype(struct job *job) {
    const struct options *o = &job->options;
    job->memory = MPI_BYTE;
    job->memory_count = o->size;
    job->block = job->buffer_size = (size_t)o->size;
    if (o->datatype == VECTOR) {
        int block = o->size / 4;
        check(MPI_Type_vector(4, block, 2 * block, MPI_BYTE, &job->memory), "MPI_Type_vector");
        check(MPI_Type_commit(&job->memory), "MPI_Type_commit");
        job->memory_count = 1;
        job->block = (size_t)block;
        job->buffer_size = 2 * (size_t)o->size;
        job->interleaved = o->pointer != SHARED_POINTER;
    }
}

static void compute_and_test(struct worker *w, double duration) {
    const struct options *o = &w->job->options;
    for (int slice = 0; slice < o->slices; slice++) {
        spend(duration / o->slices, o->busy);
        if (o->slices > 1 && !w->outstanding.complete)
            w->outstanding.complete =
                test_all(&w->account, &w->outstanding, w->outstanding.requests, o->ignore_status);
    }
}

/* The writes of one phase, then its reads, by one thread. */
struct turn {
    struct worker *worker;
    double compute; /* with --overlap, between issuing and completing */
    bool write;
};

static void *take_turn(void *argument) {
    struct turn *turn = argument;
    issue_phase(turn->worker, turn->write);
    if ((turn->write || turn->compute > 0) && turn->worker->job->options.overlap)
        compute_and_test(turn->worker, turn->compute);
    complete_phase(turn->worker, turn->write);
    return NULL;
}

static void all_threads(struct worker *workers, int threads, double compute, bool write) {
    struct turn *turns = allocate((size_t)threads, sizeof *turns);
    pthread_t *ids = allocate((size_t)threads, sizeof *ids);
    for (int t = 0; t < threads; t++) {
        turns[t] = (struct turn){&workers[t], compute, write};
        if (t && pthread_create(&ids[t], NULL, take_turn, &turns[t])) {
            fprintf(stderr, "workload: cannot create a thread\n");
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    take_turn(&turns[0]);
    for (int t = 1; t < threads; t++)
        pthread_join(ids[t], NULL);
    free(ids);
    free(turns);
}

/* Another rank may read what this one wrote only after sync, barrier, sync (MPI 4.1, section 14.6.1). */
static void make_visible(const struct job *job) {
    bool sync = !job->options.posix && job->options.pointer == SHARED_POINTER;
    for (int f = 0; sync && f < job->options.files; f++)
        check(MPI_File_sync(job->files[f]), "MPI_File_sync");
    MPI_Barrier(MPI_COMM_WORLD);
    for (int f = 0; sync && f < job->options.files; f++)
        check(MPI_File_sync(job->files[f]), "MPI_File_sync");
}

/* Runs all phases; starts and ends are in seconds since `origin`. */
static void run(struct job *job, struct worker *workers, double origin, double *starts, double *ends) {
    const struct options *o = &job->options;
    uint64_t common = (uint64_t)o->seed, own = (uint64_t)o->seed * 1000003 + (uint64_t)job->rank + 1;
    bool write = true;
    for (int phase = 0; phase < o->iterations; phase++) {
        double compute = fmax(0, o->compute + o->jitter * normal(&common));
        double delay = (o->desync > 0 ? exponential(&own, o->desync) : 0) + (phase ? 0 : o->delay);
        for (int t = 0; t < o->threads; t++)
            workers[t].phase =
                write ? job->written : job->written - 1;  /* a read goes over what was written last */
        double due = o->delay + (phase + 1) * o->compute; /* whatever the phases before took */
        spend(o->paced ? fmax(0, due - (now() - origin)) : o->overlap ? delay : compute + delay, o->busy);
        seek_to_phase(&workers[0]);
        all_threads(workers, o->threads, compute, write);
        ends[phase] = now() - origin;
        starts[phase] = workers[0].began - origin;
        for (int t = 1; t < o->threads; t++)
            starts[phase] = fmin(starts[phase], workers[t].began - origin);
        make_visible(job);
        job->written += write;
        if (o->transition >= 0 && 100 * uniform(&common) < o->transition)
            write = !write;
        if (o->read) {
            seek_to_phase(&workers[0]);
            all_threads(workers, o->threads, 0, false);
        }
        if (o->short_read)
            read_beyond_end(&workers[0]);
        if (o->flush)
            iotrace_summary();
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Rank 0, after the files were closed: whether they are as long as what was written to them. */
static bool check_sizes(const struct job *job, const char *run) {
    const struct options *o = &job->options;
    long long expected = job->written * slots_per_phase(job) * o->size;
    int owners = o->layout == SHARED_FILE ? 1 : job->ranks;
    bool right = true;
    printf("\"files\": [");
    for (int f = 0; f < o->files; f++)
        for (int r = 0; r < owners; r++) {
            char name[PATH_MAX];
            struct stat status = {0};
            file_name(name, o, run, f, r);
            right &= !stat(name, &status) && status.st_size == expected;
            printf("%s{\"name\": \"%s\", \"size\": %lld}", f + r ? ", " : "", name,
                   (long long)status.st_size);
            if (!o->keep)
                unlink(name);
        }
    printf("], ");
    return right;
}

static void print_times(const char *name, const double *times, int count) {
    printf("\"%s\": [", name);
    for (int i = 0; i < count; i++)
        printf("%s%.6f", i ? ", " : "", times[i]);
    printf("], ");
}

/* Collects everybody's account on rank 0, prints it, and says whether all was as it should be. */
static bool report(const struct job *job, const char *name, const struct worker *workers,
                   const double *starts, const double *ends) {
    const struct options *o = &job->options;
    struct account mine = {0}, total = {0}, *everybody = allocate((size_t)job->ranks, sizeof *everybody);
    uint64_t numbers[2] = {0}, sums[2] = {0};
    double *first = allocate((size_t)o->iterations, sizeof *first);
    double *last = allocate((size_t)o->iterations, sizeof *last);
    for (int t = 0; t < o->threads; t++) {
        add_account(&mine, &workers[t].account);
        numbers[0] += workers[t].numbers_written;
        numbers[1] += workers[t].numbers_read;
    }
    MPI_Gather(&mine, sizeof mine, MPI_BYTE, everybody, sizeof mine, MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Reduce(numbers, sums, 2, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(starts, first, o->iterations, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
    MPI_Reduce(ends, last, o->iterations, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);

    int good = 1;
    if (!job->rank) {
        for (int r = 0; r < job->ranks; r++)
            add_account(&total, &everybody[r]);
        bool all_seen = o->pointer != SHARED_POINTER || o->posix || !o->read || sums[0] == sums[1];
        char library[MPI_MAX_LIBRARY_VERSION_STRING];
        int length;
        MPI_Get_library_version(library, &length);
        library[strcspn(library, "\n\r\"\\,")] = 0;
        for (char *tab; (tab = strchr(library, '\t'));)
            *tab = ' ';

        printf("{\"program\": \"workload\", \"mpi\": \"%s\", \"ranks\": %d, \"iterations\": %d, ", library,
               job->ranks, o->iterations);
        good = check_sizes(job, name) && !total.damaged && all_seen;
        printf("\"verified\": %s, ", good ? "true" : "false");
        print_times("phase_starts", first, o->iterations);
        print_times("phase_ends", last, o->iterations);
        if (o->iterations > 1)
            printf("\"mean_period\": %.9f, ", (first[o->iterations - 1] - first[0]) / (o->iterations - 1));
        else
            printf("\"mean_period\": null, ");
        printf("\"total\": {");
        print_account(&total);
        printf("}, \"per_rank\": [");
        for (int r = 0; r < job->ranks; r++) {
            printf("%s{\"rank\": %d, ", r ? ", " : "", r);
            print_account(&everybody[r]);
            printf("}");
        }
        printf("]}\n");
        fflush(stdout);
        if (!good)
            fprintf(stderr, "workload: verification failed: %lld damaged requests%s\n", total.damaged,
                    all_seen ? "" : ", and not every request was read once");
    }
    MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
    free(everybody);
    free(first);
    free(last);
    return good;
}

int main(int argc, char **argv) {
    int provided;
    /* Only a program that wants threads asks for them: most applications do not. */
    bool threaded = false;
    for (int i = 1; i < argc; i++)
        threaded |= !strncmp(argv[i], "--threads", 9);
    if (threaded)
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    else
        MPI_Init(&argc, &argv);

    struct job job = {0};
    MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job.ranks);
    job.options = parse_options(argc, argv, !job.rank);
    if (job.options.threads > 1 && provided < MPI_THREAD_MULTIPLE)
        usage_error(!job.rank, "this MPI has no MPI_THREAD_MULTIPLE", NULL);
    prepare_datatype(&job);

    char name[64] = "";
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    snprintf(name, sizeof name, "%lld_%lld", (long long)getpid(),
             (long long)t.tv_sec * 1000000000 + t.tv_nsec);
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);

    open_files(&job, name);
    struct worker *workers = allocate((size_t)job.options.threads, sizeof *workers);
    for (int i = 0; i < job.options.threads; i++)
        prepare_worker(&workers[i], &job, i);
    double *starts = allocate((size_t)job.options.iterations, sizeof *starts);
    double *ends = allocate((size_t)job.options.iterations, sizeof *ends);

    MPI_Barrier(MPI_COMM_WORLD);
    run(&job, workers, now(), starts, ends);
    close_files(&job);
    MPI_Barrier(MPI_COMM_WORLD);
    bool good = report(&job, name, workers, starts, ends);

    for (int i = 0; i < job.options.threads; i++)
        release_worker(&workers[i]);
    free(workers);
    free(starts);
    free(ends);
    if (job.options.datatype == VECTOR)
        MPI_Type_free(&job.memory);
    MPI_Finalize();
    return good ? 0 : 1;
}
