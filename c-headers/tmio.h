/* 
 * tmio.h - calls that a program may make to the tmio tracer.
 *
 * Every function is found at run time: a program with these calls runs unchanged, and at practically
 * no cost, if libtmio.so is neither preloaded nor linked. None of them waits for other ranks, fails, or
 * sets errno. They may be called at any time, from any thread.
 *
 *     #include <tmio.h>
 *     ...
 *     for (step = 0; step < steps; step++) {
 *         compute();
 *         write_checkpoint();
 *         iotrace_summary();        // what was recorded so far is on disk; `ftio predict` sees it
 *     }
 *
 * With a C library older than glibc 2.34, link with -ldl.
 */
#ifndef TMIO_H
#define TMIO_H

#include <dlfcn.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The function of that name in libtmio.so, or NULL. */
static inline void *tmio_find_(const char *name)
{
    void *program = dlopen(NULL, RTLD_LAZY);
    return program == NULL ? NULL : dlsym(program, name);
}

/* Stands for a function that was not found. */
#define TMIO_ABSENT_ ((void *)1)

/* Several threads may be here at once: each then looks for the function, and all find the same. */
#define TMIO_CALL_(name, arguments, parameters)                      \
    do {                                                             \
        static void *found_;                                         \
        union { void *object; void (*function) parameters; } u_;     \
        u_.object = __atomic_load_n(&found_, __ATOMIC_ACQUIRE);      \
        if (u_.object == NULL) {                                     \
            u_.object = tmio_find_(name);                            \
            if (u_.object == NULL)                                   \
                u_.object = TMIO_ABSENT_;                            \
            __atomic_store_n(&found_, u_.object, __ATOMIC_RELEASE);  \
        }                                                            \
        if (u_.object != TMIO_ABSENT_)                               \
            u_.function arguments;                                   \
    } while (0)

/* Writes out what this rank recorded since the last flush. */
static inline void iotrace_summary(void) { TMIO_CALL_("iotrace_summary", (), (void)); }

/* Stop recording on this rank, and start it again. */
static inline void iotrace_pause(void) { TMIO_CALL_("iotrace_pause", (), (void)); }
static inline void iotrace_resume(void) { TMIO_CALL_("iotrace_resume", (), (void)); }

/* Puts a mark with a text into the trace. */
static inline void iotrace_mark(const char *text) { TMIO_CALL_("iotrace_mark", (text), (const char *)); }

#ifdef __cplusplus
}
#endif

#endif
