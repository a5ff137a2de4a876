/* What a request's bytes look like, so that any of them can be checked when it is read back: a request is a
 * sequence of 8-byte words, the first its number, the others derived from number and position. */
#ifndef WORKLOAD_PATTERN_H
#define WORKLOAD_PATTERN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static uint64_t pattern_word(uint64_t number, uint64_t position) {
    return position ? number ^ (position * 0x9e3779b97f4a7c15ULL) : number;
}

/* Data that lies in memory as blocks of `block` bytes, each followed by a gap of the same length; contiguous
 * data is one block. The logical byte i of a request is found at strided(i, block). */
static size_t strided(size_t i, size_t block) { return i + i / block * block; }

static void fill_pattern(unsigned char *buffer, size_t size, size_t block, uint64_t number) {
    if (block == size) {
        for (size_t i = 0; i < size; i += 8) {
            uint64_t word = pattern_word(number, i / 8);
            memcpy(buffer + i, &word, size - i < 8 ? size - i : 8);
        }
        return;
    }
    memset(buffer, 0xee, 2 * size); /* the gaps must not reach the file */
    for (size_t i = 0; i < size; i++) {
        uint64_t word = pattern_word(number, i / 8);
        buffer[strided(i, block)] = ((unsigned char *)&word)[i % 8];
    }
}

/* Whether the first `length` logical bytes in the buffer are those of the request from byte `from` on. */
static bool holds_pattern(const unsigned char *buffer, size_t block, uint64_t number, size_t from,
                          size_t length) {
    for (size_t i = 0; i < length; i++) {
        uint64_t word = pattern_word(number, (from + i) / 8);
        if (buffer[strided(i, block)] != ((unsigned char *)&word)[(from + i) % 8])
            return false;
    }
    return true;
}

/* The number a whole request begins with. */
static uint64_t pattern_number(const unsigned char *buffer, size_t block) {
    uint64_t number;
    for (size_t i = 0; i < 8; i++)
        ((unsigned char *)&number)[i] = buffer[strided(i, block)];
    return number;
}

#endif
