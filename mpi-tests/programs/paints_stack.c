/* How much of the caller's stack a call takes: prints "NAME BYTES" on standard error, "NAME fine" where only
 * surviving counts, "NAME absent" if the C library has no such function, "NAME unknown" if there is no case
 * for it here. Standard input must be a file with text, standard output one that can be written.
 *
 * PLACE is where the call is made: context, thread (both painted), handler=BYTES (a signal stack of that
 * size), least (a thread with the smallest stack there is). MOMENT is first (no other call before), edge (all
 * but one of the bytes are moved after which a process is recorded), new (it is recorded, and the file is not
 * known yet) or full (5,000 times, so that blocks get full; fewer where that takes long).
 * usage: paints_stack PLACE MOMENT NAME */
#include "paints_stack/calls.h"
#include "paints_stack/painted.h"
#include <limits.h>

static const struct call *the_call;

static void make_once(void)
{
    the_call->make();
}

static void in_place(const char *place)
{
    if (!strncmp(place, "handler=", 8))
        on_a_signal_stack(atol(place + 8));
    else if (!strcmp(place, "least"))
        in_a_thread(stack_of(PTHREAD_STACK_MIN), PTHREAD_STACK_MIN);
    else if (!strcmp(place, "thread"))
        in_a_thread(painted, PAINTED);
    else
        on_a_context();
}

static void in_a_child(const char *place)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        in_place(place);
        RAW(SYS_exit_group, 0, 0, 0, 0);
    }
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status))
        raise(WTERMSIG(status));
}

static void move_bytes(long bytes)
{
    static char data[65536];
    int file = open("moved", O_CREAT | O_RDWR, 0600);
    for (long n; bytes > 0; bytes -= n)
        if ((n = write(file, data, bytes < 65536 ? bytes : 65536)) <= 0)
            exit(9);
    close(file);
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    const char *place = argv[1], *moment = argv[2], *name = argv[3];
    char text[200];
    alarm(60);
    for (const struct call *const *one = __start_cases; one < __stop_cases; one++)
        the_call = strcmp((*one)->name, name) ? the_call : *one;
    found = dlsym(RTLD_DEFAULT, name);
    const char *answer = !the_call                             ? "unknown"
                         : !found && strcmp(name, "nothing") ? "absent"
                                                               : NULL;
    call_to_make = make_once;
    if (!answer) {
        if (!strcmp(moment, "edge"))
            move_bytes((1 << 20) - 1);
        if (!strcmp(moment, "new") || !strcmp(moment, "full"))
            move_bytes(2 << 20);
        is_first = !strcmp(moment, "first");
        is_repeated = !strcmp(moment, "full") && !the_call->ends;
        prepare();
        paint();
        clock_t enough = clock() + CLOCKS_PER_SEC / 20;
        for (int i = 0; i < (is_repeated ? 5000 : 1) && clock() < enough; i++) {
            the_call->before();
            if (!the_call->ends)
                in_place(place);
            else
                in_a_child(place);
            the_call->after();
        }
    }
    int painting = !strcmp(place, "context") || !strcmp(place, "thread");
    int length = answer || !painting ? snprintf(text, sizeof text, "%s %s\n", name, answer ? answer : "fine")
                                     : snprintf(text, sizeof text, "%s %ld\n", name, depth());
    RAW(SYS_write, 2, text, length, 0);
    RAW(SYS_exit_group, 0, 0, 0, 0);
}
