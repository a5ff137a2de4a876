/* Runs COMMAND as its parent, and as the one to whom its orphans go. Adds lines to REPORT: "ended CODE" when
 * wait has returned the command, then, when none of its descendants is left or LIMIT seconds have passed, a
 * line "left PID NAME" for each of those that are, which it ends, and "done". It lets go of its own standard
 * output and error, so that a pipe ends with the last process that has it from the command.
 * usage: watches REPORT LIMIT COMMAND... */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static FILE *report;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

/* Takes the dead, also those that only __WALL shows; whether somebody is left. */
static int some_are_left(void)
{
    pid_t dead;
    while ((dead = waitpid(-1, NULL, WNOHANG | __WALL)) > 0)
        ;
    return dead == 0;
}

/* Ends all children, and says which ones if asked. Orphans become children, and their turn comes. */
static void end_all(int say)
{
    DIR *all = opendir("/proc");
    for (struct dirent *entry; all && (entry = readdir(all));) {
        char path[300], text[400] = "", *name, *after;
        int parent = 0;
        snprintf(path, sizeof path, "/proc/%s/stat", entry->d_name);
        FILE *file = atoi(entry->d_name) ? fopen(path, "r") : NULL;
        if (!file)
            continue;
        if (fgets(text, sizeof text, file) && (name = strchr(text, '(')) && (after = strrchr(text, ')')) &&
            sscanf(after, ") %*c %d", &parent) == 1 && parent == getpid()) {
            after[1] = 0;
            if (say)
                fprintf(report, "left %s %s\n", entry->d_name, name);
            kill(atoi(entry->d_name), SIGKILL);
        }
        fclose(file);
    }
    if (all)
        closedir(all);
}

int main(int argc, char **argv)
{
    int status;
    if (argc < 4 || !(report = fopen(argv[1], "ae")))
        return 2;
    setvbuf(report, NULL, _IOLBF, 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t child = fork();
    if (child == 0) {
        /* Nothing of the test's. */
        close_range(3, ~0u, CLOSE_RANGE_CLOEXEC);
        execvp(argv[3], argv + 3);
        _exit(127);
    }
    int null = open("/dev/null", O_RDWR);
    for (int i = 0; i < 3; i++)
        dup2(null, i);
    while (waitpid(child, &status, 0) < 0)
        ;
    fprintf(report, "ended %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    double began = now();
    while (some_are_left() && now() - began < atof(argv[2]))
        usleep(5000);
    for (int say = 1, tries = 0; some_are_left() && tries < 200; say = 0, tries++) {
        end_all(say);
        usleep(20000);
    }
    fprintf(report, "done\n");
    return 0;
}
