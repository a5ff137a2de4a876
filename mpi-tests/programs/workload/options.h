/* The command line of the workload: what can be asked of it, and which combinations make sense. */
#ifndef WORKLOAD_OPTIONS_H
#define WORKLOAD_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum access { BLOCKING, NONBLOCKING, COLLECTIVE, NONBLOCKING_COLLECTIVE, SPLIT_COLLECTIVE };
enum pointer { EXPLICIT_OFFSET, INDIVIDUAL_POINTER, SHARED_POINTER };
enum completion { WAIT, WAITALL, WAITANY, WAITSOME, TEST, TESTALL, TESTANY, TESTSOME };
enum datatype { CONTIGUOUS, VECTOR };
enum layout { SHARED_FILE, FILE_PER_PROCESS };

static const char *const ACCESS_NAMES[] = {"blocking", "nonblocking", "collective", "nonblocking-collective",
                                           "split-collective", NULL};
static const char *const POINTER_NAMES[] = {"explicit", "individual", "shared", NULL};
static const char *const COMPLETION_NAMES[] = {"wait", "waitall", "waitany", "waitsome",
                                               "test", "testall", "testany", "testsome", NULL};
static const char *const DATATYPE_NAMES[] = {"contiguous", "vector", NULL};
static const char *const LAYOUT_NAMES[] = {"shared", "per-process", NULL};

struct options {
    const char *directory;
    int iterations;
    double compute, jitter, desync, delay, prolong;
    bool busy, overlap, paced;
    int slices;
    int transition; /* per cent; negative: every phase writes */
    long long seed;
    int size;
    int requests, files, threads;
    int access, pointer, completion, datatype, layout;
    bool copy_request, ignore_status, large_count;
    bool read, short_read, zero;
    bool posix, flush, keep, corrupt;
};

static const char USAGE[] =
    "usage: workload [OPTIONS]\n"
    "\n"
    "Computes, writes, computes, writes ... through MPI-IO, and prints as one JSON object what it did:\n"
    "operations and bytes by class and rank, when each phase began, and the mean period of the phases.\n"
    "\n"
    "Shape of the run\n"
    "  --iterations N      phases of I/O (10)\n"
    "  --compute SECONDS   computation before each of them (1)\n"
    "  --paced             phases begin every so many seconds, however long the one before took\n"
    "  --busy              compute by spinning; without it, by sleeping\n"
    "  --jitter SIGMA      standard deviation of the computation's length, s, alike on all ranks (0)\n"
    "  --desync MEAN       mean of an exponential delay of every rank in every phase, seconds (0)\n"
    "  --seed N            of the two above (1)\n"
    "  --delay SECONDS     the first phase begins so much later (0)\n"
    "  --prolong SECONDS   the first phase takes that much longer: it pauses after its first request (0)\n"
    "  --overlap           nonblocking writes only: compute between issuing and completing the requests\n"
    "  --slices N          with --overlap: compute in N slices with an MPI_Testall after each (1: no tests)\n"
    "  --transition P      a phase either writes or reads back what was written last; the first writes,\n"
    "                      and each later one changes with a probability of P per cent (every phase writes)\n"
    "\n"
    "Requests\n"
    "  --size BYTES        bytes of each request, suffixes k and m (64k)\n"
    "  --requests N        requests per phase, rank and thread (4)\n"
    "  --access A          blocking | nonblocking | collective | nonblocking-collective | split-collective\n"
    "  --pointer P         explicit | individual | shared; shared and collective is write_ordered\n"
    "  --datatype D        contiguous | vector: every other block in memory, ranks interleaved in the file\n"
    "  --complete C        wait, waitall, waitany, waitsome, test, testall, testany or testsome (waitall)\n"
    "  --copy-request      complete copies of the requests, in reverse order, from other memory\n"
    "  --ignore-status     pass MPI_STATUS_IGNORE or MPI_STATUSES_IGNORE everywhere\n"
    "  --large-count       use the routines with a count of type MPI_Count, which MPI has since version 4\n"
    "  --read              read every phase back and verify it\n"
    "  --short-read        after every phase one read that reaches beyond the end of the file\n"
    "  --zero              in every phase one more request of zero bytes\n"
    "  --threads N         N threads per rank under MPI_THREAD_MULTIPLE, --requests each (1)\n"
    "\n"
    "Files\n"
    "  --dir DIR           where they are written, under fresh names (.)\n"
    "  --files N           N files, used in turn; divides --requests (1)\n"
    "  --layout L          shared | per-process\n"
    "  --keep              leave them there\n"
    "  --posix             the same by pwrite and pread, with no MPI-IO at all\n"
    "\n"
    "  --flush             call iotrace_summary() after every phase, if libtmio.so is there\n"
    "  --corrupt           damage one byte of rank 0's first request, to prove that --read notices\n"
    "\n"
    "Two defects of MPI libraries to keep clear of: Open MPI 4.1 never completes a nonblocking read beyond\n"
    "the end of a file, and MPICH 4.0 aborts when MPI_Testall is asked again after some of several file\n"
    "requests completed (one request is fine).\n"
    "\n"
    "Called ioskel.PERIOD.SIZE.ITERATIONS[.PROBABILITY], for example by a link, it has these for --compute,\n"
    "--size, --iterations and --transition, and one request per phase; options come on top.\n"
    "\n"
    "Exit status: 0; 1 when verification or an MPI call failed; 2 when the options make no sense.\n";

/* Options are the same on all ranks, so each rank finds the same fault; rank 0 says so. */
static void usage_error(bool speak, const char *what, const char *value) {
    if (speak)
        fprintf(stderr, "workload: %s%s%s (see --help)\n", what, value ? ": " : "", value ? value : "");
    MPI_Finalize();
    exit(2);
}

static int choice(bool speak, const char *const names[], const char *option, const char *value) {
    for (int i = 0; names[i]; i++)
        if (!strcmp(names[i], value))
            return i;
    usage_error(speak, option, value);
    return 0;
}

/* A number with an optional suffix k or m, at least `least`. */
static long long whole(bool speak, const char *option, const char *value, long long least) {
    char *end;
    long long number = strtoll(value, &end, 10);
    if (*end == 'k' || *end == 'K')
        number <<= 10, end++;
    else if (*end == 'm' || *end == 'M')
        number <<= 20, end++;
    if (end == value || *end || number < least || number > (1LL << 30))
        usage_error(speak, option, value);
    return number;
}

static double seconds(bool speak, const char *option, const char *value) {
    char *end;
    double number = strtod(value, &end);
    if (end == value || *end || !(number >= 0 && number < 1e6))
        usage_error(speak, option, value);
    return number;
}

static int percent(bool speak, const char *option, const char *value) {
    char *end;
    long number = strtol(value, &end, 10);
    if (end == value || *end || number < 0 || number > 100)
        usage_error(speak, option, value);
    return (int)number;
}

static void configure_by_name(struct options *o, const char *path, bool speak); /* name.h */

static void check_combinations(const struct options *o, bool speak) {
    bool asynchronous = o->access == NONBLOCKING || o->access == NONBLOCKING_COLLECTIVE;
    if (o->large_count && MPI_VERSION < 4)
        usage_error(speak, "this MPI has no routines with large counts", NULL);
    if (o->requests % o->files)
        usage_error(speak, "--files must divide --requests", NULL);
    if (o->access == NONBLOCKING_COLLECTIVE && o->pointer == SHARED_POINTER)
        usage_error(speak, "MPI has no nonblocking collective with a shared pointer", NULL);
    if (o->threads > 1 &&
        (o->pointer != EXPLICIT_OFFSET || !(o->access == BLOCKING || o->access == NONBLOCKING)))
        usage_error(speak, "--threads needs independent access with explicit offsets", NULL);
    if (o->datatype == VECTOR && o->size % 4)
        usage_error(speak, "--datatype vector needs a --size that is a multiple of 4", NULL);
    if (o->pointer == SHARED_POINTER && o->size < 8 && o->requests)
        usage_error(speak, "--pointer shared needs a --size of at least 8, to recognise the requests", NULL);
    if (o->short_read && (o->size < 2 || !o->requests))
        usage_error(speak, "--short-read needs requests of at least 2 bytes", NULL);
    if (o->short_read && o->pointer == SHARED_POINTER && (o->access == BLOCKING || o->access == NONBLOCKING))
        usage_error(speak, "--short-read with a shared pointer needs a collective access: "
                           "otherwise which rank meets the end of the file is chance", NULL);
    if (o->transition >= 0 && o->read)
        usage_error(speak, "--transition reads by itself: leave out --read", NULL);
    if (o->overlap && !asynchronous)
        usage_error(speak, "--overlap needs nonblocking access", NULL);
    if (o->posix && (o->pointer == SHARED_POINTER || o->datatype == VECTOR))
        usage_error(speak, "--posix knows explicit offsets and contiguous data only", NULL);
}

static struct options parse_options(int argc, char **argv, bool speak) {
    struct options o = {.directory = ".", .iterations = 10, .compute = 1, .slices = 1, .seed = 1,
                        .transition = -1, .size = 64 << 10, .requests = 4, .files = 1, .threads = 1,
                        .completion = WAITALL};
    enum {
        ITERATIONS = 256,
        COMPUTE,
        BUSY,
        PACED,
        JITTER,
        DESYNC,
        SEED,
        OVERLAP,
        SLICES,
        SIZE,
        REQUESTS,
        ACCESS,
        POINTER,
        DATATYPE,
        COMPLETE,
        COPY_REQUEST,
        IGNORE_STATUS,
        LARGE_COUNT,
        READ,
        SHORT_READ,
        ZERO,
        THREADS,
        DIRECTORY,
        FILES,
        LAYOUT,
        KEEP,
        POSIX,
        FLUSH,
        CORRUPT,
        TRANSITION,
        DELAY,
        PROLONG,
        HELP
    };
    static const struct option table[] = {
        {"iterations", 1, 0, ITERATIONS}, {"compute", 1, 0, COMPUTE},
        {"busy", 0, 0, BUSY}, {"paced", 0, 0, PACED},
        {"jitter", 1, 0, JITTER}, {"desync", 1, 0, DESYNC}, {"seed", 1, 0, SEED},
        {"overlap", 0, 0, OVERLAP}, {"slices", 1, 0, SLICES}, {"size", 1, 0, SIZE},
        {"requests", 1, 0, REQUESTS}, {"access", 1, 0, ACCESS}, {"pointer", 1, 0, POINTER},
        {"datatype", 1, 0, DATATYPE}, {"complete", 1, 0, COMPLETE}, {"copy-request", 0, 0, COPY_REQUEST},
        {"ignore-status", 0, 0, IGNORE_STATUS}, {"large-count", 0, 0, LARGE_COUNT},
        {"read", 0, 0, READ}, {"short-read", 0, 0, SHORT_READ},
        {"zero", 0, 0, ZERO}, {"threads", 1, 0, THREADS}, {"dir", 1, 0, DIRECTORY},
        {"files", 1, 0, FILES}, {"layout", 1, 0, LAYOUT}, {"keep", 0, 0, KEEP},
        {"posix", 0, 0, POSIX}, {"flush", 0, 0, FLUSH}, {"corrupt", 0, 0, CORRUPT},
        {"transition", 1, 0, TRANSITION}, {"delay", 1, 0, DELAY}, {"prolong", 1, 0, PROLONG},
        {"help", 0, 0, HELP}, {0}};
    int option;
    configure_by_name(&o, argv[0], speak);
    opterr = speak;
    while ((option = getopt_long(argc, argv, "h", table, NULL)) != -1) {
        switch (option) {
        case ITERATIONS: o.iterations = (int)whole(speak, "--iterations", optarg, 1); break;
        case COMPUTE: o.compute = seconds(speak, "--compute", optarg); break;
        case BUSY: o.busy = true; break;
        case PACED: o.paced = true; break;
        case JITTER: o.jitter = seconds(speak, "--jitter", optarg); break;
        case DESYNC: o.desync = seconds(speak, "--desync", optarg); break;
        case SEED: o.seed = whole(speak, "--seed", optarg, 0); break;
        case OVERLAP: o.overlap = true; break;
        case SLICES: o.slices = (int)whole(speak, "--slices", optarg, 1); break;
        case SIZE: o.size = (int)whole(speak, "--size", optarg, 1); break;
        case REQUESTS: o.requests = (int)whole(speak, "--requests", optarg, 0); break;
        case ACCESS: o.access = choice(speak, ACCESS_NAMES, "--access", optarg); break;
        case POINTER: o.pointer = choice(speak, POINTER_NAMES, "--pointer", optarg); break;
        case DATATYPE: o.datatype = choice(speak, DATATYPE_NAMES, "--datatype", optarg); break;
        case COMPLETE: o.completion = choice(speak, COMPLETION_NAMES, "--complete", optarg); break;
        case COPY_REQUEST: o.copy_request = true; break;
        case IGNORE_STATUS: o.ignore_status = true; break;
        case LARGE_COUNT: o.large_count = true; break;
        case READ: o.read = true; break;
        case SHORT_READ: o.short_read = true; break;
        case ZERO: o.zero = true; break;
        case THREADS: o.threads = (int)whole(speak, "--threads", optarg, 1); break;
        case DIRECTORY: o.directory = optarg; break;
        case FILES: o.files = (int)whole(speak, "--files", optarg, 1); break;
        case LAYOUT: o.layout = choice(speak, LAYOUT_NAMES, "--layout", optarg); break;
        case KEEP: o.keep = true; break;
        case POSIX: o.posix = true; break;
        case FLUSH: o.flush = true; break;
        case CORRUPT: o.corrupt = true; break;
        case TRANSITION: o.transition = percent(speak, "--transition", optarg); break;
        case DELAY: o.delay = seconds(speak, "--delay", optarg); break;
        case PROLONG: o.prolong = seconds(speak, "--prolong", optarg); break;
        case 'h':
        case HELP:
            if (speak)
                fputs(USAGE, stdout);
            MPI_Finalize();
            exit(0);
        default:
            MPI_Finalize();
            exit(2);
        }
    }
    if (optind < argc)
        usage_error(speak, "unexpected argument", argv[optind]);
    check_combinations(&o, speak);
    return o;
}

#endif
