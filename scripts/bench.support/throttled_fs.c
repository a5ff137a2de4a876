/* throttled_fs MOUNTPOINT BYTES_PER_SECOND [BACKING]: a real file system with an exact bandwidth, for
 * measurements.
 *
 * One flat folder, served by FUSE's raw protocol. Reads and writes go through one queue, in the order in
 * which they come, at the given rate together; nothing is cached. Everything else is immediate. Data are kept
 * in files in BACKING, a folder that is empty; without it they are thrown away, and reads give zeros. Prints
 * "mounted", and ends when it is unmounted or gets SIGTERM. Needs the administrator. */
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
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { MAX_FILES = 16384, NAME = 200, MAX_REQUEST = 1 << 20 };

/* Node 1 is the folder, node i + 2 is file i. A file that was removed has no name until nobody uses it. */
static struct {
    char name[NAME];
    int descriptor;
    bool used;
} files[MAX_FILES];

struct request {
    struct request *next;
    struct fuse_in_header *header;
    uint32_t bytes;
};

static int channel;
/* Less than 0: only sizes are kept. */
static int backing = -1;
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
        fprintf(stderr, "throttled_fs: reply: %s\n", strerror(errno));
}

static int find(const char *name) {
    for (int i = 0; i < MAX_FILES; i++)
        if (files[i].used && !strcmp(files[i].name, name))
            return i;
    return -1;
}

static int descriptor(uint64_t node) {
    return node >= 2 && node < MAX_FILES + 2 ? files[node - 2].descriptor : -1;
}

static struct fuse_attr attributes(uint64_t node) {
    struct fuse_attr a = {.ino = node, .blksize = MAX_REQUEST, .mode = S_IFDIR | 0777, .nlink = 2};
    struct stat s;
    if (node > 1 && !fstat(descriptor(node), &s)) {
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

static ssize_t grow(int file, uint32_t size, off_t offset) {
    struct stat s;
    bool larger = !fstat(file, &s) && offset + (off_t)size > s.st_size;
    return larger && ftruncate(file, offset + (off_t)size) ? -1 : (ssize_t)size;
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
            ssize_t n = backing < 0 ? grow(descriptor(h->nodeid), in->size, (off_t)in->offset)
                                    : pwrite(descriptor(h->nodeid), in + 1, in->size, (off_t)in->offset);
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
    static char buffer[MAX_REQUEST];
    size_t length = 0;
    for (uint64_t i = in->offset; i < MAX_FILES; i++) {
        size_t name = strlen(files[i].name), size = FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + name);
        if (!files[i].used || !name)
            continue;
        if (length + size > in->size || length + size > sizeof buffer)
            break;
        struct fuse_dirent *d = (void *)(buffer + length);
        memset(d, 0, size);
        *d = (struct fuse_dirent){i + 2, i + 1, (uint32_t)name, DT_REG};
        memcpy(d->name, files[i].name, name);
        length += size;
    }
    reply(unique, 0, buffer, length);
}

/* A file of this name, new or not. */
static int made(const char *name, int flags) {
    int i = find(name);
    if (i >= 0)
        return flags & O_TRUNC && ftruncate(files[i].descriptor, 0) ? -1 : i;
    for (i = 0; i < MAX_FILES && files[i].used; i++)
        ;
    errno = i < MAX_FILES ? ENAMETOOLONG : ENOSPC;
    if (i == MAX_FILES || strlen(name) >= NAME)
        return -1;
    int new = backing < 0 ? memfd_create("file", MFD_CLOEXEC)
                          : openat(backing, name, O_CREAT | O_RDWR | O_CLOEXEC, 0666);
    if (new < 0)
        return -1;
    fchmod(new, 0666);
    strcpy(files[i].name, name);
    files[i].descriptor = new;
    files[i].used = true;
    return i;
}

static void create(uint64_t unique, const struct fuse_create_in *in) {
    int file = made((const char *)(in + 1), (int)in->flags);
    if (file < 0) {
        reply(unique, errno, NULL, 0);
        return;
    }
    struct {
        struct fuse_entry_out entry;
        struct fuse_open_out open;
    } out = {entry(file), {.open_flags = FOPEN_DIRECT_IO | FOPEN_PARALLEL_DIRECT_WRITES}};
    reply(unique, 0, &out, sizeof out);
}

static void forget(uint64_t node) {
    if (node < 2 || node >= MAX_FILES + 2 || !files[node - 2].used || files[node - 2].name[0])
        return;
    close(files[node - 2].descriptor);
    files[node - 2].used = false;
}

/* What is not data, at once. Returns whether the buffer was kept for later. */
static bool handle(struct fuse_in_header *h) {
    void *in = h + 1;
    switch (h->opcode) {
    case FUSE_INIT: {
        struct fuse_init_out out = {.major = 7, .minor = 31, .max_write = MAX_REQUEST, .max_pages = 256};
        out.flags = FUSE_BIG_WRITES | FUSE_MAX_PAGES | FUSE_ASYNC_DIO;
        out.max_background = out.congestion_threshold = 1024;
        out.time_gran = 1;
        reply(h->unique, 0, &out, sizeof out);
        return false;
    }
    case FUSE_LOOKUP: {
        int file = find(in);
        struct fuse_entry_out out = file < 0 ? (struct fuse_entry_out){0} : entry(file);
        reply(h->unique, file < 0 ? ENOENT : 0, &out, sizeof out);
        return false;
    }
    case FUSE_CREATE:
        create(h->unique, in);
        return false;
    case FUSE_SETATTR: {
        struct fuse_setattr_in *set = in;
        if (set->valid & FATTR_SIZE && ftruncate(descriptor(h->nodeid), (off_t)set->size))
            perror("throttled_fs: ftruncate");
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
        int file = find(in);
        int failed = file < 0 ? ENOENT : backing >= 0 && unlinkat(backing, in, 0) ? errno : 0;
        if (!failed)
            files[file].name[0] = 0;
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
        forget(h->nodeid);
        return false;
    case FUSE_BATCH_FORGET: {
        struct fuse_batch_forget_in *all = in;
        struct fuse_forget_one *one = (void *)(all + 1);
        for (uint32_t i = 0; i < all->count; i++)
            forget(one[i].nodeid);
        return false;
    }
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
    if (argc < 3 || argc > 4 || (rate = atof(argv[2])) <= 0) {
        fprintf(stderr, "usage: throttled_fs MOUNTPOINT BYTES_PER_SECOND [BACKING]\n");
        return 2;
    }
    mount_point = argv[1];
    if (argc == 4)
        backing = open(argv[3], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    channel = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    char options[128];
    snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", channel);
    bool opened = (argc < 4 || backing >= 0) && channel >= 0;
    if (!opened || mount("throttled", mount_point, "fuse.throttled", MS_NOSUID | MS_NODEV, options)) {
        perror(mount_point);
        return 1;
    }
    signal(SIGTERM, unmount);
    signal(SIGINT, unmount);
    prctl(PR_SET_TIMERSLACK, 1000);
    puts("mounted");
    fflush(stdout);
    pthread_t thread;
    pthread_create(&thread, NULL, serve_data, NULL);
    const size_t size = MAX_REQUEST + 8192;
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
