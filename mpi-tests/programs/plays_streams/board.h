/* The board: a file that plays_streams and counts_kernel_calls map, and the tests read. What is written there
 * takes no system call, and stays when a process is killed. */
#ifndef PLAYS_STREAMS_BOARD_H
#define PLAYS_STREAMS_BOARD_H

#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Which layer a transfer belongs to. EITHER: of programs that are not ours, and of calls that the layers may
 * see as one or the other. */
enum layer { EITHER, POSIX, STDIO };

enum { THREADS = 4096, PROCESSES = 1 << 16, LOG = 32 << 20 };

struct board {
    unsigned script;    /* the one that is played now */
    unsigned processes; /* how many are noted below */
    unsigned logged;    /* bytes of the log */
    unsigned reserved;
    struct {
        unsigned thread, layer;
    } layers[THREADS]; /* of what a thread does now, by its number */
    struct {
        unsigned process, script;
    } owners[PROCESSES]; /* whose processes these are */
    char log[LOG];       /* what every call returned */
};

/* Null if it cannot be mapped. The descriptor is closed: a program under test should not have it. */
static inline struct board *map_board(const char *path)
{
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || ftruncate(file, sizeof(struct board)) != 0)
        return NULL;
    void *place = mmap(NULL, sizeof(struct board), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return place == MAP_FAILED ? NULL : place;
}

#endif
