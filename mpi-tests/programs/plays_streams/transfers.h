/* Descriptors: every call that moves data. */
#ifndef PLAYS_STREAMS_TRANSFERS_H
#define PLAYS_STREAMS_TRANSFERS_H

#include "state.h"
#include <aio.h>
#include <sys/sendfile.h>
#include <sys/uio.h>

/* Of an O_DIRECT file they must be aligned, as the buffer is. */
static const char *data_to_write(struct state *s, long length)
{
    memcpy(room, next_text(s), length);
    return room;
}

static void was_read(struct state *s, ssize_t got)
{
    told_data(s, got, room, got > 0 ? got : 0);
}

OP(read) { DESCRIPTOR(d, w[1]); was_read(s, read(d, room, number(w[2]))); }
OP(write) { DESCRIPTOR(d, w[1]); told(s, write(d, data_to_write(s, number(w[2])), number(w[2]))); }
OP(pread) { DESCRIPTOR(d, w[1]); was_read(s, pread(d, room, number(w[2]), number(w[3]))); }

OP(pwrite)
{
    DESCRIPTOR(d, w[1]);
    told(s, pwrite(d, data_to_write(s, number(w[2])), number(w[2]), number(w[3])));
}

/* Two unequal parts; the second may be empty. */
static struct iovec *parts(long length, struct iovec *vector)
{
    vector[0] = (struct iovec){room, length - length / 3};
    vector[1] = (struct iovec){room + length - length / 3, length / 3};
    return vector;
}

#define VECTOR \
    struct iovec vector[2]; \
    parts(number(w[2]), vector)
#define VECTOR_TO_WRITE \
    VECTOR; \
    data_to_write(s, number(w[2]))

OP(readv) { DESCRIPTOR(d, w[1]); VECTOR; was_read(s, readv(d, vector, 2)); }
OP(writev) { DESCRIPTOR(d, w[1]); VECTOR_TO_WRITE; told(s, writev(d, vector, 2)); }
OP(preadv) { DESCRIPTOR(d, w[1]); VECTOR; was_read(s, preadv(d, vector, 2, number(w[3]))); }
OP(pwritev) { DESCRIPTOR(d, w[1]); VECTOR_TO_WRITE; told(s, pwritev(d, vector, 2, number(w[3]))); }
OP(preadv2) { DESCRIPTOR(d, w[1]); VECTOR; was_read(s, preadv2(d, vector, 2, number(w[3]), 0)); }
OP(pwritev2) { DESCRIPTOR(d, w[1]); VECTOR_TO_WRITE; told(s, pwritev2(d, vector, 2, number(w[3]), 0)); }

/* On the descriptor of a stream, past the stream. */
OP(write_past)
{
    STREAM(f, w[1]);
    told(s, write(fileno(f), data_to_write(s, number(w[2])), number(w[2])));
}

OP(read_past)
{
    STREAM(f, w[1]);
    was_read(s, read(fileno(f), room, number(w[2])));
}

OP(dprintf) { DESCRIPTOR(d, w[1]); told(s, dprintf(d, "%d %s\n", 7, next_string(s, number(w[2]), false))); }

OP(sendfile)
{
    DESCRIPTOR(to, w[1]);
    DESCRIPTOR(from, w[2]);
    told(s, sendfile(to, from, NULL, number(w[3])));
}

OP(copy_file_range)
{
    DESCRIPTOR(to, w[1]);
    DESCRIPTOR(from, w[2]);
    told(s, copy_file_range(from, NULL, to, NULL, number(w[3]), 0));
}

OP(splice)
{
    DESCRIPTOR(to, w[1]);
    DESCRIPTOR(from, w[2]);
    told(s, splice(from, NULL, to, NULL, number(w[3]), SPLICE_F_NONBLOCK));
}

static void asynchronous(struct state *s, char **w, bool writes, bool by_list)
{
    DESCRIPTOR(d, w[1]);
    struct aiocb block = {.aio_fildes = d, .aio_buf = room, .aio_nbytes = number(w[2])};
    block.aio_offset = number(w[3]);
    block.aio_lio_opcode = writes ? LIO_WRITE : LIO_READ;
    if (writes)
        data_to_write(s, number(w[2]));
    struct aiocb *list[] = {NULL, &block};
    const struct aiocb *waited[] = {&block};
    int begun = by_list ? lio_listio(LIO_WAIT, list, 2, NULL) : writes ? aio_write(&block) : aio_read(&block);
    while (begun == 0 && aio_error(&block) == EINPROGRESS)
        aio_suspend(waited, 1, NULL);
    ssize_t result = begun == 0 ? aio_return(&block) : -1;
    told_data(s, result, room, !writes && result > 0 ? result : 0);
}

OP(aio_read) { asynchronous(s, w, false, false); }
OP(aio_write) { asynchronous(s, w, true, false); }
OP(lio_listio) { asynchronous(s, w, true, true); }

static int whence_of(const char *word)
{
    return strcmp(word, "set") == 0 ? SEEK_SET : strcmp(word, "cur") == 0 ? SEEK_CUR : SEEK_END;
}

OP(lseek) { DESCRIPTOR(d, w[1]); told(s, lseek(d, number(w[3]), whence_of(w[2]))); }
OP(ftruncate) { DESCRIPTOR(d, w[1]); told(s, ftruncate(d, number(w[2]))); }
OP(fsync) { DESCRIPTOR(d, w[1]); told(s, fsync(d)); }

#endif
