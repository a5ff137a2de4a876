/* The handler of a timer jumps out of open() and close(), some thousand times; then 20 files get 2 MiB each.
 * It writes where it is. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static sigjmp_buf before;

static void jump(int signal) {
    (void)signal;
    siglongjmp(before, 1);
}

int main(void) {
    static char data[1 << 15];
    static volatile int count;
    char name[40];
    struct sigaction action = {.sa_handler = jump, .sa_flags = SA_NODEFER};
    sigaction(SIGALRM, &action, NULL);
    for (volatile int i = 0; i < 3000; i++)
        if (!sigsetjmp(before, 1)) {
            ualarm(50 + i % 300, 0);
            for (;;) {
                snprintf(name, sizeof name, "before-%d", count++ % 50000);
                int file = open(name, O_CREAT | O_RDWR, 0600);
                close(file);
                unlink(name);
            }
        }
    ualarm(0, 0);
    for (int i = 3; i < 1000; i++)
        close(i);
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "after-%d", i);
        int file = open(name, O_CREAT | O_RDWR, 0600);
        for (int j = 0; j < 64; j++)
            if (write(file, data, sizeof data) != (ssize_t)sizeof data)
                return 1;
        close(file);
    }
    return 0;
}
