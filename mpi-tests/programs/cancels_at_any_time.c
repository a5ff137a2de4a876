/* Threads that read and write a file "own" of the working directory are cancelled, 150 of them one after the
 * other, each at another moment. With `any` they may be cancelled at any instruction, with `points` in
 * cancellation points, with `blocked` while they wait in a call. CALL is what they do again and again. Then
 * the program writes 10,000 requests in peace. Says that all threads were cancelled and cleaned up, and makes
 * a directory between-LEAST-MOST: bytes that were moved for sure, and with the calls that were interrupted.
 * usage: cancels_at_any_time any|points|blocked CALL */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 150, SIZE = 64 };

static const char *kind, *call;
static int file, ends[2];
static char data[SIZE];
static volatile long moved, cleaned;

static void clean(void *unused)
{
    (void)unused;
    cleaned++;
}

static void move_once(void)
{
    struct iovec vector = {data, SIZE};
    FILE *stream;
    int other;
    if (!strcmp(call, "write")) {
        moved += write(file, data, SIZE);
    } else if (!strcmp(call, "pwrite")) {
        moved += pwrite(file, data, SIZE, 0);
    } else if (!strcmp(call, "pread")) {
        moved += pread(file, data, SIZE, 0);
    } else if (!strcmp(call, "writev")) {
        moved += writev(file, &vector, 1);
    } else if (!strcmp(call, "open")) {
        other = open("own", O_RDWR);
        if (other >= 0) {
            moved += pwrite(other, data, SIZE, 0);
            close(other);
        }
    } else if (!strcmp(call, "fsync")) {
        moved += pwrite(file, data, SIZE, 0);
        fsync(file);
    } else {
        /* A stream that is left behind is a leak of memory, not of a lock. */
        stream = fopen("own", "r+");
        if (stream) {
            if (fwrite(data, 1, SIZE, stream) == SIZE && fflush(stream) == 0)
                moved += SIZE;
            fclose(stream);
        }
    }
}

static void *moves(void *unused)
{
    pthread_setcanceltype(!strcmp(kind, "any") ? PTHREAD_CANCEL_ASYNCHRONOUS : PTHREAD_CANCEL_DEFERRED, NULL);
    pthread_cleanup_push(clean, NULL);
    if (!strcmp(kind, "blocked")) {
        move_once();
        /* Nobody ever writes to it. */
        moved += read(ends[0], data, 1) == 1;
    }
    for (;;)
        move_once();
    pthread_cleanup_pop(0);
    return unused;
}

int main(int argc, char **argv)
{
    long cancelled = 0;
    if (argc != 3)
        return 2;
    kind = argv[1];
    call = argv[2];
    file = open("own", O_CREAT | O_RDWR | O_TRUNC, 0600);
    if (file < 0 || pipe(ends) || pwrite(file, data, SIZE, 0) != SIZE)
        return 4;
    moved = SIZE;
    srand(1);
    for (int i = 0; i < ROUNDS; i++) {
        pthread_t thread;
        void *result;
        if (pthread_create(&thread, NULL, moves, NULL))
            return 5;
        usleep(300 + rand() % 700);
        pthread_cancel(thread);
        pthread_join(thread, &result);
        cancelled += result == PTHREAD_CANCELED;
    }
    for (int i = 0; i < 10000; i++)
        moved += pwrite(file, data, SIZE, 0);
    printf("%ld cancelled\n", cancelled);
    /* One that may be cancelled at any time may be so before it has said what is to be cleaned up. */
    if (strcmp(kind, "any"))
        printf("%ld cleaned up\n", cleaned);
    char name[100];
    snprintf(name, sizeof name, "between-%ld-%ld", moved, moved + ROUNDS * SIZE);
    mkdir(name, 0700);
    return 3;
}
