/* A file system in trouble, needed by the recorder, so that the helper has it: calls that touch a path with
 * the second line of the file "trouble", beside this one, in it (or, if that begins with a star, a path that
 * ends so) go wrong as its first line says.
 *   interrupted, short, stale, input-output: the third write fails once
 *   broken: every write after the second fails
 *   close:  closing fails, as it does where a quota is exceeded on a file server
 *   slow:   each call that makes, looks for or renames something takes some milliseconds */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char trouble[32], part[4096];

__attribute__((constructor)) static void read_settings(void) {
    Dl_info own;
    char path[4096];
    if (!dladdr((void *)read_settings, &own))
        abort();
    snprintf(path, sizeof path, "%.*s/trouble", (int)(strrchr(own.dli_fname, '/') - own.dli_fname),
             own.dli_fname);
    FILE *settings = fopen(path, "r");
    if (!settings || fscanf(settings, "%31s %4095s", trouble, part) != 2)
        abort();
    fclose(settings);
}

static int is(const char *what) {
    return !strcmp(trouble, what);
}

static int concerns(const char *path) {
    if (!part[0] || !path)
        return 0;
    if (part[0] != '*')
        return strstr(path, part) != NULL;
    size_t length = strlen(path), end = strlen(part + 1);
    return length >= end && !strcmp(path + length - end, part + 1);
}

static int concerns_descriptor(int descriptor) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return 0;
    path[length] = 0;
    return concerns(path);
}

ssize_t write(int descriptor, const void *data, size_t length) {
    static int count;
    int number = 0;
    if (concerns_descriptor(descriptor))
        number = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
    if (number > 2 && is("broken")) {
        errno = EIO;
        return -1;
    }
    if (number == 3) {
        errno = is("interrupted") ? EINTR : is("stale") ? ESTALE : is("input-output") ? EIO : 0;
        if (errno)
            return -1;
        if (is("short"))
            length /= 2;
    }
    return syscall(SYS_write, descriptor, data, length);
}

int close(int descriptor) {
    int fails = is("close") && concerns_descriptor(descriptor);
    int answer = syscall(SYS_close, descriptor);
    if (!fails || answer)
        return answer;
    errno = EDQUOT;
    return -1;
}

static void pause_for(const char *path) {
    if (is("slow") && concerns(path))
        usleep(3000);
}

int mkdir(const char *path, mode_t mode) {
    pause_for(path);
    int answer = syscall(SYS_mkdir, path, mode);
    pause_for(path);
    return answer;
}

int rename(const char *from, const char *to) {
    pause_for(from);
    return syscall(SYS_rename, from, to);
}

int unlink(const char *path) {
    pause_for(path);
    return syscall(SYS_unlink, path);
}

int open64(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = va_arg(arguments, mode_t);
    va_end(arguments);
    pause_for(path);
    return syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
