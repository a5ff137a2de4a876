/* Ways to read and write that few programs use, without MPI. Says what each did: one line
   "LAYER FILE read BYTES written BYTES" per file, or what else there is to say.
   usage: unusual_io WAY */
#define _GNU_SOURCE
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <locale.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

extern char **environ;

enum { LARGE = 1500000 };
static char data[LARGE];

static void check(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "failed: %s (%s)\n", what, strerror(errno));
        exit(1);
    }
}

static int create(const char *name)
{
    int file = open(name, O_CREAT | O_RDWR | O_TRUNC, 0600);
    check(file >= 0, name);
    return file;
}

static void put(int file, size_t bytes)
{
    check(write(file, data, bytes) == (ssize_t)bytes, "write");
}

static long size_of(const char *name)
{
    struct stat stat;
    check(lstat(name, &stat) == 0, name);
    return stat.st_size;
}

static void tell(const char *layer, const char *name, long read, long written)
{
    printf("%s %s read %ld written %ld\n", layer, name, read, written);
}

static void wait_for(pid_t child)
{
    int status;
    check(waitpid(child, &status, 0) == child && status == 0, "a child");
}

/* Characters become bytes by the encoding of the locale, when they leave the buffer. */
static void wide(void)
{
    wchar_t line[200];
    check(setlocale(LC_ALL, "C.UTF-8") != NULL, "locale");
    FILE *file = fopen("formatted", "w");
    for (int i = 0; i < 20000; i++)
        fwprintf(file, L"line %d \u00e4\u00f6 %f \u20ac\n", i, i * 1.5);
    fclose(file);
    file = fopen("characters", "w");
    for (int i = 0; i < 100000; i++)
        fputwc(i % 3 ? L'\u00e4' : L'x', file);
    fclose(file);
    file = fopen("strings", "w");
    for (int i = 0; i < 5000; i++)
        fputws(L"hello \u20ac\n", file);
    fflush(file);
    fputws(L"the rest", file);
    fclose(file);
    file = fopen("strings", "a+");
    fputws(L"more \u20ac", file);
    fflush(NULL);
    fclose(file);
    file = fopen("both", "w+");
    for (int i = 0; i < 3000; i++)
        fputws(L"back \u20ac\n", file);
    rewind(file);
    while (fgetws(line, 200, file) != NULL)
        ;
    fclose(file);
    file = fopen("formatted", "r");
    while (fgetws(line, 200, file) != NULL)
        ;
    fclose(file);
    file = fopen("characters", "r");
    while (fgetwc(file) != WEOF)
        ;
    fclose(file);
    file = fopen("strings", "r");
    while (fwscanf(file, L"%199ls", line) == 1)
        ;
    fclose(file);
    file = fopen("open", "w");
    for (int i = 0; i < 2000; i++)
        fputws(L"never closed \u20ac\n", file);
    fwide(stdout, -1);
    tell("stdio", "formatted", size_of("formatted"), size_of("formatted"));
    tell("stdio", "characters", size_of("characters"), size_of("characters"));
    tell("stdio", "strings", size_of("strings"), size_of("strings"));
    tell("stdio", "both", size_of("both"), size_of("both"));
    tell("stdio", "open", 0, 2000 * 17);
}

/* Descriptors that a child has from its parent, which opened them: before it was recorded, and after. */
static void inherited(void)
{
    char *head[] = {"head", "-c", "1600000", "/dev/zero", NULL};
    int one = create("one"), two = create("two");
    pid_t child = fork();
    if (child == 0) {
        put(one, LARGE);
        _exit(0);
    }
    wait_for(child);
    child = fork();
    if (child == 0) {
        dup2(two, 1);
        execvp(head[0], head);
        _exit(1);
    }
    wait_for(child);
    put(one, LARGE);
    child = fork();
    if (child == 0) {
        put(one, LARGE);
        child = fork();
        if (child == 0) {
            put(one, LARGE);
            exit(0);
        }
        wait_for(child);
        _exit(0);
    }
    wait_for(child);
    child = vfork();
    if (child == 0) {
        dup2(two, 1);
        close(one);
        execvp(head[0], head);
        _exit(1);
    }
    wait_for(child);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, two, 1);
    check(posix_spawnp(&child, head[0], &actions, NULL, head, environ) == 0, "posix_spawn");
    wait_for(child);
    child = (pid_t)syscall(SYS_fork);
    if (child == 0) {
        put(two, LARGE);
        _exit(0);
    }
    wait_for(child);
    put(one, 33);
    tell("posix", "one", 0, size_of("one"));
    tell("posix", "two", 0, LARGE);
    tell("stdio", "two", 0, size_of("two") - LARGE);
}

/* A descriptor that comes by a socket, one by a call that the C library does not know, one that has no name,
   and numbers that come to mean something else. */
static void descriptors(void)
{
    int ends[2], file = create("sent"), other;
    check(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
    char control[CMSG_SPACE(sizeof file)] = {0}, byte = 'x';
    struct iovec vector = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &vector, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET, header->cmsg_type = SCM_RIGHTS, header->cmsg_len = CMSG_LEN(sizeof file);
    memcpy(CMSG_DATA(header), &file, sizeof file);
    check(sendmsg(ends[0], &message, 0) == 1 && recvmsg(ends[1], &message, 0) == 1, "a socket");
    memcpy(&other, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof other);
    put(other, LARGE);
    tell("posix", "sent", 0, LARGE);

    other = (int)syscall(SYS_openat, AT_FDCWD, "raw", O_CREAT | O_RDWR, 0600);
    put(other, 1000);
    tell("posix", "raw", 0, 1000);
    other = open(".", O_TMPFILE | O_RDWR, 0600);
    put(other, 2000);
    tell("posix", "(temporary)", 0, 2000);

    int first = create("first"), second = create("second");
    put(first, 100), put(second, 200);
    close_range((unsigned)first, (unsigned)second, 0);
    first = create("third"), second = create("fourth");
    put(first, 300), put(second, 400);
    dup3(first, second, O_CLOEXEC);
    put(second, 500);
    put(fcntl(first, F_DUPFD_CLOEXEC, 100), 600);
    syscall(SYS_close, first);
    first = create("fifth");
    put(first, 700);
    dprintf(first, "%s", "8 bytes.");
    tell("posix", "first", 0, 100), tell("posix", "second", 0, 200), tell("posix", "third", 0, 1400);
    tell("posix", "fourth", 0, 400), tell("posix", "fifth", 0, 708);

    FILE *stream = fdopen(create("buffered"), "w+");
    fwrite(data, 1, 5000, stream);
    setvbuf(stream, NULL, _IONBF, 0);
    fputs("abc", stream);
    char *text;
    size_t length;
    FILE *memory = open_memstream(&text, &length);
    fwrite(data, 1, LARGE, memory);
    fclose(memory);
    tell("stdio", "buffered", 0, 5003);
}

/* Nobody asks for the results: the program only looks whether there is one. */
static void asynchronous(void)
{
    int file = create("list"), single = create("single"), waited = create("waited");
    struct aiocb blocks[3] = {{0}}, one = {0};
    struct aiocb *list[4] = {&blocks[0], NULL, &blocks[1], &blocks[2]};
    for (int i = 0; i < 3; i++) {
        blocks[i].aio_fildes = file, blocks[i].aio_buf = data, blocks[i].aio_nbytes = 400000;
        blocks[i].aio_offset = i * 400000L, blocks[i].aio_lio_opcode = LIO_WRITE;
    }
    check(lio_listio(LIO_WAIT, list, 4, NULL) == 0, "lio_listio");
    one.aio_fildes = single, one.aio_buf = data, one.aio_nbytes = 300000;
    check(aio_write(&one) == 0, "aio_write");
    while (aio_error(&one) == EINPROGRESS)
        usleep(100);
    check(aio_error(&one) == 0 && aio_return(&one) == 300000, "its result, after all");
    const struct aiocb *pending[1] = {&one};
    one.aio_fildes = waited, one.aio_nbytes = 200000;
    check(aio_write(&one) == 0 && aio_suspend(pending, 1, NULL) == 0, "aio_suspend");
    tell("posix", "list", 0, 1200000), tell("posix", "single", 0, 300000);
    tell("posix", "waited", 0, 200000);
}

static int in_handler;
static long handled;

static void write_in_handler(int signal)
{
    (void)signal;
    int kept = errno;
    if (write(in_handler, data, 100) == 100)
        handled += 100;
    errno = kept;
}

static void interrupt_every(long microseconds)
{
    struct itimerval timer = {{0, microseconds}, {0, microseconds}};
    check(setitimer(ITIMER_REAL, &timer, NULL) == 0, "setitimer");
}

/* A handler writes while the program does, and while the program is recorded. */
static void signals(void)
{
    struct sigaction action = {.sa_handler = write_in_handler, .sa_flags = SA_RESTART};
    int file = create("file");
    in_handler = create("handler");
    sigaction(SIGALRM, &action, NULL);
    interrupt_every(100);
    FILE *stream = fopen("stream", "w");
    for (int i = 0; i < 30000; i++) {
        check(pwrite(file, data, 500, i * 500L) == 500, "pwrite");
        fprintf(stream, "%d %s\n", i, "a line");
    }
    interrupt_every(0);
    fclose(stream);
    tell("posix", "file", 0, 30000 * 500L), tell("posix", "handler", 0, handled);
    tell("stdio", "stream", 0, size_of("stream"));
}

static sigjmp_buf place;

static void jump(int signal)
{
    (void)signal;
    siglongjmp(place, 1);
}

/* A handler leaves what the program, or who records it, was doing for good. */
static void jumps(void)
{
    int file = create("file");
    volatile int jumped = 0;
    volatile long written = 0;
    signal(SIGALRM, jump);
    while (jumped++ < 300) {
        if (sigsetjmp(place, 1) == 0) {
            struct itimerval timer = {{0, 0}, {0, 300}};
            setitimer(ITIMER_REAL, &timer, NULL);
            while (pwrite(file, data, 100, 0) == 100)
                written += 100;
        }
    }
    for (int i = 0; i < 20000; i++)
        check(pwrite(file, data, 100, 0) == 100, "a write after all jumps");
    /* Each jump may have left a call that had written. */
    printf("%ld %ld\n", written + 20000 * 100L, written + 20000 * 100L + 300 * 100L);
}

/* Nothing may be written beyond a limit. */
static void limited(void)
{
    struct rlimit limit = {100000, 100000};
    signal(SIGXFSZ, SIG_IGN);
    check(setrlimit(RLIMIT_FSIZE, &limit) == 0, "setrlimit");
    int file = create("vectors");
    struct iovec vectors[2] = {{data, 60000}, {data, 60000}};
    check(writev(file, vectors, 2) == 100000 && write(file, data, 10) < 0 && errno == EFBIG, "a limit");
    FILE *stream = fopen("items", "w");
    check(fwrite(data, 1, 150000, stream) == 100000 && errno == EFBIG, "fwrite");
    fclose(stream);
    stream = fopen("lines", "w");
    int failed = 0;
    for (int i = 0; i < 20000; i++)
        failed += fprintf(stream, "line %d\n", i) < 0;
    check(failed > 0 && fclose(stream) != 0, "fprintf");
    printf("%ld\n", size_of("vectors") + size_of("items") + size_of("lines"));
}

/* The process forbids itself everything but a few system calls: any other one is its end. */
static void sandbox(const char *way)
{
    int file = create("file"), late = create("late");
    put(file, LARGE);
#define ALLOW(number) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        ALLOW(SYS_write), ALLOW(SYS_pwrite64), ALLOW(SYS_close), ALLOW(SYS_exit_group),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "prctl");
    if (strcmp(way, "sandbox") == 0)
        check(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0, "a filter");
    else
        check(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0, "a filter");
    for (int i = 0; i < 10000; i++)
        put(file, 100);
    put(late, LARGE);
    close(late);
    _exit(write(1, "done\n", 5) != 5);
}

/* All descriptors are in use for a while, just when the program has done enough to be recorded. */
static void crowded(void)
{
    int file = create("file"), copies[16], count = 0;
    struct rlimit limit = {12, 12};
    check(setrlimit(RLIMIT_NOFILE, &limit) == 0, "setrlimit");
    while (count < 16 && (copies[count] = dup(file)) >= 0)
        count++;
    check(count > 0 && errno == EMFILE, "a limit");
    for (int i = 0; i < 1000; i++)
        put(copies[i % count], 2000);
    while (count > 0)
        close(copies[--count]);
    for (int i = 0; i < 10000; i++)
        put(file, 100);
    tell("posix", "file", 0, size_of("file"));
}

/* Files of one name in several directories, into which the C library goes by itself, or each thread for
   itself. */
static int visited(const char *path, const struct stat *stat, int kind, struct FTW *place)
{
    (void)stat;
    if (kind == FTW_F) {
        int file = open(path + place->base, O_RDWR | O_APPEND);
        check(file >= 0, path);
        put(file, 5);
        close(file);
    }
    return 0;
}

static void *goes_into(void *directory)
{
    check(unshare(CLONE_FS) == 0 && chdir(directory) == 0, "a directory of its own");
    for (int i = 0; i < 100; i++) {
        int file = open("same", O_RDWR | O_APPEND);
        put(file, 2);
        close(file);
        usleep(100);
    }
    return NULL;
}

static void directories(void)
{
    static char *names[3] = {"one", "two", "three"}, *roots[] = {".", NULL};
    for (int i = 0; i < 3; i++) {
        check(mkdir(names[i], 0700) == 0 && chdir(names[i]) == 0, names[i]);
        int file = create("same");
        put(file, 100000UL * (i + 1));
        close(file);
        check(chdir("..") == 0, "..");
    }
    check(nftw(".", visited, 9, FTW_CHDIR | FTW_PHYS) == 0, "nftw");
    FTS *tree = fts_open(roots, FTS_PHYSICAL, NULL);
    for (FTSENT *entry; (entry = fts_read(tree)) != NULL;) {
        if (entry->fts_info == FTS_F && strcmp(entry->fts_name, "same") == 0) {
            FILE *stream = fopen(entry->fts_accpath, "r");
            while (fread(data, 1, 4096, stream) > 0)
                ;
            fclose(stream);
        }
    }
    fts_close(tree);
    for (int i = 0; i < 3; i++)
        tell("stdio", (char[][11]){"one/same", "two/same", "three/same"}[i], 100000L * (i + 1) + 5, 0);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, goes_into, names[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    // Directories that are gone, whose numbers are those of others now, and a link that is another one.
    int here = open(".", O_DIRECTORY), file;
    for (int i = 0; i < 5; i++) {
        char gone[8];
        snprintf(gone, sizeof gone, "gone-%d", i);
        check(mkdir(gone, 0700) == 0, gone);
        int directory = open(gone, O_DIRECTORY);
        file = openat(directory, "file", O_CREAT | O_RDWR, 0600);
        put(file, 10UL * (i + 1));
        check(!close(file) && !unlinkat(directory, "file", 0) && !close(directory) && !rmdir(gone), gone);
        printf("posix %s/file read 0 written %d\n", gone, 10 * (i + 1));
    }
    for (int i = 0; i < 2; i++) {
        const char *target = i == 0 ? "first" : "second";
        close(create(target));
        check(symlinkat(target, here, "link") == 0, "a link");
        file = openat(here, "link", O_RDWR);
        put(file, 1000UL + i);
        check(close(file) == 0 && unlink("link") == 0, "a link that goes");
        tell("posix", target, 0, 1000 + i);
    }
    for (int i = 0; i < 3; i++)
        tell("posix", (char[][11]){"one/same", "two/same", "three/same"}[i], 0,
             100000L * (i + 1) + (i < 2 ? 205 : 5));
}

/* Threads with descriptors of their own: the same numbers mean other files. */
static void *has_its_own(void *name)
{
    check(unshare(CLONE_FILES) == 0, "descriptors of its own");
    for (int i = 0; i < 200; i++) {
        int file = open(name, O_CREAT | O_RDWR | O_APPEND, 0600);
        check(file >= 0, name);
        put(file, 100);
        usleep(100);
        put(file, 1);
        close(file);
    }
    return NULL;
}

static void tables(void)
{
    static char names[4][4] = {"a", "b", "c", "d"};
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, has_its_own, names[i]);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 4; i++)
        tell("posix", names[i], 0, size_of(names[i]));
}

int main(int argc, char **argv)
{
    const struct {
        const char *name;
        void (*run)(void);
    } ways[] = {
        {"wide", wide}, {"inherited", inherited}, {"descriptors", descriptors},
        {"asynchronous", asynchronous}, {"signals", signals}, {"jumps", jumps},
        {"limited", limited}, {"crowded", crowded}, {"directories", directories}, {"tables", tables},
    };
    const char *way = argc == 2 ? argv[1] : "";
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (strcmp(way, ways[i].name) == 0) {
            ways[i].run();
            return 0;
        }
    }
    if (strncmp(way, "sandbox", 7) == 0)
        sandbox(way);
    return 2;
}
