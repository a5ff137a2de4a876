/* slow_fs MOUNTPOINT BACKING BYTES_PER_SECOND: a real file system with an exact bandwidth, for measurements.
 *
 * One flat folder, kept in BACKING, served by FUSE's raw protocol. Reads and writes go through one queue, in
 * the order in which they come, at the given rate together; nothing is cached. Everything else is immediate.
 * SIGTERM unmounts. Needs the administrator. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
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

enum { MOST_FILES = 16384, NAME = 200, LARGEST = 1 << 20 };

/* Node 1 is the folder, node i + 2 is file i. */
static struct {
    char name[NAME];
    int descriptor;
    bool used;
} files[MOST_FILES];

struct request {
    struct request *next;
    struct fuse_in_header *header;
    uint32_t bytes;
};

static int channel;
static int backing;
static const char *mount_point;
static double rate;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
static struct request *head, **tail = &head;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void sleep_until(double time) {
    struct timespec t = {(time_t)time, (long)((time - (double)(time_t)time) * 1e9)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        ;
}

static void reply(uint64_t unique, int error, const void *data, size_t length) {
    struct fuse_out_header out = {sizeof out + (error ? 0 : length), -error, unique};
    struct iovec parts[2] = {{&out, sizeof out}, {(void *)data, length}};
    if (writev(channel, parts, error || !length ? 1 : 2) < 0 && errno != ENOENT)
        fprintf(stderr, "slow_fs: reply: %s\n", strerror(errno));
}

static int file_of(const char *name) {
    int unused = -1;
    for (int i = 0; i < MOST_FILES; i++) {
        if (files[i].used && !strcmp(files[i].name, name))
            return i;
        if (!files[i].used && unused < 0)
            unused = i;
    }
    if (unused < 0 || strlen(name) >= NAME)
        return -1;
    files[unused].used = true;
    files[unused].descriptor = -1;
    strcpy(files[unused].name, name);
    return unused;
}

static int descriptor(uint64_t node) {
    int i = (int)node - 2;
    if (files[i].descriptor < 0)
        files[i].descriptor = openat(backing, files[i].name, O_RDWR);
    return files[i].descriptor;
}

static struct fuse_attr attributes(uint64_t node) {
    struct fuse_attr a = {.ino = node, .blksize = LARGEST, .mode = S_IFDIR | 0777, .nlink = 2};
    struct stat s;
    if (node > 1 && descriptor(node) >= 0 && !fstat(descriptor(node), &s)) {
        a.mode = S_IFREG | (s.st_mode & 07777);
        a.nlink = 1;
        a.size = (uint64_t)s.st_size;
        a.blocks = (uint64_t)s.st_blocks;
        a.mtime = (uint64_t)s.st_mtim.tv_sec;
        a.mtimensec = (uint32_t)s.st_mtim.tv_nsec;
        a.ctime = a.mtime;
        a.ctimensec = a.mtimensec;
    }
    return a;
}

static struct fuse_entry_out entry(int file) {
    struct fuse_entry_out e = {.nodeid = (uint64_t)file + 2};
    e.attr = attributes(e.nodeid);
    return e;
}

/* Data moves here, at the rate and no faster. */
static void *serve_data(void *unused) {
    double free_at = 0;
    for (;;) {
        pthread_mutex_lock(&lock);
        while (!head)
            pthread_cond_wait(&arrived, &lock);
        struct request *r = head;
        head = r->next;
        if (!head)
            tail = &head;
        pthread_mutex_unlock(&lock);
        /* A late wake-up is made up for, up to 4 ms. */
        double begin = now() - 4e-3;
        free_at = (free_at > begin ? free_at : begin) + r->bytes / rate;
        sleep_until(free_at);
        struct fuse_in_header *h = r->header;
        if (h->opcode == FUSE_WRITE) {
            struct fuse_write_in *in = (void *)(h + 1);
            ssize_t n = pwrite(descriptor(h->nodeid), in + 1, in->size, (off_t)in->offset);
            struct fuse_write_out out = {n < 0 ? 0 : (uint32_t)n, 0};
            reply(h->unique, n < 0 ? errno : 0, &out, sizeof out);
        } else {
            struct fuse_read_in *in = (void *)(h + 1);
            char *data = malloc(in->size);
            ssize_t n = pread(descriptor(h->nodeid), data, in->size, (off_t)in->offset);
            reply(h->unique, n < 0 ? errno : 0, data, n < 0 ? 0 : (size_t)n);
            free(data);
        }
        free(h);
        free(r);
    }
    return unused;
}

static void list(uint64_t unique, const struct fuse_read_in *in) {
    static char buffer[LARGEST];
    size_t length = 0;
    uint64_t number = 0;
    int folder = openat(backing, ".", O_RDONLY | O_DIRECTORY);
    DIR *items = fdopendir(folder);
    for (struct dirent *item; items && (item = readdir(items));) {
        if (number++ < in->offset || item->d_name[0] == '.')
            continue;
        size_t name = strlen(item->d_name), size = FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + name);
        if (length + size > in->size || length + size > sizeof buffer)
            break;
        struct fuse_dirent *d = (void *)(buffer + length);
        memset(d, 0, size);
        *d = (struct fuse_dirent){(uint64_t)file_of(item->d_name) + 2, number, (uint32_t)name, DT_REG};
        memcpy(d->name, item->d_name, name);
        length += size;
    }
    if (items)
        closedir(items);
    reply(unique, 0, buffer, length);
}

static void create(uint64_t unique, const struct fuse_create_in *in) {
    const char *name = (const char *)(in + 1);
    int opened = openat(backing, name, O_CREAT | O_RDWR | ((int)in->flags & O_TRUNC), 0666);
    int file = opened < 0 ? -1 : file_of(name);
    if (file < 0) {
        reply(unique, opened < 0 ? errno : ENOSPC, NULL, 0);
        return;
    }
    if (files[file].descriptor >= 0)
        close(files[file].descriptor);
    files[file].descriptor = opened;
    struct {
        struct fuse_entry_out entry;
        struct fuse_open_out open;
    } out = {entry(file), {.open_flags = FOPEN_DIRECT_IO | FOPEN_PARALLEL_DIRECT_WRITES}};
    reply(unique, 0, &out, sizeof out);
}

/* What is not data, at once. Returns whether the buffer was kept for later. */
static bool handle(struct fuse_in_header *h) {
    void *in = h + 1;
    switch (h->opcode) {
    case FUSE_INIT: {
        struct fuse_init_out out = {.major = 7, .minor = 31, .max_write = LARGEST, .max_pages = 256};
        out.flags = FUSE_BIG_WRITES | FUSE_MAX_PAGES | FUSE_ASYNC_DIO;
        out.max_background = out.congestion_threshold = 1024;
        out.time_gran = 1;
        reply(h->unique, 0, &out, sizeof out);
        return false;
    }
    case FUSE_LOOKUP: {
        bool there = !faccessat(backing, in, F_OK, 0);
        struct fuse_entry_out out = there ? entry(file_of(in)) : (struct fuse_entry_out){0};
        reply(h->unique, there ? 0 : ENOENT, &out, sizeof out);
        return false;
    }
    case FUSE_CREATE:
        create(h->unique, in);
        return false;
    case FUSE_SETATTR: {
        struct fuse_setattr_in *set = in;
        if (set->valid & FATTR_SIZE && ftruncate(descriptor(h->nodeid), (off_t)set->size))
            perror("slow_fs: ftruncate");
    } /* fall through */
    case FUSE_GETATTR: {
        struct fuse_attr_out out = {.attr = attributes(h->nodeid)};
        reply(h->unique, 0, &out, sizeof out);
        return false;
    }
    case FUSE_OPEN:
    case FUSE_OPENDIR: {
        struct fuse_open_out out = {0};
        if (h->opcode == FUSE_OPEN)
            out.open_flags = FOPEN_DIRECT_IO | FOPEN_PARALLEL_DIRECT_WRITES;
        reply(h->unique, 0, &out, sizeof out);
        return false;
    }
    case FUSE_UNLINK: {
        int file = file_of(in);
        int failed = unlinkat(backing, in, 0) ? errno : 0;
        if (file >= 0 && !failed)
            strcpy(files[file].name, "?");
        reply(h->unique, failed, NULL, 0);
        return false;
    }
    case FUSE_READDIR:
        list(h->unique, in);
        return false;
    case FUSE_STATFS: {
        struct fuse_statfs_out out = {.st = {.bsize = 4096, .frsize = 4096, .blocks = 1 << 24}};
        out.st.namelen = NAME - 1;
        out.st.bfree = out.st.bavail = 1 << 24;
        reply(h->unique, 0, &out, sizeof out);
        return false;
    }
    case FUSE_FORGET:
    case FUSE_BATCH_FORGET:
    case FUSE_INTERRUPT:
        return false;
    case FUSE_RELEASE:
    case FUSE_RELEASEDIR:
    case FUSE_FLUSH:
    case FUSE_FSYNC:
    case FUSE_ACCESS:
        reply(h->unique, 0, NULL, 0);
        return false;
    case FUSE_READ:
    case FUSE_WRITE: {
        struct request *r = calloc(1, sizeof *r);
        r->header = h;
        bool writes = h->opcode == FUSE_WRITE;
        r->bytes = writes ? ((struct fuse_write_in *)in)->size : ((struct fuse_read_in *)in)->size;
        pthread_mutex_lock(&lock);
        *tail = r;
        tail = &r->next;
        pthread_cond_signal(&arrived);
        pthread_mutex_unlock(&lock);
        return true;
    }
    default:
        reply(h->unique, ENOSYS, NULL, 0);
        return false;
    }
}

static void unmount(int signal) {
    (void)signal;
    umount2(mount_point, MNT_DETACH);
    _exit(0);
}

int main(int argc, char **argv) {
    if (argc != 4 || (rate = atof(argv[3])) <= 0) {
        fprintf(stderr, "usage: slow_fs MOUNTPOINT BACKING BYTES_PER_SECOND\n");
        return 2;
    }
    mount_point = argv[1];
    backing = open(argv[2], O_RDONLY | O_DIRECTORY);
    channel = open("/dev/fuse", O_RDWR);
    char options[128];
    snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", channel);
    bool opened = backing >= 0 && channel >= 0;
    if (!opened || mount("slow_fs", mount_point, "fuse.slow_fs", MS_NOSUID | MS_NODEV, options)) {
        perror("slow_fs");
        return 1;
    }
    signal(SIGTERM, unmount);
    signal(SIGINT, unmount);
    prctl(PR_SET_TIMERSLACK, 1000);
    pthread_t thread;
    pthread_create(&thread, NULL, serve_data, NULL);
    const size_t size = LARGEST + 8192;
    char *buffer = malloc(size);
    for (;;) {
        ssize_t n = read(channel, buffer, size);
        if (n < 0 && (errno == EINTR || errno == ENOENT || errno == EAGAIN))
            continue;
        if (n < 0)
            return 0;
        if (handle((struct fuse_in_header *)buffer))
            buffer = malloc(size);
    }
}
