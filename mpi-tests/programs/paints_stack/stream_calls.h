/* Cases of functions of streams. */

static FILE *in, *out, *stream;
static fpos_t position;
static fpos64_t position64;
static wchar_t wide[100];
static int number;

/* The streams of a case: those that were there at the start, if no other call may come first. */
static void prepare(void)
{
    in = is_first ? stdin : fdopen(fresh_number(), "r+");
    out = is_first ? stdout : fdopen(fresh_number(), "r+");
    if (is_repeated) {
        setvbuf(in, NULL, _IONBF, 0);
        setvbuf(out, NULL, _IONBF, 0);
    }
    /* What has no stream as its argument. */
    stdin = in;
    stdout = out;
}

#define IN clearerr(in); if (is_repeated) RAW(SYS_lseek, fileno(in), 0, SEEK_SET, 0)

CALL(fread, IN, result = fread(buffer, 1, 8, in), )
CALL(fread_unlocked, IN, result = fread_unlocked(buffer, 1, 8, in), )
RARE_CALL(size_t, __fread_chk, (void *, size_t, size_t, size_t, FILE *), IN, f(buffer, 8, 1, 8, in), )
RARE_CALL(size_t, __fread_unlocked_chk, (void *, size_t, size_t, size_t, FILE *), IN,
          f(buffer, 8, 1, 8, in), )
CALL(fgets, IN, result = fgets(buffer, 100, in) != NULL, )
CALL(fgets_unlocked, IN, result = fgets_unlocked(buffer, 100, in) != NULL, )
RARE_CALL(char *, __fgets_chk, (char *, size_t, int, FILE *), IN, f(buffer, 100, 100, in), )
RARE_CALL(char *, __fgets_unlocked_chk, (char *, size_t, int, FILE *), IN,
          f(buffer, 100, 100, in), )
CALL(fgetc, IN, result = fgetc(in), )
CALL(fgetc_unlocked, IN, result = fgetc_unlocked(in), )
#undef getc
CALL(getc, IN, result = getc(in), )
CALL(getc_unlocked, IN, result = (getc_unlocked)(in), )
RARE_CALL(int, _IO_getc, (FILE *), IN, f(in), )
CALL(getchar, IN, result = getchar(), )
CALL(getchar_unlocked, IN, result = (getchar_unlocked)(), )
RARE_CALL(int, __uflow, (FILE *), IN, f(in), )
CALL(getline, IN, result = getline(&line, &line_size, in), )
CALL(getdelim, IN, result = getdelim(&line, &line_size, ' ', in), )
RARE_CALL(ssize_t, __getdelim, (char **, size_t *, int, FILE *), IN, f(&line, &line_size, ' ', in), )

/* Headers give these other names. */
#define SCAN(function) RARE_CALL(int, function, (const char *, ...), IN, result = f("%d", &number), )
#define FSCAN(function)                                                                                 \
    RARE_CALL(int, function, (FILE *, const char *, ...), IN, result = f(in, "%d", &number), )
#define WIDE_SCAN(function) RARE_CALL(int, function, (const wchar_t *, ...), IN, result = f(L"%d", &number), )
#define WIDE_FSCAN(function)                                                                            \
    RARE_CALL(int, function, (FILE *, const wchar_t *, ...), IN, result = f(in, L"%d", &number), )
SCAN(scanf)
SCAN(__isoc99_scanf)
SCAN(__isoc23_scanf)
FSCAN(fscanf)
FSCAN(__isoc99_fscanf)
FSCAN(__isoc23_fscanf)
WIDE_SCAN(wscanf)
WIDE_SCAN(__isoc99_wscanf)
WIDE_SCAN(__isoc23_wscanf)
WIDE_FSCAN(fwscanf)
WIDE_FSCAN(__isoc99_fwscanf)
WIDE_FSCAN(__isoc23_fwscanf)

static void by_list(int kind, ...)
{
    va_list list;
    va_start(list, kind);
    switch (kind) {
    case 's': result = ((int (*)(FILE *, const char *, va_list))found)(in, "%d", list); break;
    case 'S': result = ((int (*)(FILE *, const wchar_t *, va_list))found)(in, L"%d", list); break;
    case 'p': result = ((int (*)(FILE *, const char *, va_list))found)(out, "%d\n", list); break;
    case 'P': result = ((int (*)(FILE *, const wchar_t *, va_list))found)(out, L"%d\n", list); break;
    case 'o': result = ((int (*)(const char *, va_list))found)("%d\n", list); break;
    case 'O': result = ((int (*)(const wchar_t *, va_list))found)(L"%d\n", list); break;
    case 'c': result = ((int (*)(FILE *, int, const char *, va_list))found)(out, 1, "%d\n", list); break;
    case 'C': result = ((int (*)(FILE *, int, const wchar_t *, va_list))found)(out, 1, L"%d\n", list); break;
    case 'd': result = ((int (*)(int, const char *, va_list))found)(1, "%d\n", list); break;
    case 'D': result = ((int (*)(int, const wchar_t *, va_list))found)(1, L"%d\n", list); break;
    }
    va_end(list);
}
CALL(vfscanf, IN, by_list('s', &number), )
CALL(__isoc99_vfscanf, IN, by_list('s', &number), )
CALL(__isoc23_vfscanf, IN, by_list('s', &number), )
CALL(vfwscanf, IN, by_list('S', &number), )
CALL(__isoc99_vfwscanf, IN, by_list('S', &number), )
CALL(__isoc23_vfwscanf, IN, by_list('S', &number), )
CALL(vfprintf, , by_list('p', 7), )
CALL(vfwprintf, , by_list('P', 7), )
CALL(vprintf, , by_list('o', 7), )
CALL(vwprintf, , by_list('O', 7), )
CALL(__vfprintf_chk, , by_list('c', 7), )
CALL(__vfwprintf_chk, , by_list('C', 7), )
CALL(__vprintf_chk, , by_list('d', 7), )
CALL(__vwprintf_chk, , by_list('D', 7), )

CALL(fwrite, , result = fwrite(buffer, 1, 8, out), )
CALL(fwrite_unlocked, , result = fwrite_unlocked(buffer, 1, 8, out), )
CALL(fputs, , result = fputs("a line\n", out), )
CALL(fputs_unlocked, , result = fputs_unlocked("a line\n", out), )
CALL(puts, , result = puts("a line"), )
CALL(fputc, , result = fputc('x', out), )
CALL(fputc_unlocked, , result = fputc_unlocked('x', out), )
CALL(putc, , result = (putc)('x', out), )
CALL(putc_unlocked, , result = (putc_unlocked)('x', out), )
RARE_CALL(int, _IO_putc, (int, FILE *), , f('x', out), )
CALL(putchar, , result = (putchar)('x'), )
CALL(putchar_unlocked, , result = (putchar_unlocked)('x'), )
RARE_CALL(int, __overflow, (FILE *, int), , f(out, 'x'), )
CALL(printf, , result = printf("%d\n", 7), )
CALL(fprintf, , result = fprintf(out, "%d\n", 7), )
RARE_CALL(int, __printf_chk, (int, const char *, ...), , f(1, "%d\n", 7), )
RARE_CALL(int, __fprintf_chk, (FILE *, int, const char *, ...), , f(out, 1, "%d\n", 7), )
CALL(wprintf, , result = wprintf(L"%d\n", 7), )
CALL(fwprintf, , result = fwprintf(out, L"%d\n", 7), )
RARE_CALL(int, __wprintf_chk, (int, const wchar_t *, ...), , f(1, L"%d\n", 7), )
RARE_CALL(int, __fwprintf_chk, (FILE *, int, const wchar_t *, ...), , f(out, 1, L"%d\n", 7), )

CALL(fgetwc, IN, result = fgetwc(in), )
CALL(fgetwc_unlocked, IN, result = fgetwc_unlocked(in), )
CALL(getwc, IN, result = (getwc)(in), )
CALL(getwc_unlocked, IN, result = (getwc_unlocked)(in), )
CALL(getwchar, IN, result = (getwchar)(), )
CALL(getwchar_unlocked, IN, result = (getwchar_unlocked)(), )
CALL(fgetws, IN, result = fgetws(wide, 100, in) != NULL, )
CALL(fgetws_unlocked, IN, result = fgetws_unlocked(wide, 100, in) != NULL, )
RARE_CALL(wchar_t *, __fgetws_chk, (wchar_t *, size_t, int, FILE *), IN, f(wide, 100, 100, in), )
RARE_CALL(wchar_t *, __fgetws_unlocked_chk, (wchar_t *, size_t, int, FILE *), IN, f(wide, 100, 100, in), )
CALL(fputwc, , result = fputwc(L'x', out), )
CALL(fputwc_unlocked, , result = fputwc_unlocked(L'x', out), )
CALL(putwc, , result = (putwc)(L'x', out), )
CALL(putwc_unlocked, , result = (putwc_unlocked)(L'x', out), )
CALL(putwchar, , result = (putwchar)(L'x'), )
CALL(putwchar_unlocked, , result = (putwchar_unlocked)(L'x'), )
CALL(fputws, , result = fputws(L"a line\n", out), )
CALL(fputws_unlocked, , result = fputws_unlocked(L"a line\n", out), )

#define FILLED if (!is_first) (fwrite)(buffer, 1, 8, out)
CALL(fflush, FILLED, result = fflush(out), )
CALL(fflush_unlocked, FILLED, result = fflush_unlocked(out), )
CALL(fseek, FILLED, result = fseek(out, 0, SEEK_SET), )
CALL(fseeko, FILLED, result = fseeko(out, 0, SEEK_SET), )
CALL(fseeko64, FILLED, result = fseeko64(out, 0, SEEK_SET), )
CALL(rewind, FILLED, rewind(out), )
CALL(fgetpos, , result = fgetpos(out, &position), )
CALL(fgetpos64, , result = fgetpos64(out, &position64), )
CALL(fsetpos, fgetpos(out, &position); FILLED, result = fsetpos(out, &position), )
CALL(fsetpos64, fgetpos64(out, &position64); FILLED, result = fsetpos64(out, &position64), )
CALL(ftell, FILLED, result = ftell(out), )
CALL(ftello, FILLED, result = ftello(out), )
CALL(ftello64, FILLED, result = ftello64(out), )
CALL(setvbuf, , result = setvbuf(out, NULL, _IOLBF, 0), )
CALL(setbuf, , setbuf(out, buffer), )
CALL(setbuffer, , setbuffer(out, buffer, 4096), )
CALL(setlinebuf, , setlinebuf(out), )
CALL(ungetc, (fgetc)(in), result = ungetc('x', in), )
CALL(ungetwc, fgetwc(in), result = ungetwc(L'x', in), )
CALL(__fpurge, FILLED, __fpurge(out), )

#define DROP_STREAM drop(fileno(stream))
CALL(fopen, fresh_path(), stream = fopen(path, "w+"), DROP_STREAM)
CALL(fopen64, fresh_path(), stream = fopen64(path, "w+"), DROP_STREAM)
CALL(fdopen, fd = fresh_number(), stream = fdopen(fd, "r+"), DROP_STREAM)
#define OPENED stream = fdopen(fresh_number(), "r+")
CALL(freopen, OPENED; fresh_path(), stream = freopen(path, "w+", stream), DROP_STREAM)
CALL(freopen64, OPENED; fresh_path(), stream = freopen64(path, "w+", stream), DROP_STREAM)
CALL(fclose, OPENED, result = fclose(stream), )
LAST_CALL(fcloseall, OPENED, result = fcloseall())
CALL(tmpfile, , stream = tmpfile(), DROP_STREAM)
CALL(tmpfile64, , stream = tmpfile64(), DROP_STREAM)
CALL(popen, , stream = popen(":", "r"), (pclose)(stream))
CALL(pclose, stream = popen(":", "r"), result = pclose(stream), )
CALL(fmemopen, , stream = fmemopen(buffer, 100, "w"), )
CALL(open_memstream, , stream = open_memstream(&line, &line_size), )
