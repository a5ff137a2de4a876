/* Runs COMMAND under a filter of system calls, as bwrap and services of systemd do: only those in the list
 * are allowed (allow), or all but those (deny). A call that is not allowed ends the process (kill), sends
 * SIGSYS (trap) or fails (errno=NUMBER). With - as the command, the filter is written to standard output.
 * usage: filters_calls allow|deny ACTION NUMBER,NUMBER,... COMMAND... */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    static struct sock_filter filter[1100];
    unsigned count = 0;
    if (argc < 5)
        return 2;
    unsigned action = !strcmp(argv[2], "kill")   ? SECCOMP_RET_KILL_PROCESS
                      : !strcmp(argv[2], "trap") ? SECCOMP_RET_TRAP
                                                 : SECCOMP_RET_ERRNO | (atoi(argv[2] + 6) & 0xffff);
    int allows = !strcmp(argv[1], "allow");
    unsigned number = offsetof(struct seccomp_data, nr);
    filter[count++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, number);
    for (char *word = strtok(argv[3], ","); word && count < 1000; word = strtok(NULL, ",")) {
        filter[count++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, atoi(word), 0, 1);
        filter[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, allows ? SECCOMP_RET_ALLOW : action);
    }
    filter[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, allows ? action : SECCOMP_RET_ALLOW);
    if (!strcmp(argv[4], "-"))
        return fwrite(filter, sizeof *filter, count, stdout) != count;
    struct sock_fprog program = {count, filter};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
        perror("seccomp");
        return 4;
    }
    execvp(argv[4], argv + 4);
    return 5;
}
