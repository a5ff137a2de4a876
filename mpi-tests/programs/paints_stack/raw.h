/* System calls that no library can stand in for. */
#ifndef RAW_H
#define RAW_H

#include <sys/syscall.h>

static long raw(long number, long a, long b, long c, long d)
{
#if defined(__x86_64__)
    register long fourth __asm__("r10") = d;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
                     : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register long n __asm__("x8") = number;
    register long first __asm__("x0") = a, second __asm__("x1") = b, third __asm__("x2") = c;
    register long fourth __asm__("x3") = d;
    __asm__ volatile("svc 0"
                     : "+r"(first)
                     : "r"(n), "r"(second), "r"(third), "r"(fourth)
                     : "memory");
    return first;
#endif
}

#define RAW(number, a, b, c, d) raw(number, (long)(a), (long)(b), (long)(c), (long)(d))

#endif
