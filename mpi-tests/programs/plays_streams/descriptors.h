/* Descriptors: every way to get one, to make it mean something else, and to close it. */
#ifndef PLAYS_STREAMS_DESCRIPTORS_H
#define PLAYS_STREAMS_DESCRIPTORS_H

#include "state.h"
#include <linux/openat2.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

/* Words with commas between them. Only what is no regular file could block: nothing waits. */
static int flags(const char *words)
{
    static const struct {
        const char *word;
        int flag;
    } ALL[] = {{"rdonly", O_RDONLY}, {"wronly", O_WRONLY}, {"rdwr", O_RDWR},     {"creat", O_CREAT},
               {"trunc", O_TRUNC},   {"append", O_APPEND}, {"excl", O_EXCL},     {"direct", O_DIRECT},
               {"sync", O_DSYNC},    {"cloexec", O_CLOEXEC}, {"directory", O_DIRECTORY}};
    int sum = O_NONBLOCK;
    for (const char *word = words; *word; word += strspn(word, ",")) {
        size_t length = strcspn(word, ",");
        for (size_t i = 0; i < sizeof ALL / sizeof *ALL; i++)
            if (strlen(ALL[i].word) == length && strncmp(word, ALL[i].word, length) == 0)
                sum |= ALL[i].flag;
        word += length;
    }
    return sum;
}

static void got(struct state *s, const char *word, int descriptor)
{
    /* What a call that failed has left there. */
    if (s->branch >= 0 && s->descriptor[slot(word)] >= 0)
        close(s->descriptor[slot(word)]);
    s->descriptor[slot(word)] = descriptor;
    told_number(s, descriptor);
}

OP(open) { char path[PATH_MAX]; got(s, w[1], open(name(s, w[2], path), flags(w[3]), 0640)); }
OP(creat) { char path[PATH_MAX]; got(s, w[1], creat(name(s, w[2], path), 0640)); }
OP(memfd_create) { got(s, w[1], memfd_create("memory", MFD_CLOEXEC)); }
OP(eventfd) { got(s, w[1], eventfd(0, EFD_NONBLOCK)); }
OP(open_tmpfile) { got(s, w[1], open(".", O_TMPFILE | O_RDWR, 0600)); }

OP(openat)
{
    DESCRIPTOR(d, w[2]);
    got(s, w[1], openat(d, w[3], flags(w[4]), 0640));
}

OP(openat2)
{
    char path[PATH_MAX];
    struct open_how how = {.flags = flags(w[3]), .mode = flags(w[3]) & O_CREAT ? 0640 : 0};
    got(s, w[1], (int)syscall(SYS_openat2, AT_FDCWD, name(s, w[2], path), &how, sizeof how));
}

/* Its name differs from run to run, and nobody needs it. */
OP(mkstemp)
{
    char path[] = "mk-XXXXXX";
    int file = mkstemp(path);
    if (file >= 0)
        unlink(path);
    got(s, w[1], file);
}

OP(shm_open)
{
    char path[PATH_MAX];
    name(s, w[2], path);
    got(s, w[1], shm_open(path + strlen("/dev/shm"), O_RDWR | O_CREAT, 0600));
}

OP(dup) { DESCRIPTOR(d, w[2]); got(s, w[1], dup(d)); }
OP(dupfd) { DESCRIPTOR(d, w[2]); got(s, w[1], fcntl(d, F_DUPFD, (int)number(w[3]))); }
OP(dupfd_cloexec) { DESCRIPTOR(d, w[2]); got(s, w[1], fcntl(d, F_DUPFD_CLOEXEC, (int)number(w[3]))); }
OP(dup_of_stream) { STREAM(f, w[2]); got(s, w[1], dup(fileno(f))); }

/* The first one means the second from then on. */
OP(dup2) { DESCRIPTOR(to, w[1]); DESCRIPTOR(d, w[2]); told_number(s, dup2(d, to)); }
OP(dup3) { DESCRIPTOR(to, w[1]); DESCRIPTOR(d, w[2]); told_number(s, dup3(d, to, O_CLOEXEC)); }
OP(raw_dup3) { DESCRIPTOR(to, w[1]); DESCRIPTOR(d, w[2]); told_number(s, syscall(SYS_dup3, d, to, 0)); }

static void gone(struct state *s, const char *word, long result)
{
    s->descriptor[slot(word)] = -1;
    told(s, result);
}

OP(close) { DESCRIPTOR(d, w[1]); gone(s, w[1], close(d)); }
OP(raw_close) { DESCRIPTOR(d, w[1]); gone(s, w[1], syscall(SYS_close, d)); }
OP(close_range) { DESCRIPTOR(d, w[1]); gone(s, w[1], close_range(d, d, 0)); }
OP(raw_close_range) { DESCRIPTOR(d, w[1]); gone(s, w[1], syscall(SYS_close_range, d, d, 0)); }

static void all_gone(struct state *s, long result)
{
    for (int i = 0; i < DESCRIPTORS; i++)
        if (s->descriptor[i] > 2)
            s->descriptor[i] = -1;
    told(s, result);
}

OP(closefrom) { NO_WORDS; closefrom(3); all_gone(s, 0); }
OP(close_all) { NO_WORDS; all_gone(s, close_range(3, ~0u, 0)); }

static void got_two(struct state *s, char **w, int result, const int *pair)
{
    s->descriptor[slot(w[1])] = result == 0 ? pair[0] : -1;
    s->descriptor[slot(w[2])] = result == 0 ? pair[1] : -1;
    told_number(s, result == 0 ? pair[0] * 1000 + pair[1] : -1);
}

OP(pipe)
{
    int pair[2], result = pipe2(pair, O_NONBLOCK);
    got_two(s, w, result, pair);
}

OP(socketpair)
{
    int pair[2], result = socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair);
    got_two(s, w, result, pair);
}

/* Sent through a socket, received as another one; the sockets are closed by the named function. */
OP(pass)
{
    DESCRIPTOR(d, w[2]);
    int pair[2], received = -1;
    char byte = 'x';
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    memset(&control, 0, sizeof control);
    struct iovec vector = {&byte, 1};
    struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1, .msg_control = &control,
                             .msg_controllen = sizeof control};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &d, sizeof d);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) {
        told(s, -1);
        return;
    }
    bool sent = sendmsg(pair[0], &message, 0) == 1;
    message.msg_controllen = sizeof control;
    if (sent && recvmsg(pair[1], &message, 0) == 1)
        memcpy(&received, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof received);
    for (int i = 0; i < 2; i++)
        if (strcmp(w[3], "raw") == 0)
            syscall(SYS_close, pair[i]);
        else
            close(pair[i]);
    got(s, w[1], received);
}

OP(pidfd_getfd)
{
    DESCRIPTOR(d, w[2]);
    int self = (int)syscall(SYS_pidfd_open, getpid(), 0);
    int copy = self < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, self, d, 0);
    if (self >= 0)
        syscall(SYS_close, self);
    got(s, w[1], copy);
}

OP(fdopendir)
{
    DESCRIPTOR(d, w[2]);
    DIR *directory = fdopendir(d);
    s->directory[slot(w[1])] = directory;
    if (directory)
        s->descriptor[slot(w[2])] = -1;
    told(s, directory ? 0 : -1);
}

OP(opendir)
{
    char path[PATH_MAX];
    s->directory[slot(w[1])] = opendir(name(s, w[2], path));
    told(s, s->directory[slot(w[1])] ? 0 : -1);
}

OP(closedir)
{
    DIR *directory = s->directory[slot(w[1])];
    if (!directory) {
        nothing_there(s);
        return;
    }
    while (readdir(directory))
        ;
    s->directory[slot(w[1])] = NULL;
    told(s, closedir(directory));
}

#endif
