/* Reads and writes files in every way that a C program has, without MPI, and says what it did:
   one line "LAYER FILE read BYTES written BYTES" per file. */
#define _GNU_SOURCE
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static char data[100000];

static void check(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "failed: %s\n", what);
        exit(1);
    }
}

static void *in_a_thread(void *number)
{
    char name[64];
    snprintf(name, sizeof name, "thread%ld", (long)number);
    for (int round = 0; round < 100; round++) {
        int file = open(name, O_CREAT | O_WRONLY | O_APPEND, 0600);
        check(file >= 0 && write(file, data, 700) == 700, "a thread's write");
        close(file);
    }
    return NULL;
}

static int handled;

static void handler(int signal)
{
    (void)signal;
    int file = open("handler", O_CREAT | O_WRONLY | O_APPEND, 0600);
    if (write(file, data, 10) == 10)
        handled++;
    close(file);
}

static void posix(void)
{
    int file = open("posix", O_CREAT | O_RDWR | O_TRUNC, 0600);
    check(write(file, data, 1000) == 1000, "write");
    check(pwrite(file, data, 500, 2000) == 500, "pwrite");
    struct iovec vectors[2] = {{data, 30}, {data, 70}};
    check(writev(file, vectors, 2) == 100, "writev");
    check(pwritev(file, vectors, 2, 5000) == 100, "pwritev");
    check(lseek(file, 0, SEEK_SET) == 0 && read(file, data, 100000) == 5100, "a short read");
    check(read(file, data, 10) == 0, "the end of the file");
    check(pread(file, data, 64, 8) == 64 && preadv(file, vectors, 2, 0) == 100, "pread");
    int copy = dup(file);
    close(file);
    check(pwrite(copy, data, 11, 0) == 11, "write to a duplicate");
    check(dup2(copy, 77) == 77 && write(77, data, 22) == 22 && close(77) == 0, "dup2");
    check(fsync(copy) == 0 && ftruncate(copy, 5000) == 0, "fsync");
    close(copy);
    check(write(copy, data, 1) == -1, "write to what is closed");
    /* The number is used again. */
    int ends[2];
    check(pipe(ends) == 0 && write(ends[1], data, 1000) == 1000 && read(ends[0], data, 1000) == 1000, "pipe");
    close(ends[0]);
    close(ends[1]);
    int from = open("posix", O_RDONLY), to = open("copied", O_CREAT | O_WRONLY | O_TRUNC, 0600);
    off_t at = 0;
    check(sendfile(to, from, &at, 3000) == 3000, "sendfile");
    check(copy_file_range(from, NULL, to, NULL, 1000, 0) == 1000, "copy_file_range");
    close(from);
    close(to);
    printf("posix posix read %d written %d\n", 5100 + 64 + 100 + 3000 + 1000,
           1000 + 500 + 100 + 100 + 11 + 22);
    printf("posix copied read 0 written 4000\n");
}

/* Asynchronous: two writes, and a list of a write, nothing, and a read. */
static void asynchronous(void)
{
    int file = open("async", O_CREAT | O_RDWR | O_TRUNC, 0600);
    static char other[50000];
    static struct aiocb blocks[4];
    for (int i = 0; i < 4; i++) {
        blocks[i].aio_sigevent.sigev_notify = SIGEV_NONE;
        blocks[i].aio_fildes = file;
        blocks[i].aio_buf = i == 3 ? other : data;
        blocks[i].aio_nbytes = 20000;
        blocks[i].aio_offset = i == 3 ? 0 : i * 20000;
        blocks[i].aio_lio_opcode = i == 3 ? LIO_READ : LIO_WRITE;
    }
    for (int i = 0; i < 2; i++) {
        const struct aiocb *one = &blocks[i];
        check(aio_write(&blocks[i]) == 0, "aio_write");
        while (aio_error(one) == EINPROGRESS)
            aio_suspend(&one, 1, NULL);
        check(aio_return(&blocks[i]) == 20000, "aio_return");
    }
    struct aiocb *list[3] = {&blocks[2], NULL, &blocks[3]};
    check(lio_listio(LIO_WAIT, list, 3, NULL) == 0, "lio_listio");
    check(aio_return(&blocks[2]) == 20000 && aio_return(&blocks[3]) == 20000, "results of the list");
    close(file);
    printf("posix async read 20000 written 60000\n");
}

static void streams(void)
{
    FILE *file = fopen("stream", "w+");
    long written = 0;
    for (int i = 0; i < 20000; i++)
        written += fprintf(file, "%d %s %.3f\n", i, "words", i / 7.0);
    for (int i = 0; i < 5000; i++)
        putc_unlocked('x', file);
    written += 5000;
    check(fputs("\nlast\n", file) >= 0 && fwrite(data, 10, 1000, file) == 1000, "fwrite");
    written += 6 + 10000;
    check(fflush(file) == 0 && ftell(file) == written, "fflush");
    rewind(file);
    long lines = 0, size = 0, number;
    char *line = NULL;
    size_t room = 0;
    for (ssize_t length; lines < 20000 && (length = getline(&line, &room, file)) > 0; lines++)
        check(sscanf(line, "%ld", &number) == 1 && number == lines, "a line");
    while (fread(data, 1, 7, file) > 0)
        ;
    fclose(file);
    file = fopen("stream", "r");
    for (int c; (c = getc(file)) != EOF; size++)
        if (size % 100 == 50)
            check(ungetc(c, file) == c && getc(file) == c, "ungetc");
    check(size == written, "all characters");
    fclose(file);
    printf("stdio stream read %ld written %ld\n", 2 * written, written);
    file = fopen("unclosed", "w");
    for (int i = 0; i < 1000; i++)
        fputs("not flushed\n", file);
    printf("stdio unclosed read 0 written 12000\n");
}

int main(void)
{
    memset(data, 'd', sizeof data);
    posix();
    asynchronous();
    streams();
    pthread_t threads[3];
    for (long i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, in_a_thread, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 3; i++)
        printf("posix thread%d read 0 written 70000\n", i);
    signal(SIGUSR1, handler);
    for (int i = 0; i < 50; i++)
        raise(SIGUSR1);
    check(handled == 50, "handlers");
    printf("posix handler read 0 written 500\n");
    /* A child that writes what the parent has opened, one that ends at once, and one that becomes another
     * program. */
    int shared = open("shared", O_CREAT | O_WRONLY | O_APPEND, 0600);
    check(write(shared, data, 1000) == 1000, "the parent's write");
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 30; i++)
            check(write(shared, data, 100000) == 100000, "the child's write");
        _exit(0);
    }
    waitpid(child, NULL, 0);
    child = vfork();
    if (child == 0) {
        /* What it does to its descriptors is not done to the parent's. */
        dup2(1, shared);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    check(write(shared, data, 500) == 500, "the parent's second write");
    close(shared);
    printf("posix shared read 0 written %d\n", 1000 + 3000000 + 500);
    return 0;
}
