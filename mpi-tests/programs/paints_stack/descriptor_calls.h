/* Cases of functions that take a descriptor or give one. */

#define FILE_ fd = fresh_file()

CALL(read, FILE_, result = read(fd, buffer, 8), )
CALL(pread, FILE_, result = pread(fd, buffer, 8, 0), )
CALL(pread64, FILE_, result = pread64(fd, buffer, 8, 0), )
CALL(readv, FILE_, result = readv(fd, &vector, 1), )
CALL(preadv, FILE_, result = preadv(fd, &vector, 1, 0), )
CALL(preadv64, FILE_, result = preadv64(fd, &vector, 1, 0), )
CALL(preadv2, FILE_, result = preadv2(fd, &vector, 1, 0, 0), )
CALL(preadv64v2, FILE_, result = preadv64v2(fd, &vector, 1, 0, 0), )
RARE_CALL(ssize_t, __read_chk, (int, void *, size_t, size_t), FILE_, f(fd, buffer, 8, 8), )
RARE_CALL(ssize_t, __pread_chk, (int, void *, size_t, off_t, size_t), FILE_, f(fd, buffer, 8, 0, 8), )
RARE_CALL(ssize_t, __pread64_chk, (int, void *, size_t, off_t, size_t), FILE_,
          f(fd, buffer, 8, 0, 8), )
CALL(write, FILE_, result = write(fd, buffer, 8), )
CALL(pwrite, FILE_, result = pwrite(fd, buffer, 8, 0), )
CALL(pwrite64, FILE_, result = pwrite64(fd, buffer, 8, 0), )
CALL(writev, FILE_, result = writev(fd, &vector, 1), )
CALL(pwritev, FILE_, result = pwritev(fd, &vector, 1, 0), )
CALL(pwritev64, FILE_, result = pwritev64(fd, &vector, 1, 0), )
CALL(pwritev2, FILE_, result = pwritev2(fd, &vector, 1, 0, 0), )
CALL(pwritev64v2, FILE_, result = pwritev64v2(fd, &vector, 1, 0, 0), )
CALL(dprintf, FILE_, result = dprintf(fd, "%d\n", 7), )
RARE_CALL(int, __dprintf_chk, (int, int, const char *, ...), FILE_, f(fd, 1, "%d\n", 7), )

static void list_to(int (*print)(int, const char *, va_list), ...)
{
    va_list list;
    va_start(list, print);
    result = print(fd, "%d\n", list);
    va_end(list);
}
static int checked_list(int to, const char *format, va_list list)
{
    return ((int (*)(int, int, const char *, va_list))found)(to, 1, format, list);
}
CALL(vdprintf, FILE_, list_to(vdprintf, 7), )
CALL(__vdprintf_chk, FILE_, list_to(checked_list, 7), )

#define TWO_FILES FILE_; second = fresh_number()
#define DROP_SECOND drop(second)
CALL(copy_file_range, TWO_FILES, result = copy_file_range(fd, &(off64_t){0}, second, &(off64_t){8192}, 8, 0),
     DROP_SECOND)
CALL(sendfile, TWO_FILES, result = sendfile(second, fd, &(off_t){0}, 8), DROP_SECOND)
CALL(sendfile64, TWO_FILES, result = sendfile64(second, fd, &(off64_t){0}, 8), DROP_SECOND)
CALL(splice, FILE_; RAW(SYS_pipe2, ends, 0, 0, 0), result = splice(fd, NULL, ends[1], NULL, 8, 0),
     drop(ends[0]); drop(ends[1]))
CALL(fsync, FILE_, result = fsync(fd), )
CALL(fdatasync, FILE_, result = fdatasync(fd), )
CALL(ftruncate, FILE_, result = ftruncate(fd, 8192), )
CALL(ftruncate64, FILE_, result = ftruncate64(fd, 8192), )
CALL(fallocate, FILE_, result = fallocate(fd, 0, 0, 8192), )
CALL(fallocate64, FILE_, result = fallocate64(fd, 0, 0, 8192), )
CALL(posix_fallocate, FILE_, result = posix_fallocate(fd, 0, 8192), )
CALL(posix_fallocate64, FILE_, result = posix_fallocate64(fd, 0, 8192), )

#define DROP drop(result)
#define NEW_NAME fresh_path()
CALL(open, NEW_NAME, result = open(path, O_CREAT | O_RDWR, 0600), DROP)
CALL(open64, NEW_NAME, result = open64(path, O_CREAT | O_RDWR, 0600), DROP)
CALL(openat, NEW_NAME, result = openat(AT_FDCWD, path, O_CREAT | O_RDWR, 0600), DROP)
CALL(openat64, NEW_NAME, result = openat64(AT_FDCWD, path, O_CREAT | O_RDWR, 0600), DROP)
CALL(creat, NEW_NAME, result = creat(path, 0600), DROP)
CALL(creat64, NEW_NAME, result = creat64(path, 0600), DROP)
RARE_CALL(int, __open_2, (const char *, int), FILE_, result = f(path, O_RDWR), DROP)
RARE_CALL(int, __open64_2, (const char *, int), FILE_, result = f(path, O_RDWR), DROP)
RARE_CALL(int, __openat_2, (int, const char *, int), FILE_, result = f(AT_FDCWD, path, O_RDWR), DROP)
RARE_CALL(int, __openat64_2, (int, const char *, int), FILE_, result = f(AT_FDCWD, path, O_RDWR),
          DROP)
CALL(mkstemp, NEW_NAME, result = mkstemp(path), DROP)
CALL(mkstemp64, NEW_NAME, result = mkstemp64(path), DROP)
CALL(mkostemp, NEW_NAME, result = mkostemp(path, O_APPEND), DROP)
CALL(mkostemp64, NEW_NAME, result = mkostemp64(path, O_APPEND), DROP)
#define NAME_WITH_SUFFIX NEW_NAME; strcat(path, ".end")
CALL(mkstemps, NAME_WITH_SUFFIX, result = mkstemps(path, 4), DROP)
CALL(mkstemps64, NAME_WITH_SUFFIX, result = mkstemps64(path, 4), DROP)
CALL(mkostemps, NAME_WITH_SUFFIX, result = mkostemps(path, 4, O_APPEND), DROP)
CALL(mkostemps64, NAME_WITH_SUFFIX, result = mkostemps64(path, 4, O_APPEND), DROP)
CALL(close, fd = fresh_number(), result = close(fd), )
CALL(close_range, fd = fresh_number(), result = close_range(fd, fd, 0), )
CALL(closefrom, fd = fresh_number(), closefrom(fd), )
CALL(dup, FILE_, result = dup(fd), DROP)
CALL(dup2, FILE_, result = dup2(fd, 90), DROP)
CALL(dup3, FILE_, result = dup3(fd, 90, O_CLOEXEC), DROP)
CALL(fcntl, FILE_, result = fcntl(fd, F_DUPFD, 90), DROP)
CALL(fcntl64, FILE_, result = fcntl64(fd, F_DUPFD, 90), DROP)
CALL(chdir, , result = chdir("."), )
CALL(fchdir, fd = (int)RAW(SYS_openat, AT_FDCWD, ".", O_RDONLY, 0), result = fchdir(fd), drop(fd))
static int visit(const char *path, const struct stat *stat, int kind, struct FTW *place)
{
    (void)path, (void)stat, (void)kind, (void)place;
    return 0;
}
CALL(nftw, , result = nftw("/nowhere", visit, 1, FTW_CHDIR), )
RARE_CALL(int, nftw64, (const char *, void *, int, int), , result = f("/nowhere", visit, 1, FTW_CHDIR), )
static char *roots[] = {"/nowhere", NULL};
static void *tree;
CALL(fts_open, , tree = fts_open(roots, FTS_PHYSICAL, NULL), fts_close(tree))
RARE_CALL(void *, fts64_open, (char **, int, void *), , tree = f(roots, FTS_PHYSICAL, NULL), fts_close(tree))
CALL(syscall, FILE_, result = syscall(SYS_pwrite64, fd, buffer, 8, 0), )
CALL(prctl, , result = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0), )

/* The control block of an operation, and of one that is done. */
#define CONTROL FILE_; memset(&control, 0, sizeof control); control.aio_fildes = fd;                    \
    control.aio_buf = buffer; control.aio_nbytes = 8; controls[0] = &control
#define BEGUN CONTROL; aio_read(&control)
#define FINISHED BEGUN; while (aio_error(&control) == EINPROGRESS_) usleep(100)
#define EINPROGRESS_ 115
#define END while (aio_error(&control) == EINPROGRESS_) usleep(100); aio_return(&control)
CALL(aio_read, CONTROL, result = aio_read(&control), END)
CALL(aio_write, CONTROL, result = aio_write(&control), END)
CALL(aio_error, BEGUN, result = aio_error(&control), END)
CALL(aio_return, FINISHED, result = aio_return(&control), )
CALL(aio_suspend, BEGUN, result = aio_suspend((const struct aiocb *const *)controls, 1, NULL), END)
CALL(lio_listio, CONTROL; control.aio_lio_opcode = LIO_READ, result = lio_listio(LIO_WAIT, controls, 1, NULL),
     aio_return(&control))
#define AS64(block) ((struct aiocb64 *)(void *)(block))
CALL(aio_read64, CONTROL, result = aio_read64(AS64(&control)), END)
CALL(aio_write64, CONTROL, result = aio_write64(AS64(&control)), END)
CALL(aio_error64, BEGUN, result = aio_error64(AS64(&control)), END)
CALL(aio_return64, FINISHED, result = aio_return64(AS64(&control)), )
CALL(aio_suspend64, BEGUN,
     result = aio_suspend64((const struct aiocb64 *const *)(void *)controls, 1, NULL), END)
CALL(lio_listio64, CONTROL; control.aio_lio_opcode = LIO_READ,
     result = lio_listio64(LIO_WAIT, (struct aiocb64 **)(void *)controls, 1, NULL), aio_return(&control))

/* What glibc itself opens and closes, and descriptors that come by sockets. */
static DIR *listing;
static struct msghdr message;
CALL(opendir, , listing = opendir("."), RAW(SYS_close, dirfd(listing), 0, 0, 0))
CALL(fdopendir, fd = (int)RAW(SYS_openat, AT_FDCWD, ".", O_RDONLY, 0), listing = fdopendir(fd), drop(fd))
CALL(closedir, listing = opendir("."), result = closedir(listing), )
CALL(socketpair, , result = socketpair(AF_UNIX, SOCK_DGRAM, 0, ends), drop(ends[0]); drop(ends[1]))
CALL(pipe, , result = pipe(ends), drop(ends[0]); drop(ends[1]))
CALL(pipe2, , result = pipe2(ends, O_CLOEXEC), drop(ends[0]); drop(ends[1]))
CALL(recvmsg,
     RAW(SYS_socketpair, AF_UNIX, SOCK_DGRAM, 0, ends); RAW(SYS_write, ends[0], "12345678", 8, 0);
     message.msg_iov = &vector; message.msg_iovlen = 1, result = recvmsg(ends[1], &message, 0),
     drop(ends[0]); drop(ends[1]))
static struct mmsghdr messages;
CALL(recvmmsg,
     RAW(SYS_socketpair, AF_UNIX, SOCK_DGRAM, 0, ends); RAW(SYS_write, ends[0], "12345678", 8, 0);
     messages.msg_hdr.msg_iov = &vector; messages.msg_hdr.msg_iovlen = 1,
     result = recvmmsg(ends[1], &messages, 1, 0, NULL), drop(ends[0]); drop(ends[1]))
/* It fails before it changes anything: the file is no terminal. */
RARE_CALL(int, login_tty, (int), FILE_, result = f(fd), )
CALL(unshare, , result = unshare(0), )
CALL(truncate, FILE_, result = truncate(path, 8192), )
CALL(unlink, FILE_, result = unlink(path), )
CALL(rename, FILE_, result = rename(path, "renamed"), )
CALL(lseek, FILE_, result = lseek(fd, 0, SEEK_SET), )
CALL(mmap, FILE_, result = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) != MAP_FAILED, )
CALL(memfd_create, , result = memfd_create("memory", 0), DROP)
