/* A program that knows which descriptors it has, and says what it finds otherwise. It writes "own" in the
 * working directory by requests of 512 bytes, as many as make several blocks, and says how many bytes.
 *
 *   closed    0 to 2 are closed, as a daemon does; other threads use them nevertheless, and get EBADF
 *   threads   while one thread writes, another one always gets the lowest number there is
 *   handler   so does a signal handler that interrupts the writing
 *   few       with few descriptors allowed, as many as alone can be had, before, while and after it writes
 *   none      no descriptor is left at all while it writes
 *   closes    all numbers but its own are closed again and again: none was open
 *   closing   a thread does that while another one writes
 *   lists     what is open at the start, after writing, at exit
 * usage: minds_descriptors WAY */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

enum { OWN = 3, REQUESTS = 60000 };

static volatile int stop;
static volatile long wrong, tries;
static long written;
static int tell = 1;

static void write_requests(int number)
{
    static char data[512];
    for (int i = 0; i < number; i++) {
        if (pwrite(OWN, data, sizeof data, i % 100 * 512) != sizeof data)
            exit(5);
        written += sizeof data;
    }
}

static void *uses_closed_ones(void *unused)
{
    char byte = 'x';
    struct stat about;
    struct pollfd asked;
    while (!stop) {
        for (int number = 0; number < 3; number++, tries++) {
            wrong += write(number, "GARBAGE\n", 8) != -1 || errno != EBADF;
            wrong += read(number, &byte, 1) != -1 || errno != EBADF;
            wrong += fstat(number, &about) != -1 || errno != EBADF;
            asked = (struct pollfd){.fd = number, .events = POLLIN};
            wrong += poll(&asked, 1, 0) != 1 || asked.revents != POLLNVAL;
        }
    }
    return unused;
}

/* The lowest number that is free in every run: nobody else opens anything. */
static void takes_numbers(int lowest)
{
    int ends[2];
    int got[] = {open("/dev/null", O_RDONLY), -1, -1, -1, -1};
    close(got[0]);
    got[1] = dup(OWN);
    close(got[1]);
    got[2] = socket(AF_UNIX, SOCK_STREAM, 0);
    close(got[2]);
    got[3] = eventfd(0, 0);
    close(got[3]);
    wrong += pipe(ends) || ends[0] != lowest || ends[1] != lowest + 1;
    got[4] = ends[0];
    close(ends[0]);
    close(ends[1]);
    for (int i = 0; i < 5; i++, tries++)
        wrong += got[i] != lowest;
}

static void *takes_them(void *unused)
{
    while (!stop)
        takes_numbers(OWN + 1);
    return unused;
}

static void handler(int signal)
{
    int saved = errno, number = dup(OWN);
    (void)signal;
    wrong += number != OWN + 1;
    tries++;
    close(number);
    errno = saved;
}

static void in_threads(void *(*other)(void *))
{
    pthread_t thread[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, other, NULL);
    write_requests(REQUESTS);
    stop = 1;
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
}

static void few(void)
{
    static int got[100];
    struct rlimit limit = {24, 24};
    setrlimit(RLIMIT_NOFILE, &limit);
    for (int moment = 0; moment < 6; moment++) {
        int count = 0;
        while (count < 100 && (got[count] = open("/dev/null", O_RDONLY)) >= 0)
            count++;
        dprintf(tell, "%d from %d to %d\n", count, got[0], got[count - 1]);
        while (count > 0)
            close(got[--count]);
        write_requests(REQUESTS / 5);
    }
}

static long close_all_but(int keep, int method)
{
    long closed = 0;
    DIR *all;
    switch (method % 4) {
    case 0:
        for (int number = keep + 1; number < 1100; number++)
            closed += close(number) == 0;
        break;
    case 1:
        close_range(keep + 1, ~0u, 0);
        break;
    case 2:
        closefrom(keep + 1);
        break;
    case 3:
        all = opendir("/proc/self/fd");
        for (struct dirent *entry; (entry = readdir(all));)
            if (atoi(entry->d_name) > keep && atoi(entry->d_name) != dirfd(all))
                closed += close(atoi(entry->d_name)) == 0;
        closedir(all);
    }
    return closed;
}

static void *closes_them(void *unused)
{
    for (int method = 0; !stop; method++)
        close_all_but(tell, method % 3);
    return unused;
}

static void list(const char *moment)
{
    DIR *all = opendir("/proc/self/fd");
    char numbers[1024] = "";
    for (struct dirent *entry; (entry = readdir(all));)
        if (entry->d_name[0] != '.')
            snprintf(numbers + strlen(numbers), sizeof numbers - strlen(numbers), " %s", entry->d_name);
    closedir(all);
    dprintf(tell, "%s:%s\n", moment, numbers);
}

static void list_at_exit(void)
{
    list("exit");
}

int main(int argc, char **argv)
{
    const char *way = argc == 2 ? argv[1] : "";
    int file = open("own", O_CREAT | O_RDWR | O_TRUNC, 0600);
    if (file != OWN) {
        printf("a file has the number %d\n", file);
        return 4;
    }
    if (!strcmp(way, "closed")) {
        tell = fcntl(1, F_DUPFD, 100);
        for (int number = 0; number < OWN; number++)
            close(number);
        in_threads(uses_closed_ones);
    } else if (!strcmp(way, "threads")) {
        /* One that takes numbers, one that only writes. */
        pthread_t thread;
        pthread_create(&thread, NULL, takes_them, NULL);
        write_requests(REQUESTS * 3);
        stop = 1;
        pthread_join(thread, NULL);
    } else if (!strcmp(way, "handler")) {
        struct itimerval often = {{0, 300}, {0, 300}};
        signal(SIGALRM, handler);
        setitimer(ITIMER_REAL, &often, NULL);
        for (int i = 0; i < 100 && tries < 3000; i++)
            write_requests(REQUESTS / 3);
        setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
    } else if (!strcmp(way, "few")) {
        few();
    } else if (!strcmp(way, "none")) {
        struct rlimit limit = {OWN + 1, OWN + 1};
        setrlimit(RLIMIT_NOFILE, &limit);
        for (int i = 0; i < 100; i++) {
            wrong += dup(OWN) != -1 || errno != EMFILE;
            write_requests(REQUESTS / 100);
        }
    } else if (!strcmp(way, "closes")) {
        for (int i = 0; i < 200; i++) {
            write_requests(REQUESTS / 100);
            wrong += close_all_but(OWN, i);
        }
    } else if (!strcmp(way, "closing")) {
        tell = 4;
        dup2(1, tell);
        in_threads(closes_them);
    } else if (!strcmp(way, "lists")) {
        atexit(list_at_exit);
        list("start");
        write_requests(REQUESTS);
        list("after");
    } else {
        return 2;
    }
    /* How often it looked depends on the machine. */
    dprintf(tell, "%s wrong\n", wrong ? "some" : "none");
    if (wrong)
        dprintf(tell, "%ld of %ld\n", wrong, tries);
    char name[100];
    snprintf(name, sizeof name, "written-%ld", written);
    mkdir(name, 0700);
    return 3;
}
