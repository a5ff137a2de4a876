/* Runs COMMAND as the leader of a session with a terminal, waits until it has said "ready", and says who else
 * is in that session. Then it types control-C or hangs up, and says how the command ended and, if it did not
 * hang up, whether somebody still has the terminal (after 20 s).
 * usage: sits_at_a_terminal interrupt|hangup COMMAND... */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

static int others_in_session(pid_t session)
{
    int others = 0;
    DIR *all = opendir("/proc");
    for (struct dirent *entry; (entry = readdir(all));) {
        pid_t pid = atoi(entry->d_name);
        others += pid > 0 && pid != session && getsid(pid) == session;
    }
    closedir(all);
    return others;
}

int main(int argc, char **argv)
{
    char text[4096] = "";
    int status, master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (argc < 3 || master < 0 || grantpt(master) || unlockpt(master))
        return 2;
    pid_t child = fork();
    if (child == 0) {
        setsid();
        int slave = open(ptsname(master), O_RDWR);
        ioctl(slave, TIOCSCTTY, 0);
        for (int i = 0; i < 3; i++)
            dup2(slave, i);
        if (slave > 2)
            close(slave);
        execvp(argv[2], argv + 2);
        _exit(127);
    }
    struct pollfd readable = {.fd = master, .events = POLLIN};
    for (ssize_t got, all = 0; !strstr(text, "ready"); all += got)
        if (poll(&readable, 1, 60000) <= 0 || (got = read(master, text + all, sizeof text - 1 - all)) <= 0)
            return 4;
    printf("%d others in its session\n", others_in_session(child));
    if (!strcmp(argv[1], "hangup"))
        close(master);
    else if (write(master, "\003", 1) != 1)
        return 5;
    if (waitpid(child, &status, 0) != child)
        return 6;
    printf("%s %d\n", WIFEXITED(status) ? "exit code" : "signal",
           WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    if (!strcmp(argv[1], "hangup"))
        return 0;
    ssize_t got = 1;
    while (poll(&readable, 1, 20000) > 0 && (got = read(master, text, sizeof text)) > 0)
        ;
    printf("%s\n", got > 0 ? "somebody has the terminal" : "nobody has the terminal");
    return 0;
}
