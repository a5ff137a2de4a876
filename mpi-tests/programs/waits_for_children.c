/* A program that waits for its children, and for nobody else's. Every process of it writes 2 MB to a file of
 * its own in the working directory before it looks. It prints what it saw.
 *
 *   wait, waitpid, waitid   three children, until there are no more
 *   childless               there are none, at any moment, by any call; nor is there a signal
 *   signals                 one SIGCHLD for every child that ends, one after the other
 *   ignored, nocldwait      children that nobody takes: wait ends when the last one has
 *   started                 system, popen and posix_spawn have the codes of what they started
 *   subreaper               also takes the orphans among its descendants
 *   orphans                 the same, but only its descendants write, and who else was an orphan is not said
 *   alone                   who else is in its process group and its session
 *   interrupted             says "ready" and goes on until SIGINT, which it takes for a reason to end
 * usage: waits_for_children WAY */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILDREN = 3 };

extern char **environ;
static volatile int signals, interrupted;
static int codes[100], taken, only_own;

static void work(const char *name)
{
    static char data[1000];
    int file = open(name, O_CREAT | O_RDWR | O_TRUNC, 0600);
    for (int i = 0; i < 2000; i++)
        if (write(file, data, sizeof data) != sizeof data)
            _exit(9);
    close(file);
}

static pid_t start_child(int number, int grandchild)
{
    char name[40];
    pid_t child = fork();
    if (child)
        return child;
    if (grandchild && fork() == 0) {
        usleep(200000);
        snprintf(name, sizeof name, "of-grandchild-%d", number);
        work(name);
        exit(20 + number);
    }
    snprintf(name, sizeof name, "of-child-%d", number);
    work(name);
    exit(10 + number);
}

static void take(int status)
{
    if (taken < 100)
        codes[taken++] = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static int ascending(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static void say_codes(void)
{
    qsort(codes, taken, sizeof *codes, ascending);
    for (int i = 0; i < taken; i++)
        if (codes[i] >= 10 || !only_own)
            printf("a child ended with %d\n", codes[i]);
    printf("then: %s\n", strerror(errno));
}

static void wait_for_all(const char *way)
{
    int status;
    siginfo_t about;
    if (!strcmp(way, "waitpid")) {
        for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) >= 0;) {
            if (pid)
                take(status);
            usleep(1000);
        }
    } else if (!strcmp(way, "waitid")) {
        while (waitid(P_ALL, 0, &about, WEXITED) == 0)
            take(about.si_code == CLD_EXITED ? about.si_status << 8 : about.si_status);
    } else {
        while (wait(&status) > 0)
            take(status);
    }
    say_codes();
}

static void see_nobody(const char *moment)
{
    int status;
    siginfo_t about;
    int none = wait(&status) == -1 && errno == ECHILD;
    none &= waitpid(-1, &status, WNOHANG) == -1 && errno == ECHILD;
    none &= waitpid(0, &status, WNOHANG | WUNTRACED) == -1 && errno == ECHILD;
    none &= waitid(P_ALL, 0, &about, WEXITED | WNOHANG) == -1 && errno == ECHILD;
    none &= waitid(P_PGID, 0, &about, WEXITED | WSTOPPED | WNOHANG) == -1 && errno == ECHILD;
    printf("%s: %s, %d signals\n", moment, none ? "nobody" : "somebody", signals);
}

static void count(int signal)
{
    (void)signal;
    signals++;
}

static void end(int signal)
{
    (void)signal;
    interrupted = 1;
}

/* How many processes have this process group, and this session. */
static void say_company(void)
{
    int group = 0, session = 0;
    DIR *all = opendir("/proc");
    for (struct dirent *entry; (entry = readdir(all));) {
        pid_t pid = atoi(entry->d_name);
        group += pid > 0 && getpgid(pid) == getpgrp();
        session += pid > 0 && getsid(pid) == getsid(0);
    }
    closedir(all);
    printf("%d in its group, %d in its session\n", group, session);
}

static void start_others(void)
{
    char *script = "dd if=/dev/zero of=of-spawned bs=1000 count=2000 2> /dev/null; exit 8";
    char *words[] = {"sh", "-c", script, NULL};
    int status, code = system("dd if=/dev/zero of=of-system bs=1000 count=2000 2> /dev/null; exit 6");
    pid_t child;
    printf("system: %d\n", WEXITSTATUS(code));
    FILE *pipe = popen("dd if=/dev/zero of=of-popen bs=1000 count=2000 2> /dev/null; exit 7", "r");
    printf("pclose: %d\n", WEXITSTATUS(pclose(pipe)));
    posix_spawnp(&child, "sh", NULL, NULL, words, environ);
    waitpid(child, &status, 0);
    printf("spawned: %d\n", WEXITSTATUS(status));
}

int main(int argc, char **argv)
{
    const char *way = argc == 2 ? argv[1] : "";
    struct sigaction action = {.sa_handler = count, .sa_flags = SA_RESTART};
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!strcmp(way, "childless")) {
        sigaction(SIGCHLD, &action, NULL);
        see_nobody("start");
        work("own");
        see_nobody("half-way");
        work("own-too");
        see_nobody("end");
        return 3;
    }
    if (!strcmp(way, "interrupted"))
        signal(SIGINT, end);
    only_own = !strcmp(way, "orphans");
    if (!strcmp(way, "subreaper") || only_own)
        prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    if (!strcmp(way, "ignored"))
        signal(SIGCHLD, SIG_IGN);
    action.sa_flags = !strcmp(way, "nocldwait") ? SA_NOCLDWAIT | SA_RESTART : SA_RESTART;
    if (!strcmp(way, "nocldwait") || !strcmp(way, "signals"))
        sigaction(SIGCHLD, &action, NULL);
    if (!only_own)
        work("own");
    if (!strcmp(way, "alone")) {
        say_company();
    } else if (!strcmp(way, "started")) {
        start_others();
    } else if (!strcmp(way, "interrupted")) {
        printf("ready\n");
        for (int i = 0; i < 6000 && !interrupted; i++)
            usleep(10000);
        printf("%s\n", interrupted ? "interrupted" : "never interrupted");
    } else if (!strcmp(way, "signals")) {
        for (int i = 0; i < CHILDREN; i++) {
            int status;
            waitpid(start_child(i, 0), &status, 0);
            printf("%d after %d\n", signals, i + 1);
        }
        see_nobody("end");
    } else {
        for (int i = 0; i < CHILDREN; i++)
            start_child(i, only_own || !strcmp(way, "subreaper"));
        wait_for_all(way);
    }
    return 3;
}
