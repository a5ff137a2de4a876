/* Cases of functions that make processes, end them, or change what they may do. A call of exec fails here:
 * what a library has to do before it is done by then. */

extern char **environ;
static char *no_arguments[] = {"nothing", NULL};
static const char nowhere[] = "/nowhere/to/be/found";

CALL(execv, , result = execv(nowhere, no_arguments), )
CALL(execve, , result = execve(nowhere, no_arguments, environ), )
CALL(execvp, , result = execvp(nowhere, no_arguments), )
CALL(execvpe, , result = execvpe(nowhere, no_arguments, environ), )
CALL(execl, , result = execl(nowhere, "nothing", NULL), )
CALL(execlp, , result = execlp(nowhere, "nothing", NULL), )
CALL(execle, , result = execle(nowhere, "nothing", NULL, environ), )
CALL(fexecve, fd = fresh_file(), result = fexecve(fd, no_arguments, environ), )
CALL(execveat, , result = execveat(AT_FDCWD, nowhere, no_arguments, environ, 0), )

static void in_child(void)
{
    RAW(SYS_exit_group, 0, 0, 0, 0);
}
#define TAKE RAW(SYS_wait4, result, NULL, __WALL, 0)
CALL(fork, , result = fork(); if (result == 0) in_child(), TAKE)
RARE_CALL(pid_t, _Fork, (void), , result = f(); if (result == 0) in_child(), TAKE)
CALL(vfork, , result = vfork(); if (result == 0) in_child(), TAKE)
static int clone_child(void *unused)
{
    (void)unused;
    in_child();
    return 0;
}
CALL(clone, , result = clone(clone_child, buffer + sizeof buffer - 64, SIGCHLD, NULL), TAKE)
static pid_t spawned;
CALL(posix_spawn, , result = posix_spawn(&spawned, "/bin/true", NULL, NULL, no_arguments, environ),
     RAW(SYS_wait4, spawned, NULL, 0, 0))
CALL(posix_spawnp, , result = posix_spawnp(&spawned, "true", NULL, NULL, no_arguments, environ),
     RAW(SYS_wait4, spawned, NULL, 0, 0))
CALL(system, , result = system(":"), )

LAST_CALL(_exit, , _exit(0))
LAST_CALL(_Exit, , _Exit(0))
LAST_CALL(exit, , exit(0))
LAST_CALL(quick_exit, , quick_exit(0))

CALL(setuid, , result = setuid(getuid()), )
CALL(seteuid, , result = seteuid(geteuid()), )
CALL(setreuid, , result = setreuid(getuid(), geteuid()), )
CALL(setresuid, , result = setresuid(getuid(), geteuid(), geteuid()), )
CALL(setgid, , result = setgid(getgid()), )
CALL(setegid, , result = setegid(getegid()), )
CALL(setregid, , result = setregid(getgid(), getegid()), )
CALL(setresgid, , result = setresgid(getgid(), getegid(), getegid()), )
CALL(setgroups, , result = setgroups(0, NULL), )
CALL(initgroups, , result = initgroups("root", 0), )
CALL(chroot, , result = chroot("/"), )
