/* How deep a call goes: it is made on a painted stack of its own, by a context, in a signal handler or in a
 * thread. The paint is in shared memory, so that a call which ends its process can be measured, too. */
#ifndef PAINTED_H
#define PAINTED_H

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <ucontext.h>

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

enum { PAINTED = 1 << 18, PAINT = 0xa5 };

static unsigned char *painted;
static void (*call_to_make)(void);
static ucontext_t outside, inside;

static void paint(void)
{
    if (!painted)
        painted = mmap(NULL, PAINTED, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    memset(painted, PAINT, PAINTED);
}

static long depth(void)
{
    long untouched = 0;
    while (untouched < PAINTED && painted[untouched] == PAINT)
        untouched++;
    return PAINTED - untouched;
}

static void make_it(void)
{
    call_to_make();
}

static void on_a_context(void)
{
    getcontext(&inside);
    inside.uc_stack.ss_sp = painted;
    inside.uc_stack.ss_size = PAINTED;
    inside.uc_link = &outside;
    makecontext(&inside, make_it, 0);
    swapcontext(&outside, &inside);
}

static void *in_thread(void *unused)
{
    call_to_make();
    return unused;
}

static void handle(int signal)
{
    (void)signal;
    call_to_make();
}

/* A stack of exactly this size: what goes below it ends the program. */
static inline char *stack_of(size_t size)
{
    enum { BELOW = 1 << 17 };
    size_t whole = (size + 4095) / 4096 * 4096;
    char *map = mmap(NULL, BELOW + whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(map, BELOW, PROT_NONE);
    return map + BELOW + (whole - size);
}

static inline void on_a_signal_stack(size_t size)
{
    /* Of processors with very large registers, the kernel needs more than half of it. */
    unsigned long frame = getauxval(AT_MINSIGSTKSZ);
    size += frame > 4096 ? frame - 4096 : 0;
    stack_t stack = {.ss_sp = stack_of(size), .ss_size = size};
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
    if (sigaltstack(&stack, NULL) || sigaction(SIGUSR1, &action, NULL) || raise(SIGUSR1))
        exit(9);
}

static inline void in_a_thread(void *stack, size_t size)
{
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (pthread_attr_setstack(&attributes, stack, size) ||
        pthread_create(&thread, &attributes, in_thread, NULL) || pthread_join(thread, NULL))
        exit(9);
}

#endif
