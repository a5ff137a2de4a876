// Simulated nodes of jobs, which speak the protocol of crates/trace/turns.
// clients ask ADDRESS SECRET QUESTIONS: how long a question takes; one node, alone
// clients bare - - MESSAGES: the same of a process that sends every message back: what the machine takes
// clients hold ADDRESS SECRET SECONDS: takes a lease and keeps it; prints "held" when it has it
// clients load ADDRESS SECRET JOBS NODES SECONDS PERIOD WORK: jobs of many nodes, each of which wants to do
//     I/O for WORK seconds every PERIOD seconds
// ADDRESS: unix:PATH or tcp:NUMBER:PORT; SECRET: - for none. Prints one JSON object.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { HELLO = 1, ASK = 2, BEAT = 4, YIELD = 6, WELCOME = 9, GRANT = 10, WAIT = 11, REVOKE = 12 };

struct message {
    uint8_t kind, zero;
    uint16_t version;
    uint32_t seq, text, none;
    uint64_t a, b;
};

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void rest(double seconds) {
    struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&time, NULL);
}

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static int reach(const char *address) {
    int one = 1;
    if (!strncmp(address, "unix:", 5)) {
        struct sockaddr_un to = {.sun_family = AF_UNIX};
        snprintf(to.sun_path, sizeof to.sun_path, "%s", address + 5);
        int link = socket(AF_UNIX, SOCK_STREAM, 0);
        while (connect(link, (struct sockaddr *)&to, sizeof to))
            if (errno != EAGAIN) fail("connect");
        return link;
    }
    char host[64];
    int port = 0;
    if (sscanf(address, "tcp:%63[^:]:%d", host, &port) != 2) exit(2);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    inet_pton(AF_INET, host, &to.sin_addr);
    int link = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(link, (struct sockaddr *)&to, sizeof to)) fail("connect");
    setsockopt(link, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return link;
}

static void say(int link, int kind, uint32_t seq, uint64_t a, uint64_t b) {
    struct message message = {(uint8_t)kind, 0, 1, seq, 0, 0, a, b};
    if (send(link, &message, sizeof message, MSG_NOSIGNAL) != sizeof message) fail("send");
}

static void introduce(int link, const char *job, const char *secret, uint64_t running_ms) {
    char bytes[512];
    int text = snprintf(bytes + 32, sizeof bytes - 32, "job=%s\nrun=1\nsecret=%s\n", job, secret);
    struct message message = {HELLO, 0, 1, 0, (uint32_t)text, 0, 1, running_ms};
    memcpy(bytes, &message, 32);
    if (send(link, bytes, (size_t)text + 32, 0) != text + 32) fail("send");
}

static struct message hear(int link) {
    struct message message;
    if (recv(link, &message, sizeof message, MSG_WAITALL) != sizeof message) fail("the arbiter hung up");
    return message;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void show(double *times, long count) {
    qsort(times, (size_t)count, sizeof *times, compare);
    double at[] = {0, 0.5, 0.99, 1}, us[4] = {0};
    for (int i = 0; i < 4; i++)
        if (count) us[i] = 1e6 * times[(long)(at[i] * (double)(count - 1))];
    printf("\"answers\": %ld, \"least_us\": %.1f, \"median_us\": %.1f, \"p99_us\": %.1f, \"most_us\": %.1f",
           count, us[0], us[1], us[2], us[3]);
}

static void ask(const char *address, const char *secret, long questions) {
    int link = reach(address);
    introduce(link, "asks", secret, 1000);
    hear(link);
    double *times = calloc((size_t)questions, sizeof *times);
    for (long i = 0; i < questions; i++) {
        double began = now();
        say(link, ASK, (uint32_t)i + 1, 0, 0);
        struct message message = hear(link);
        times[i] = now() - began;
        while (message.kind != GRANT) message = hear(link);
        say(link, YIELD, (uint32_t)i + 1, 4096, 0);
        rest(1e-3);
    }
    printf("{");
    show(times, questions);
    printf("}\n");
}

static void bare(long messages) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) fail("socketpair");
    if (fork() == 0) {
        struct message message;
        close(ends[0]);
        while (recv(ends[1], &message, sizeof message, MSG_WAITALL) == sizeof message)
            if (send(ends[1], &message, sizeof message, 0) != sizeof message) break;
        _exit(0);
    }
    close(ends[1]);
    double *times = calloc((size_t)messages, sizeof *times);
    for (long i = 0; i < messages; i++) {
        double began = now();
        say(ends[0], ASK, (uint32_t)i + 1, 0, 0);
        hear(ends[0]);
        times[i] = now() - began;
        rest(1e-3);
    }
    printf("{");
    show(times, messages);
    printf("}\n");
}

static void hold(const char *address, const char *secret, double seconds) {
    int link = reach(address);
    introduce(link, "holder", secret, 1000);
    say(link, ASK, 1, 0, 0);
    while (hear(link).kind != GRANT) {}
    puts("held");
    fflush(stdout);
    for (double end = now() + seconds; now() < end; rest(0.1)) {
        struct message message = {BEAT, 0, 1, 1, 0, 0, 1 << 20, 1};
        // A network that is cut takes nothing, and that is all right.
        send(link, &message, sizeof message, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
}

enum state { IDLE, ASKED, WORKS };

struct node {
    int link;
    uint32_t job, seq;
    double asked;
};

struct job {
    enum state state;
    double next;
    uint32_t seq;
};

static void load(const char *address, const char *secret, long jobs, long nodes, double seconds,
                 double period, double work) {
    long all = jobs * nodes, count = 0, room = 1 << 22, said = 0, heard = 0;
    struct rlimit limit = {(rlim_t)all + 64, (rlim_t)all + 64};
    if (setrlimit(RLIMIT_NOFILE, &limit) && all > 19900) fail("too few descriptors");
    struct node *node = calloc((size_t)all, sizeof *node);
    struct job *job = calloc((size_t)jobs, sizeof *job);
    double *times = calloc((size_t)room, sizeof *times);
    int set = epoll_create1(0);
    for (long i = 0; i < all; i++) {
        char name[32];
        snprintf(name, sizeof name, "%ld", i / nodes);
        node[i].job = (uint32_t)(i / nodes);
        node[i].link = reach(address);
        introduce(node[i].link, name, secret, 100000);
        struct epoll_event event = {.events = EPOLLIN, .data.u64 = (uint64_t)i};
        epoll_ctl(set, EPOLL_CTL_ADD, node[i].link, &event);
    }
    for (long i = 0; i < all; i++) hear(node[i].link);
    double begin = now(), end = begin + seconds;
    for (long j = 0; j < jobs; j++) job[j].next = begin + period * (double)j / (double)jobs;
    static struct epoll_event events[1024];
    for (double time = begin; time < end; time = now()) {
        for (long j = 0; j < jobs; j++) {
            if (job[j].next > time || job[j].state == ASKED) continue;
            int kind = job[j].state == IDLE ? ASK : YIELD;
            if (kind == ASK) job[j].seq++;
            for (long i = j * nodes; i < (j + 1) * nodes; i++) {
                if (kind == ASK) node[i].asked = now();
                say(node[i].link, kind, job[j].seq, kind == ASK ? 0 : 1 << 20, 0);
            }
            said += nodes;
            job[j].state = kind == ASK ? ASKED : IDLE;
            job[j].next = job[j].state == IDLE ? time + period : end;
        }
        int ready = epoll_wait(set, events, 1024, 1);
        for (int e = 0; e < ready; e++) {
            struct node *one = &node[events[e].data.u64];
            struct job *its = &job[one->job];
            struct message got[16];
            ssize_t length = recv(one->link, got, sizeof got, MSG_DONTWAIT);
            if (length <= 0 || length % 32) fail("the arbiter hung up");
            double moment = now();
            for (long m = 0; m < length / 32; m++) {
                heard++;
                if (one->asked > 0 && got[m].seq == its->seq) {
                    if (count < room) times[count++] = moment - one->asked;
                    one->asked = 0;
                }
                if (got[m].kind == GRANT && its->state == ASKED) {
                    its->state = WORKS;
                    its->next = moment + work;
                } else if (got[m].kind == REVOKE) {
                    if (its->state == WORKS) its->state = ASKED;
                    say(one->link, BEAT, its->seq, 0, 0);
                    said++;
                }
            }
        }
    }
    printf("{\"said_per_s\": %.0f, \"heard_per_s\": %.0f, ", (double)said / seconds, (double)heard / seconds);
    show(times, count);
    printf("}\n");
}

int main(int argc, char **argv) {
    if (argc < 5) return 2;
    const char *secret = strcmp(argv[3], "-") ? argv[3] : "";
    prctl(PR_SET_TIMERSLACK, 1000);
    if (!strcmp(argv[1], "ask")) ask(argv[2], secret, atol(argv[4]));
    else if (!strcmp(argv[1], "bare")) bare(atol(argv[4]));
    else if (!strcmp(argv[1], "hold")) hold(argv[2], secret, atof(argv[4]));
    else if (!strcmp(argv[1], "load") && argc == 9)
        load(argv[2], secret, atol(argv[4]), atol(argv[5]), atof(argv[6]), atof(argv[7]), atof(argv[8]));
    else return 2;
    return 0;
}
