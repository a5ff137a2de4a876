/* Processes and threads: parts of a script that others play, programs that are started, and how it ends. */
#ifndef PLAYS_STREAMS_PROCESSES_H
#define PLAYS_STREAMS_PROCESSES_H

#include "state.h"
#include <pthread.h>
#include <pty.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <utmp.h>

extern char **environ;

static size_t play(struct state *s, size_t at);

static void ends(struct state *s, const char *how, const char *path)
{
    char full[PATH_MAX];
    if (strcmp(how, "exec") == 0) {
        belongs_to(EITHER);
        execl("/bin/cat", "cat", name(s, path, full), NULL);
        _exit(3);
    }
    belongs_to(STDIO); /* what is still in buffers */
    if (strcmp(how, "_exit") == 0)
        _exit(4);
    if (strcmp(how, "_Exit") == 0)
        _Exit(5);
    if (strcmp(how, "quick_exit") == 0)
        quick_exit(6);
    if (strcmp(how, "raw_exit") == 0)
        syscall(SYS_exit_group, 7);
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "kill") == 0)
        raise(SIGKILL);
    exit(0);
}

static void waited(struct state *s, pid_t process)
{
    int status = -1;
    if (process > 0 && waitpid(process, &status, 0) == process)
        told(s, WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status));
    else
        told(s, -1);
}

/* The line behind the end of the part that begins at a line, whose first word is `begin`. */
static size_t end_of_part(size_t at, const char *begin)
{
    char end[32];
    snprintf(end, sizeof end, "end_%s", begin);
    for (int depth = 1; at < number_of_lines && depth > 0; at++) {
        size_t length = strcspn(lines[at], " ");
        depth += length == strlen(begin) && strncmp(lines[at], begin, length) == 0;
        depth -= strcmp(lines[at], end) == 0;
    }
    return at;
}

/* fork HOW ... end_fork: a child plays the part, and ends in that way. */
static size_t plays_fork(struct state *s, char **w, size_t at)
{
    pid_t child = fork();
    if (child == 0) {
        note_process();
        play(s, at);
        ends(s, w[1], "");
    }
    waited(s, child);
    return end_of_part(at, "fork");
}

/* daemon ... end_daemon: the part is played by one that has become a daemon. */
static size_t plays_daemon(struct state *s, size_t at)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    pid_t child = fork();
    if (child == 0) {
        /* It forks, and the first of the two ends at once. */
        if (daemon(1, 0) != 0)
            _exit(9);
        note_process();
        play(s, at);
        ends(s, "exit", "");
    }
    int ended = 0;
    while (waitpid(-1, NULL, 0) > 0)
        ended++;
    told(s, ended);
    return end_of_part(at, "daemon");
}

struct part {
    struct state *state;
    size_t at;
    pthread_barrier_t *start;
};

/* What threads that run at the same time leave open would have other numbers in every run, and so would all
 * that is opened later. */
static void close_all_of(struct state *s)
{
    belongs_to(POSIX);
    for (int i = 0; i < DESCRIPTORS; i++)
        if (s->descriptor[i] >= 0)
            close(s->descriptor[i]);
    for (int i = 0; i < DIRECTORIES; i++)
        if (s->directory[i])
            closedir(s->directory[i]);
}

static void *plays_part(void *of)
{
    struct part *part = of;
    if (part->start)
        pthread_barrier_wait(part->start);
    play(part->state, part->at);
    if (part->state->branch >= 0)
        close_all_of(part->state);
    return NULL;
}

/* thread ... end_thread: another thread plays the part, and nothing else happens meanwhile. */
static size_t plays_thread(struct state *s, size_t at)
{
    pthread_t thread;
    struct part part = {s, at, NULL};
    int error = pthread_create(&thread, NULL, plays_part, &part);
    if (error == 0)
        pthread_join(thread, NULL);
    told(s, error);
    return end_of_part(at, "thread");
}

/* parallel ... branch ... branch ... end_parallel: threads of which each has its own files. */
static size_t plays_parallel(struct state *s, size_t at)
{
    enum { MOST = 3 };
    static struct state states[MOST];
    static char logs[MOST][ROOM];
    pthread_t threads[MOST];
    struct part parts[MOST];
    size_t end = end_of_part(at, "parallel");
    int count = 0;
    for (size_t line = at - 1; line < end && count < MOST; line++) {
        if (line != at - 1 && strcmp(lines[line], "branch") != 0)
            continue;
        char directory[8];
        snprintf(directory, sizeof directory, "t%d", count);
        mkdir(directory, 0700);
        prepare_state(&states[count]);
        states[count].branch = count;
        states[count].log = logs[count];
        parts[count] = (struct part){&states[count], line + 1, NULL};
        count++;
    }
    pthread_barrier_t start;
    pthread_barrier_init(&start, NULL, count);
    for (int i = 0; i < count; i++) {
        parts[i].start = &start;
        if (pthread_create(&threads[i], NULL, plays_part, &parts[i]) != 0)
            abort();
    }
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < count; i++)
        add_to_log(logs[i], states[i].logged);
    told(s, count);
    return end;
}

/* popen r: reads a file that no other call uses. popen w: what comes is counted, and written to a file of
 * that name which no other call uses. */
OP(popen)
{
    char command[128];
    bool reads = strcmp(w[2], "r") == 0;
    int file = reads ? open("source", O_CREAT | O_EXCL | O_WRONLY, 0600) : -1;
    if (file >= 0 && (write(file, text, 7000) != 7000 || close(file) != 0))
        abort();
    if (reads)
        snprintf(command, sizeof command, "%s source", w[3]);
    else
        snprintf(command, sizeof command, "wc -c > %s", w[3]);
    FILE *f = popen(command, reads ? "r" : "w");
    s->stream[stream_slot(w[1])] = f;
    told(s, f ? 0 : -1);
}

OP(pclose)
{
    STREAM(f, w[1]);
    /* To the end: whether a writer is told that nobody reads any more would depend on who is faster. */
    if (strcmp(w[2], "r") == 0) {
        clearerr(f);
        while (fread(room, 1, 1000, f) > 0)
            ;
    }
    s->stream[stream_slot(w[1])] = NULL;
    told(s, pclose(f));
}

OP(system)
{
    char command[2 * PATH_MAX + 16], from[PATH_MAX], to[PATH_MAX];
    snprintf(command, sizeof command, "cat %s > %s", name(s, w[1], from), name(s, w[2], to));
    told(s, system(command));
}

OP(posix_spawn)
{
    char from[PATH_MAX], to[PATH_MAX];
    name(s, w[1], from);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, name(s, w[2], to), O_CREAT | O_WRONLY | O_TRUNC, 0640);
    char *words[] = {"cat", from, NULL};
    pid_t child = 0;
    int error = posix_spawn(&child, "/bin/cat", &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    waited(s, error == 0 ? child : -1);
}

/* The child changes what its standard output is, in the memory that it shares with its parent. */
OP(vfork)
{
    DESCRIPTOR(d, w[2]);
    char from[PATH_MAX];
    name(s, w[1], from);
    pid_t child = vfork();
    if (child == 0) {
        if (dup2(d, 1) == 1) {
            close(0);
            execl("/bin/cat", "cat", from, NULL);
        }
        _exit(8);
    }
    waited(s, child);
}

/* A child gets a terminal as its standard input and output, by a function of the C library. */
OP(login_tty)
{
    int master, slave;
    if (openpty(&master, &slave, NULL, NULL, NULL) != 0) {
        told(s, -1);
        return;
    }
    pid_t child = fork();
    if (child == 0) {
        note_process();
        belongs_to(POSIX);
        if (login_tty(slave) != 0)
            _exit(9);
        long put = write(1, text, number(w[1]));
        _exit(put == number(w[1]) ? 0 : 1);
    }
    close(slave);
    waited(s, child);
    close(master);
}

#endif
