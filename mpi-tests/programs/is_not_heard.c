/* Runs COMMAND with a standard error where a line that it does not write itself would do harm: a file while
 * no file may grow (RLIMIT_FSIZE 0, also for "reads"), a pipe or a socket that nobody reads or that is full,
 * a terminal that stops who writes from the background. Says how it ended.
 * Or with the standard error that it has itself ("heard").
 * Without a COMMAND: 200 reads of FILE, under RLIMIT_FSIZE 0, as nothing can be recorded then.
 * usage: is_not_heard file|closed|full|socket|background|heard FILE [COMMAND...] */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

static int reads(const char *name)
{
    static char data[65536];
    int file = open(name, O_RDONLY);
    for (int i = 0; i < 200; i++)
        if (pread(file, data, sizeof data, 0) <= 0)
            return 8;
    return 7;
}

static void fill(int pipe)
{
    static char data[4096];
    fcntl(pipe, F_SETFL, O_NONBLOCK);
    while (write(pipe, data, sizeof data) > 0)
        ;
    fcntl(pipe, F_SETFL, 0);
}

/* A terminal of a new session, whose foreground is this process. */
static int terminal(void)
{
    struct termios settings;
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (master < 0 || grantpt(master) || unlockpt(master))
        _exit(2);
    setsid();
    int slave = open(ptsname(master), O_RDWR);
    ioctl(slave, TIOCSCTTY, 0);
    tcgetattr(slave, &settings);
    settings.c_lflag |= TOSTOP;
    tcsetattr(slave, TCSANOW, &settings);
    return slave;
}

static void run(const char *how, int given, char **argv)
{
    struct rlimit none = {0, 0};
    signal(SIGPIPE, SIG_DFL);
    dup2(given, 2);
    if (!strcmp(how, "background"))
        setpgid(0, 0);
    if (!argv[3] || !strcmp(how, "file"))
        setrlimit(RLIMIT_FSIZE, &none);
    if (argv[3])
        execvp(argv[3], argv + 3);
    else
        execl("/proc/self/exe", argv[0], "reads", argv[2], NULL);
    _exit(127);
}

int main(int argc, char **argv)
{
    int ends[2] = {-1, -1}, status = 0;
    if (argc < 3)
        return 2;
    const char *how = argv[1];
    if (!strcmp(how, "reads"))
        return reads(argv[2]);
    if (!strcmp(how, "background")) {
        /* Who reads it is not in that session. */
        pid_t session = fork();
        if (session != 0) {
            waitpid(session, &status, 0);
            return WEXITSTATUS(status);
        }
        ends[1] = terminal();
    } else if (!strcmp(how, "heard")) {
        ends[1] = 2;
    } else if (!strcmp(how, "file")) {
        ends[1] = open("standard_error", O_CREAT | O_WRONLY | O_APPEND, 0600);
    } else if (!strcmp(how, "socket") ? socketpair(AF_UNIX, SOCK_STREAM, 0, ends) : pipe(ends)) {
        return 2;
    }
    if (!strcmp(how, "full"))
        fill(ends[1]);
    else if (ends[0] >= 0)
        close(ends[0]);
    pid_t child = fork();
    if (child == 0)
        run(how, ends[1], argv);
    for (int i = 0; i < 2000 && waitpid(child, &status, WNOHANG | WUNTRACED) == 0; i++) {
        status = -1;
        usleep(10000);
    }
    if (status == -1)
        dprintf(1, "hangs\n");
    else if (WIFSTOPPED(status))
        dprintf(1, "stopped by %d\n", WSTOPSIG(status));
    else if (WIFSIGNALED(status))
        dprintf(1, "signal %d\n", WTERMSIG(status));
    else
        dprintf(1, "exit code %d\n", WEXITSTATUS(status));
    kill(child, SIGKILL);
    _exit(0);
}
