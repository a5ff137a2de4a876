/* Locks all memory that it has and will have (mlockall), under the usual limit of 8 MiB and without the right
 * to lock more; writes 2.5 MiB and asks for memory until there is no more. Says how often there was.
 * usage: locks_memory */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void)
{
    static char data[65536];
    struct rlimit limit = {8 << 20, 8 << 20};
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct rights[2];
    if (setrlimit(RLIMIT_MEMLOCK, &limit) || syscall(SYS_capget, &header, rights))
        return 2;
    for (int i = 0; i < 2; i++)
        rights[i].effective = rights[i].permitted = 0;
    if (syscall(SYS_capset, &header, rights))
        return 2;
    if (mlockall(MCL_CURRENT | MCL_FUTURE))
        printf("mlockall: %s\n", strerror(errno));
    int file = open("out", O_CREAT | O_RDWR, 0666);
    for (int i = 0; i < 40; i++)
        if (write(file, data, sizeof data) != sizeof data)
            return 3;
    int blocks = 0;
    while (blocks < 40 && malloc(100000))
        blocks++;
    printf("%d blocks\n", blocks);
    return 0;
}
