/* Writes 1 500 000 bytes by pwrite, 3 000 000 by system calls of its own, and 8 MiB by a mapped file. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static char data[1500000];

int main(void)
{
    const size_t size = 8 << 20;
    int seen = open("seen", O_CREAT | O_WRONLY, 0600), unseen = open("unseen", O_CREAT | O_WRONLY, 0600);
    int mapped = open("mapped", O_CREAT | O_RDWR, 0600);
    if (pwrite(seen, data, sizeof data, 0) != (ssize_t)sizeof data || ftruncate(mapped, (off_t)size) != 0)
        return 1;
    for (int i = 0; i < 2; i++)
        if (syscall(SYS_write, unseen, data, sizeof data) != (long)sizeof data)
            return 1;
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, mapped, 0);
    if (memory == MAP_FAILED)
        return 1;
    memset(memory, 'm', size);
    return msync(memory, size, MS_SYNC) != 0;
}
