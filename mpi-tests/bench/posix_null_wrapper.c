/* The least that a wrapper of POSIX and stdio calls can do: read the clock twice. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static unsigned long long sum;

static inline unsigned long long now(void)
{
#if defined(__x86_64__) && !defined(USE_CLOCK)
    return __builtin_ia32_rdtsc();
#else
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ULL + t.tv_nsec;
#endif
}

#define WRAP(result, name, parameters, arguments)                              \
    result name parameters                                                     \
    {                                                                          \
        static result(*next) parameters;                                       \
        if (!next)                                                             \
            next = (result(*) parameters)dlsym(RTLD_NEXT, #name);              \
        unsigned long long start = now();                                      \
        result got = next arguments;                                           \
        sum += now() - start;                                                  \
        return got;                                                            \
    }

WRAP(ssize_t, read, (int fd, void *to, size_t n), (fd, to, n))
WRAP(ssize_t, write, (int fd, const void *from, size_t n), (fd, from, n))
WRAP(ssize_t, pread, (int fd, void *to, size_t n, off_t at), (fd, to, n, at))
WRAP(ssize_t, pwrite, (int fd, const void *from, size_t n, off_t at), (fd, from, n, at))
WRAP(size_t, fwrite, (const void *from, size_t size, size_t n, FILE *f), (from, size, n, f))
WRAP(int, open, (const char *name, int how, int mode), (name, how, mode))
WRAP(int, close, (int fd), (fd))

int fprintf(FILE *f, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    unsigned long long start = now();
    int got = vfprintf(f, format, values);
    sum += now() - start;
    va_end(values);
    return got;
}
