/* Plays scripts of calls on streams and descriptors, one call a line, and logs what each call returned.
 *
 * usage: plays_streams SCRIPTS BOARD ROOT SHARED_MEMORY
 *
 * SCRIPTS is a file of scripts: a line "script NUMBER WAY", the calls, a line "end HOW". WAY is `fork` (a
 * child of this process plays it), `fresh` (a child that has executed this program anew) or `here` (this
 * process, and its end is the end). Every script has a directory ROOT/sNUMBER: in it a file `stdin`, which is
 * the standard input, `stdout` and `stderr`, a directory `d` and a link `link` to it. Names of its files in
 * shared memory begin with SHARED_MEMORY, such as /dev/shm/test-. The log is on the BOARD
 * (plays_streams/board.h). mpi-tests/tests/e2e/streams has the list of all calls, and the rules by which
 * scripts are drawn. */
#define _GNU_SOURCE
#include "plays_streams/board.h"
#include "plays_streams/bytes.h"
#include "plays_streams/descriptors.h"
#include "plays_streams/paths.h"
#include "plays_streams/processes.h"
#include "plays_streams/state.h"
#include "plays_streams/streams.h"
#include "plays_streams/transfers.h"
#include "plays_streams/wide.h"
#include <locale.h>
#include <poll.h>

#define ROW(layer, name) {#name, op_##name, layer}
static const struct row {
    const char *name;
    operation *call;
    enum layer layer;
} ROWS[] = {
    ROW(STDIO, fopen), ROW(STDIO, fdopen), ROW(STDIO, freopen), ROW(STDIO, tmpfile),
    ROW(STDIO, open_memstream), ROW(STDIO, open_wmemstream), ROW(STDIO, fmemopen), ROW(STDIO, fopencookie),
    ROW(STDIO, fclose), ROW(STDIO, fcloseall), ROW(STDIO, setvbuf), ROW(STDIO, setbuf),
    ROW(STDIO, setbuffer), ROW(STDIO, setlinebuf), ROW(STDIO, fseek), ROW(STDIO, fseeko),
    ROW(STDIO, rewind), ROW(STDIO, ftell), ROW(STDIO, ftello), ROW(STDIO, fgetpos), ROW(STDIO, fsetpos),
    ROW(STDIO, fflush), ROW(STDIO, fflush_unlocked), ROW(STDIO, fflush_all), ROW(STDIO, fpurge),
    ROW(STDIO, clearerr), ROW(STDIO, fwide), ROW(STDIO, fread), ROW(STDIO, fread_unlocked),
    ROW(STDIO, fgetc), ROW(STDIO, getc), ROW(STDIO, getc_unlocked), ROW(STDIO, getchar), ROW(STDIO, ungetc),
    ROW(STDIO, fgets), ROW(STDIO, fgets_unlocked), ROW(STDIO, getline), ROW(STDIO, getdelim),
    ROW(STDIO, fscanf), ROW(STDIO, vfscanf), ROW(STDIO, scanf), ROW(STDIO, fwrite),
    ROW(STDIO, fwrite_unlocked), ROW(STDIO, fputc), ROW(STDIO, putc), ROW(STDIO, putc_unlocked),
    ROW(STDIO, putchar), ROW(STDIO, fputs), ROW(STDIO, fputs_unlocked), ROW(STDIO, fprintf),
    ROW(STDIO, vfprintf), ROW(STDIO, puts), ROW(STDIO, printf), ROW(STDIO, perror), ROW(STDIO, psignal),
    ROW(STDIO, warnx), ROW(STDIO, error), ROW(STDIO, fgetwc), ROW(STDIO, getwc), ROW(STDIO, ungetwc),
    ROW(STDIO, fgetws), ROW(STDIO, fwscanf), ROW(STDIO, fputwc), ROW(STDIO, putwc), ROW(STDIO, fputws),
    ROW(STDIO, fwprintf), ROW(POSIX, open), ROW(POSIX, creat), ROW(POSIX, openat), ROW(POSIX, openat2),
    ROW(POSIX, open_tmpfile), ROW(POSIX, mkstemp), ROW(POSIX, shm_open), ROW(POSIX, memfd_create),
    ROW(POSIX, eventfd), ROW(POSIX, dup), ROW(POSIX, dupfd), ROW(POSIX, dupfd_cloexec),
    ROW(POSIX, dup_of_stream), ROW(POSIX, dup2), ROW(POSIX, dup3), ROW(POSIX, raw_dup3), ROW(POSIX, close),
    ROW(POSIX, raw_close), ROW(POSIX, close_range), ROW(POSIX, raw_close_range), ROW(POSIX, closefrom),
    ROW(POSIX, close_all), ROW(POSIX, pipe), ROW(POSIX, socketpair), ROW(POSIX, pass),
    ROW(POSIX, pidfd_getfd), ROW(POSIX, fdopendir), ROW(POSIX, opendir), ROW(POSIX, closedir),
    ROW(POSIX, read), ROW(POSIX, write), ROW(POSIX, pread), ROW(POSIX, pwrite), ROW(POSIX, readv),
    ROW(POSIX, writev), ROW(POSIX, preadv), ROW(POSIX, pwritev), ROW(POSIX, preadv2), ROW(POSIX, pwritev2),
    ROW(POSIX, write_past), ROW(POSIX, read_past), ROW(EITHER, dprintf), ROW(POSIX, sendfile),
    ROW(POSIX, copy_file_range), ROW(POSIX, splice), ROW(POSIX, aio_read), ROW(POSIX, aio_write),
    ROW(POSIX, lio_listio), ROW(POSIX, lseek), ROW(POSIX, ftruncate), ROW(POSIX, fsync), ROW(POSIX, make),
    ROW(POSIX, unlink), ROW(POSIX, rename), ROW(POSIX, link), ROW(POSIX, symlink), ROW(POSIX, truncate),
    ROW(POSIX, mkfifo), ROW(POSIX, chdir), ROW(POSIX, fchdir), ROW(EITHER, popen), ROW(STDIO, pclose),
    ROW(EITHER, system), ROW(EITHER, posix_spawn), ROW(EITHER, vfork), ROW(POSIX, login_tty),
};

static void split(const char *line, char *copy, size_t size, char **words)
{
    snprintf(copy, size, "%s", line);
    char *rest = copy;
    for (int i = 0; i < WORDS; i++)
        words[i] = (words[i] = strsep(&rest, " ")) ? words[i] : "";
}

/* Plays the lines from there on, up to the end of the part or of the script; returns where that is. */
static size_t play(struct state *s, size_t at)
{
    while (at < number_of_lines) {
        char copy[256], *words[WORDS];
        const char *line = lines[at++];
        split(line, copy, sizeof copy, words);
        if (strncmp(line, "end_", 4) == 0 || strcmp(line, "branch") == 0)
            return at;
        current = line;
        errno = 0;
        if (strcmp(words[0], "end") == 0) {
            ends(s, words[1], words[2]);
        } else if (strcmp(words[0], "fork") == 0) {
            at = plays_fork(s, words, at);
        } else if (strcmp(words[0], "daemon") == 0) {
            at = plays_daemon(s, at);
        } else if (strcmp(words[0], "thread") == 0) {
            at = plays_thread(s, at);
        } else if (strcmp(words[0], "parallel") == 0) {
            at = plays_parallel(s, at);
        } else {
            const struct row *row = ROWS, *end = ROWS + sizeof ROWS / sizeof *ROWS;
            while (row < end && strcmp(row->name, words[0]) != 0)
                row++;
            if (row == end) {
                say(s, "no such call: %s\n", line);
                abort();
            }
            belongs_to(row->layer);
            row->call(s, words);
        }
    }
    return at;
}

/* From then on: a process that plays a script. */
static void plays_script(void)
{
    static struct state state;
    signal(SIGPIPE, SIG_IGN);
    prepare_state(&state);
    for (int i = 0; i < 3; i++)
        state.descriptor[i] = i;
    state.stream[IN] = stdin;
    state.stream[OUT] = stdout;
    state.stream[ERR] = stderr;
    note_process();
    play(&state, 0);
    ends(&state, "exit", "");
}

static void stop(const char *what)
{
    perror(what);
    exit(125);
}

/* The directory of a script, with what is in it, as the standard input and output of this process. */
static void enter_directory(void)
{
    static const char *const NAMES[] = {"stdin", "stdout", "stderr"};
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/s%u", root, script);
    if (mkdir(path, 0700) != 0 || chdir(path) != 0 || mkdir("d", 0700) != 0 || symlink("d", "link") != 0)
        stop(path);
    belongs_to(POSIX);
    int file = open("stdin", O_CREAT | O_WRONLY, 0600);
    if (file < 0 || write(file, text, 9000) != 9000 || close(file) != 0)
        stop("stdin");
    for (int i = 0; i < 3; i++) {
        file = open(NAMES[i], i == 0 ? O_RDONLY : O_CREAT | O_WRONLY | O_APPEND, 0600);
        if (file < 0 || dup2(file, i) != i || close(file) != 0)
            stop(NAMES[i]);
    }
}

/* Kills what is left of a script that does not end. */
static void end_all_of(unsigned number)
{
    unsigned count = board->processes < PROCESSES ? board->processes : PROCESSES;
    for (unsigned i = 0; i < count; i++)
        if (board->owners[i].script == number)
            kill((pid_t)board->owners[i].process, SIGKILL);
}

static void supervises(char **words, bool fresh)
{
    enum { LIMIT = 60 * 1000 };
    char line[128];
    pid_t child = fork();
    if (child == 0) {
        enter_directory();
        if (fresh) {
            snprintf(line, sizeof line, "%u", script);
            execl("/proc/self/exe", words[0], words[1], words[2], words[3], words[4], line, NULL);
            stop(words[0]);
        }
        plays_script();
    }
    if (child < 0)
        stop("fork");
    int handle = (int)syscall(SYS_pidfd_open, child, 0), status = 0;
    struct pollfd poll_for = {handle, POLLIN, 0};
    bool hangs = handle >= 0 && poll(&poll_for, 1, LIMIT) == 0;
    close(handle);
    if (hangs)
        end_all_of(script);
    waitpid(child, &status, 0);
    while (waitpid(-1, NULL, 0) > 0)
        ;
    int length = snprintf(line, sizeof line, "%s %d\n", hangs ? "hangs" : "ended", status);
    add_to_log(line, length);
}

/* The file stays mapped, as lines point into it; the lines of one script at a time. */
static char *map_scripts(const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat stat_buffer;
    if (file < 0 || fstat(file, &stat_buffer) != 0)
        stop(path);
    /* One byte more than the file has: the rest of its last page is zero. */
    char *place = mmap(NULL, stat_buffer.st_size + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    if (place == MAP_FAILED || stat_buffer.st_size % 4096 == 0)
        stop(path);
    close(file);
    return place;
}

int main(int count, char **words)
{
    if (count < 5) {
        fprintf(stderr, "usage: plays_streams SCRIPTS BOARD ROOT SHARED_MEMORY\n");
        return 125;
    }
    char *scripts = map_scripts(words[1]);
    board = map_board(words[2]);
    if (!board)
        stop(words[2]);
    root = words[3];
    shared_memory = words[4];
    long only = count > 5 ? number(words[5]) : -1;
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    /* Once for all: it opens a dozen files. */
    setlocale(LC_ALL, "C.UTF-8");
    prepare_texts();
    char way[16] = "";
    for (char *line; (line = strsep(&scripts, "\n"));) {
        unsigned next;
        if (sscanf(line, "script %u %15s", &next, way) == 2) {
            script = next;
            number_of_lines = 0;
            continue;
        }
        if (number_of_lines == LINES)
            stop("a script is too long");
        lines[number_of_lines++] = line;
        if (strncmp(line, "end ", 4) != 0 || (only >= 0 && (long)script != only))
            continue;
        if (only >= 0)
            plays_script();
        board->script = script;
        char title[32];
        add_to_log(title, snprintf(title, sizeof title, "script %u\n", script));
        if (strcmp(way, "here") == 0) {
            enter_directory();
            plays_script();
        }
        supervises(words, strcmp(way, "fresh") == 0);
    }
    return 0;
}
