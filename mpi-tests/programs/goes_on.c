/* Reads and writes by POSIX and streams, in two halves, and ends. It stops before the first half, before the
 * second, and before the end (goes_on.h). A half is 20,000 requests of 100 bytes, 200 lines of 100 bytes that
 * leave their stream at once, and 100 new file names; with `summary` the trace is flushed now and then, with
 * `slowly` it takes a second longer, with `forks` the second half is that of three children, one after the
 * other. END is exit, _exit, exec or kill. Prints one line before it ends, and one after exec.
 * usage: goes_on DIRECTORY WAY END */
#define _GNU_SOURCE
#include "goes_on.h"
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <tmio.h>

static const char *way;

static void half(const char *file, const char *lines)
{
    char data[100], name[4096];
    int descriptor;
    FILE *stream;
    memset(data, 'x', sizeof data);
    snprintf(name, sizeof name, "%s/%s", directory, file);
    TIMED(descriptor = open(name, O_CREAT | O_RDWR | O_APPEND, 0600));
    snprintf(name, sizeof name, "%s/%s", directory, lines);
    TIMED(stream = fopen(name, "a"));
    if (descriptor < 0 || !stream)
        exit(5);
    for (int i = 0; i < 20000; i++) {
        ssize_t done;
        TIMED(done = write(descriptor, data, sizeof data));
        if (done != sizeof data)
            exit(6);
        if (i % 100 == 0) {
            TIMED(fprintf(stream, "%-99d\n", i));
            TIMED(fflush(stream));
        }
        if (i % 200 == 0) {
            int other;
            snprintf(name, sizeof name, "%s/new-%s-%d", directory, file, i);
            TIMED(other = open(name, O_CREAT | O_RDWR, 0600));
            TIMED(close(other));
            unlink(name);
        }
        if (i % 4000 == 0 && !strcmp(way, "summary"))
            TIMED(iotrace_summary());
        if (i % 200 == 0 && !strcmp(way, "slowly"))
            usleep(10000);
    }
    TIMED(fclose(stream));
    TIMED(close(descriptor));
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    directory = argv[1];
    way = argv[2];
    stop_at("begin");
    half("own", "lines");
    stop_at("middle");
    if (strcmp(way, "forks"))
        half("own", "lines");
    for (int i = 0; i < 3 && !strcmp(way, "forks"); i++) {
        pid_t child = fork();
        if (child == 0) {
            half("of-child", "lines-of-child");
            exit(0);
        }
        waitpid(child, NULL, 0);
    }
    tell_longest();
    stop_at("end");
    printf("it has done its work\n");
    fflush(stdout);
    if (!strcmp(argv[3], "_exit"))
        _exit(3);
    if (!strcmp(argv[3], "kill"))
        raise(SIGKILL);
    if (!strcmp(argv[3], "exec"))
        execlp("sh", "sh", "-c", "echo another program; exit 3", NULL);
    return 3;
}
