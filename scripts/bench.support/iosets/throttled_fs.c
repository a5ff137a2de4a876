// A file system of an exact bandwidth: FUSE, spoken directly, with one queue that is served in order.
// throttled_fs MOUNTPOINT BYTES_PER_SECOND [SECONDS_OF_LATENCY]
// Data is counted and thrown away; reads give zeros. Prints "mounted", and ends when it is unmounted or gets
// SIGTERM. Needs root.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { FILES = 4096, NAME = 200, LARGEST = 1 << 20 };

// A wake-up that comes this much too late costs no bandwidth.
static const double SLACK = 4e-3;

struct file {
    char name[NAME];
    uint64_t size;
    int used;
};

struct request {
    struct request *next;
    char *bytes;
};

static struct file files[FILES];
static int device;
static const char *mountpoint;
static double rate, latency;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
static struct request *first, **last = &first;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void sleep_until(double time) {
    struct timespec when = {(time_t)time, (long)((time - (double)(time_t)time) * 1e9)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL) == EINTR) {}
}

static void answer(uint64_t unique, int error, const void *data, size_t size) {
    struct fuse_out_header head = {(uint32_t)(sizeof head + (error ? 0 : size)), -error, unique};
    struct iovec parts[2] = {{&head, sizeof head}, {(void *)data, size}};
    if (writev(device, parts, error || !size ? 1 : 2) < 0 && errno != ENOENT) perror("throttled_fs");
}

static struct file *find(const char *name) {
    for (int i = 0; i < FILES; i++)
        if (files[i].used && !strcmp(files[i].name, name)) return &files[i];
    return NULL;
}

static struct file *make(const char *name) {
    for (int i = 0; i < FILES; i++)
        if (!files[i].used) {
            snprintf(files[i].name, NAME, "%s", name);
            files[i].used = 1;
            files[i].size = 0;
            return &files[i];
        }
    return NULL;
}

// The root is node 1, the files follow.
static uint64_t number(const struct file *file) { return (uint64_t)(file - files) + 2; }
static struct file *of(uint64_t node) { return node >= 2 && node < FILES + 2 ? &files[node - 2] : NULL; }

static struct fuse_attr about(uint64_t node) {
    struct fuse_attr attr = {.ino = node, .blksize = LARGEST};
    const struct file *file = of(node);
    attr.mode = file ? S_IFREG | 0666 : S_IFDIR | 0777;
    attr.nlink = file ? 1 : 2;
    attr.size = file ? file->size : 0;
    attr.blocks = (attr.size + 511) / 512;
    return attr;
}

static void serve(struct request *request) {
    struct fuse_in_header *head = (void *)request->bytes;
    if (head->opcode == FUSE_WRITE) {
        struct fuse_write_in *in = (void *)(head + 1);
        struct file *file = of(head->nodeid);
        if (file && in->offset + in->size > file->size) file->size = in->offset + in->size;
        struct fuse_write_out out = {in->size, 0};
        answer(head->unique, 0, &out, sizeof out);
    } else {
        static const char zeros[LARGEST];
        struct fuse_read_in *in = (void *)(head + 1);
        struct file *file = of(head->nodeid);
        uint64_t left = file && file->size > in->offset ? file->size - in->offset : 0;
        answer(head->unique, 0, zeros, left < in->size ? left : in->size);
    }
    free(request->bytes);
    free(request);
}

static void *server(void *unused) {
    double busy = 0;
    for (;;) {
        pthread_mutex_lock(&lock);
        while (!first) pthread_cond_wait(&arrived, &lock);
        struct request *request = first;
        first = request->next;
        if (!first) last = &first;
        pthread_mutex_unlock(&lock);
        struct fuse_in_header *head = (void *)request->bytes;
        uint32_t size = head->opcode == FUSE_WRITE ? ((struct fuse_write_in *)(head + 1))->size
                                                   : ((struct fuse_read_in *)(head + 1))->size;
        double earliest = now() - SLACK;
        busy = (busy > earliest ? busy : earliest) + size / rate + latency;
        sleep_until(busy);
        serve(request);
    }
    return unused;
}

static void end(int signal) {
    (void)signal;
    umount2(mountpoint, MNT_DETACH);
    _exit(0);
}

static void create(struct fuse_in_header *head) {
    const char *name = (const char *)((struct fuse_create_in *)(head + 1) + 1);
    struct file *file = find(name);
    if (!file) file = make(name);
    if (!file) return answer(head->unique, ENOSPC, NULL, 0);
    struct {
        struct fuse_entry_out entry;
        struct fuse_open_out open;
    } out = {.entry = {.nodeid = number(file), .entry_valid = 1, .attr = about(number(file))}};
    out.open.open_flags = FOPEN_DIRECT_IO | FOPEN_PARALLEL_DIRECT_WRITES;
    answer(head->unique, 0, &out, sizeof out);
}

static void begin(struct fuse_in_header *head) {
    struct fuse_init_in *in = (void *)(head + 1);
    struct fuse_init_out out = {.major = 7, .minor = in->minor < 31 ? in->minor : 31};
    out.flags = FUSE_BIG_WRITES | FUSE_MAX_PAGES | FUSE_ASYNC_DIO;
    out.max_background = out.congestion_threshold = 1024;
    out.max_write = LARGEST;
    out.max_pages = LARGEST / 4096;
    out.time_gran = 1;
    answer(head->unique, 0, &out, sizeof out);
}

static void handle(struct fuse_in_header *head) {
    uint64_t unique = head->unique;
    void *in = head + 1;
    switch (head->opcode) {
    case FUSE_INIT: return begin(head);
    case FUSE_CREATE: return create(head);
    case FUSE_LOOKUP: {
        struct file *file = find(in);
        if (!file) return answer(unique, ENOENT, NULL, 0);
        struct fuse_entry_out out = {.nodeid = number(file), .entry_valid = 1, .attr = about(number(file))};
        return answer(unique, 0, &out, sizeof out);
    }
    case FUSE_SETATTR: {
        struct fuse_setattr_in *change = in;
        struct file *file = of(head->nodeid);
        if (file && change->valid & FATTR_SIZE) file->size = change->size;
    } // fall through
    case FUSE_GETATTR: {
        struct fuse_attr_out out = {.attr = about(head->nodeid)};
        return answer(unique, 0, &out, sizeof out);
    }
    case FUSE_OPEN: {
        struct fuse_open_out out = {.open_flags = FOPEN_DIRECT_IO | FOPEN_PARALLEL_DIRECT_WRITES};
        return answer(unique, 0, &out, sizeof out);
    }
    case FUSE_OPENDIR: {
        struct fuse_open_out out = {0};
        return answer(unique, 0, &out, sizeof out);
    }
    case FUSE_UNLINK: {
        struct file *file = find(in);
        if (file) file->used = 0;
        return answer(unique, file ? 0 : ENOENT, NULL, 0);
    }
    case FUSE_STATFS: {
        struct fuse_statfs_out out = {.st = {.bsize = 4096, .frsize = 4096, .namelen = NAME - 1}};
        out.st.blocks = out.st.bfree = out.st.bavail = 1 << 24;
        return answer(unique, 0, &out, sizeof out);
    }
    case FUSE_FORGET:
    case FUSE_BATCH_FORGET:
    case FUSE_INTERRUPT: return;
    case FUSE_READDIR:
    case FUSE_RELEASE:
    case FUSE_RELEASEDIR:
    case FUSE_FLUSH:
    case FUSE_FSYNC:
    case FUSE_ACCESS: return answer(unique, 0, NULL, 0);
    default: return answer(unique, ENOSYS, NULL, 0);
    }
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    mountpoint = argv[1];
    rate = atof(argv[2]);
    latency = argc > 3 ? atof(argv[3]) : 0;
    prctl(PR_SET_TIMERSLACK, 1000);
    device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    char options[128];
    snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", device);
    if (device < 0 || mount("throttled", mountpoint, "fuse.throttled", MS_NOSUID | MS_NODEV, options)) {
        perror(mountpoint);
        return 1;
    }
    signal(SIGTERM, end);
    signal(SIGINT, end);
    puts("mounted");
    fflush(stdout);
    pthread_t thread;
    pthread_create(&thread, NULL, server, NULL);
    size_t room = LARGEST + 8192;
    char *bytes = malloc(room);
    for (;;) {
        ssize_t length = read(device, bytes, room);
        if (length < 0 && (errno == EINTR || errno == ENOENT || errno == EAGAIN)) continue;
        if (length < 0) return errno != ENODEV;
        struct fuse_in_header *head = (void *)bytes;
        if (head->opcode != FUSE_READ && head->opcode != FUSE_WRITE) {
            handle(head);
            continue;
        }
        struct request *request = malloc(sizeof *request);
        *request = (struct request){NULL, bytes};
        pthread_mutex_lock(&lock);
        *last = request;
        last = &request->next;
        pthread_cond_signal(&arrived);
        pthread_mutex_unlock(&lock);
        bytes = malloc(room);
    }
}
