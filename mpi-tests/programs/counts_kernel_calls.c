/* Runs a command, and writes down what the kernel moves to and from regular files for it and its children.
 *
 * usage: counts_kernel_calls [--every-call] BOARD OUT COMMAND...
 *
 * The calls are seen by ptrace: a filter stops at those of interest, or with --every-call all calls do (for
 * programs that behave otherwise where there is a filter). OUT has lines of words with tabs between them:
 *
 *   calls SCRIPT LAYER read|write CALLS MOVED BYTES NAME
 *       calls one after the other of the same kind on the same file, how many of them moved something, and
 *       how much all of them did; a call that fails has moved nothing
 *   same SCRIPT NAME NAME
 *       two names of a file: the one it was opened by and the true one; before and after it was renamed
 *
 * SCRIPT and LAYER are what the command says on its BOARD (plays_streams/board.h). Names are those that the
 * kernel has at the time of the call. The exit status is that of the command. */
#define _GNU_SOURCE
#include "plays_streams/board.h"
#include <errno.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/ptrace.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

/* Not in every <sys/ptrace.h>, which does not go together with <linux/ptrace.h>. */
long ptrace(int request, ...);

/* What a call does; the numbers are those of the arguments that are descriptors or names. */
enum kind { MOVES, OPENS, RENAMES };
static const struct call {
    long number;
    enum kind kind;
    int from, to;           /* MOVES: the descriptor that is read, that is written */
    int directory, name;    /* OPENS; RENAMES: the old one */
    int directory2, name2;  /* RENAMES: the new one */
} CALLS[] = {
    {SYS_read, MOVES, 0, -1, 0, 0, 0, 0},
    {SYS_write, MOVES, -1, 0, 0, 0, 0, 0},
    {SYS_pread64, MOVES, 0, -1, 0, 0, 0, 0},
    {SYS_pwrite64, MOVES, -1, 0, 0, 0, 0, 0},
    {SYS_readv, MOVES, 0, -1, 0, 0, 0, 0},
    {SYS_writev, MOVES, -1, 0, 0, 0, 0, 0},
    {SYS_preadv, MOVES, 0, -1, 0, 0, 0, 0},
    {SYS_pwritev, MOVES, -1, 0, 0, 0, 0, 0},
    {SYS_preadv2, MOVES, 0, -1, 0, 0, 0, 0},
    {SYS_pwritev2, MOVES, -1, 0, 0, 0, 0, 0},
    {SYS_sendfile, MOVES, 1, 0, 0, 0, 0, 0},
    {SYS_copy_file_range, MOVES, 0, 2, 0, 0, 0, 0},
    {SYS_splice, MOVES, 0, 2, 0, 0, 0, 0},
    {SYS_openat, OPENS, -1, -1, 0, 1, 0, 0},
    {SYS_openat2, OPENS, -1, -1, 0, 1, 0, 0},
    {SYS_renameat2, RENAMES, -1, -1, 0, 1, 2, 3},
    {SYS_linkat, RENAMES, -1, -1, 0, 1, 2, 3},
    {SYS_renameat, RENAMES, -1, -1, 0, 1, 2, 3},
#ifdef SYS_open
    {SYS_open, OPENS, -1, -1, -1, 0, 0, 0},
    {SYS_creat, OPENS, -1, -1, -1, 0, 0, 0},
    {SYS_rename, RENAMES, -1, -1, -1, 0, -1, 1},
    {SYS_link, RENAMES, -1, -1, -1, 0, -1, 1},
#endif
};
enum { NUMBER_OF_CALLS = sizeof CALLS / sizeof *CALLS };

static struct board *board;
static FILE *out;

static void fail(const char *what)
{
    perror(what);
    exit(125);
}

/* A call that has begun: what its arguments meant then. */
struct begun {
    pid_t thread;
    const struct call *call;
    unsigned script, layer;
    bool has[2];          /* a regular file is read, is written; or a name was found */
    char name[2][PATH_MAX];
};
static struct begun begun[THREADS];

static struct begun *of_thread(pid_t thread)
{
    return &begun[thread % THREADS];
}

static bool link_of(pid_t thread, const char *what, char *name)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", thread, what);
    ssize_t length = readlink(path, name, PATH_MAX - 1);
    name[length > 0 ? length : 0] = 0;
    return length > 0;
}

/* The name of a descriptor, if it is a regular file. */
static bool file_of(pid_t thread, int descriptor, char *name)
{
    char what[32], path[64];
    struct stat stat_buffer;
    snprintf(what, sizeof what, "fd/%d", descriptor);
    snprintf(path, sizeof path, "/proc/%d/%s", thread, what);
    return stat(path, &stat_buffer) == 0 && S_ISREG(stat_buffer.st_mode) && link_of(thread, what, name);
}

static bool text_at(pid_t thread, uint64_t address, char *text, size_t room)
{
    for (size_t length = 0; length + 1 < room;) {
        /* Not beyond a page, the next of which may not be there. */
        size_t part = 4096 - (address + length) % 4096;
        part = part < room - 1 - length ? part : room - 1 - length;
        struct iovec here = {text + length, part}, there = {(void *)(uintptr_t)(address + length), part};
        ssize_t got = process_vm_readv(thread, &here, 1, &there, 1, 0);
        if (got <= 0)
            return false;
        if (memchr(text + length, 0, got))
            return true;
        length += got;
    }
    return false;
}

/* A name from the root, as it was given: with its dots and links. */
static bool given_name(pid_t thread, const __u64 *arguments, int directory, int argument, char *name)
{
    char text[PATH_MAX / 2], what[32] = "cwd";
    if (!text_at(thread, arguments[argument], text, sizeof text))
        return false;
    if (text[0] == '/')
        return snprintf(name, PATH_MAX, "%s", text) < PATH_MAX;
    if (directory >= 0 && (int)arguments[directory] != AT_FDCWD)
        snprintf(what, sizeof what, "fd/%d", (int)arguments[directory]);
    char base[PATH_MAX];
    return link_of(thread, what, base) && snprintf(name, PATH_MAX, "%s/%s", base, text) < PATH_MAX;
}

/* True if the end of the call is of interest. */
static bool begins(pid_t thread, long number, const __u64 *arguments)
{
    const struct call *call = CALLS;
    while (call < CALLS + NUMBER_OF_CALLS && call->number != number)
        call++;
    if (call == CALLS + NUMBER_OF_CALLS)
        return false;
    struct begun *this = of_thread(thread);
    this->thread = thread;
    this->call = call;
    this->script = board->script;
    unsigned of = thread % THREADS;
    this->layer = board->layers[of].thread == (unsigned)thread ? board->layers[of].layer : EITHER;
    this->has[0] = this->has[1] = false;
    switch (call->kind) {
    case MOVES:
        this->has[0] = call->from >= 0 && file_of(thread, (int)arguments[call->from], this->name[0]);
        this->has[1] = call->to >= 0 && file_of(thread, (int)arguments[call->to], this->name[1]);
        break;
    case RENAMES:
        this->has[1] = given_name(thread, arguments, call->directory2, call->name2, this->name[1]);
        /* fall through */
    case OPENS:
        this->has[0] = given_name(thread, arguments, call->directory, call->name, this->name[0]);
    }
    if (this->has[0] || this->has[1])
        return true;
    this->thread = 0;
    return false;
}

/* The kernel begins these anew. */
static bool is_restarted(int64_t result)
{
    return result <= -512 && result >= -516;
}

/* Calls that are not written down yet. */
static struct {
    unsigned script, layer;
    int way;
    unsigned long long calls, moved, bytes;
    char name[PATH_MAX];
} run;

static void write_run(void)
{
    static const char *const LAYERS[] = {"either", "posix", "stdio"}, *const WAYS[] = {"read", "write"};
    if (run.calls > 0)
        fprintf(out, "calls\t%u\t%s\t%s\t%llu\t%llu\t%llu\t%s\n", run.script, LAYERS[run.layer],
                WAYS[run.way], run.calls, run.moved, run.bytes, run.name);
    run.calls = run.moved = run.bytes = 0;
}

static void count(const struct begun *this, int way, int64_t result)
{
    bool goes_on = run.script == this->script && run.layer == this->layer && run.way == way;
    if (!goes_on || strcmp(run.name, this->name[way]) != 0) {
        write_run();
        run.script = this->script;
        run.layer = this->layer;
        run.way = way;
        strcpy(run.name, this->name[way]);
    }
    run.calls++;
    run.moved += result > 0;
    run.bytes += result > 0 ? (unsigned long long)result : 0;
}

static void without_links(char *name)
{
    char directory[PATH_MAX], *slash = strrchr(name, '/');
    if (!slash || slash == name)
        return;
    *slash = 0;
    bool known = realpath(name, directory);
    *slash = '/';
    if (known && strlen(directory) + strlen(slash) < PATH_MAX) {
        memmove(name + strlen(directory), slash, strlen(slash) + 1);
        memcpy(name, directory, strlen(directory));
    }
}

static void ends(pid_t thread, int64_t result)
{
    struct begun *this = of_thread(thread);
    if (this->thread != thread)
        return;
    this->thread = 0;
    switch (this->call->kind) {
    case MOVES:
        for (int way = 0; way < 2 && !is_restarted(result); way++)
            if (this->has[way])
                count(this, way, result);
        return;
    case OPENS:
        this->has[1] = result >= 0 && file_of(thread, (int)result, this->name[1]);
        break;
    case RENAMES:
        this->has[1] = this->has[1] && result == 0;
        /* What was opened has its name without links; the directories of these may have some. */
        for (int i = 0; i < 2 && this->has[i]; i++)
            without_links(this->name[i]);
    }
    if (this->has[0] && this->has[1] && strcmp(this->name[0], this->name[1]) != 0)
        fprintf(out, "same\t%u\t%s\t%s\n", this->script, this->name[0], this->name[1]);
}

/* Stops at the calls of interest, lets all others pass. */
static void install_filter(void)
{
    static struct sock_filter filter[NUMBER_OF_CALLS + 3];
    filter[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < NUMBER_OF_CALLS; i++)
        filter[1 + i] =
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CALLS[i].number, NUMBER_OF_CALLS - i, 0);
    filter[NUMBER_OF_CALLS + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    filter[NUMBER_OF_CALLS + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
    struct sock_fprog program = {NUMBER_OF_CALLS + 3, filter};
    bool allowed = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
    if (!allowed || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        fail("seccomp");
}

/* A stop of a thread: looks at it, and lets it go on. */
static void stopped(pid_t thread, int status, bool every_call)
{
    int event = status >> 16, signal = WSTOPSIG(status);
    bool wants_end = every_call;
    if (event == PTRACE_EVENT_SECCOMP || signal == (SIGTRAP | 0x80)) {
        struct ptrace_syscall_info info;
        if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof info, &info) > 0) {
            if (info.op == PTRACE_SYSCALL_INFO_SECCOMP)
                wants_end = begins(thread, info.seccomp.nr, info.seccomp.args);
            else if (info.op == PTRACE_SYSCALL_INFO_ENTRY)
                begins(thread, info.entry.nr, info.entry.args);
            else if (info.op == PTRACE_SYSCALL_INFO_EXIT)
                ends(thread, info.exit.rval);
        }
        signal = 0;
    } else if (event == PTRACE_EVENT_STOP && signal != SIGTRAP) {
        ptrace(PTRACE_LISTEN, thread, 0, 0);
        return;
    } else if (event != 0) {
        signal = 0;
    }
    ptrace(wants_end ? PTRACE_SYSCALL : PTRACE_CONT, thread, 0, signal);
}

int main(int count, char **words)
{
    bool every_call = count > 1 && strcmp(words[1], "--every-call") == 0;
    words += every_call;
    if (count - every_call < 4) {
        fprintf(stderr, "usage: counts_kernel_calls [--every-call] BOARD OUT COMMAND...\n");
        return 125;
    }
    board = map_board(words[1]);
    out = fopen(words[2], "we");
    if (!board || !out)
        fail(words[2]);
    pid_t child = fork();
    if (child == 0) {
        raise(SIGSTOP);
        if (!every_call)
            install_filter();
        execvp(words[3], words + 3);
        fail(words[3]);
    }
    int status, result = 125;
    if (child < 0 || waitpid(child, &status, WUNTRACED) != child)
        fail("fork");
    long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                   PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
    if (ptrace(PTRACE_SEIZE, child, 0, options) != 0)
        fail("ptrace");
    kill(child, SIGCONT);
    for (pid_t thread; (thread = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR;) {
        if (thread > 0 && WIFSTOPPED(status))
            stopped(thread, status, every_call);
        else if (thread == child)
            result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    write_run();
    if (fclose(out) != 0)
        fail(words[2]);
    return result;
}
