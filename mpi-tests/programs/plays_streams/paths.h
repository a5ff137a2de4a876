/* Names: files made, removed, renamed and linked, and the current directory. */
#ifndef PLAYS_STREAMS_PATHS_H
#define PLAYS_STREAMS_PATHS_H

#include "state.h"

OP(make)
{
    char path[PATH_MAX];
    int file = open(name(s, w[1], path), O_CREAT | O_TRUNC | O_WRONLY | O_NONBLOCK, 0640);
    long put = file < 0 ? -1 : write(file, next_text(s), number(w[2]));
    if (file >= 0)
        close(file);
    told(s, put);
}

OP(unlink) { char path[PATH_MAX]; told(s, unlink(name(s, w[1], path))); }
OP(rename) { char old[PATH_MAX], new[PATH_MAX]; told(s, rename(name(s, w[1], old), name(s, w[2], new))); }
OP(link) { char old[PATH_MAX], new[PATH_MAX]; told(s, link(name(s, w[1], old), name(s, w[2], new))); }
OP(truncate) { char path[PATH_MAX]; told(s, truncate(name(s, w[1], path), number(w[2]))); }
OP(mkfifo) { char path[PATH_MAX]; told(s, mkfifo(name(s, w[1], path), 0600)); }
OP(chdir) { told(s, chdir(w[1])); }
OP(fchdir) { DESCRIPTOR(d, w[1]); told(s, fchdir(d)); }

/* To where the first one leads from the root. */
OP(symlink)
{
    char to[PATH_MAX], path[PATH_MAX], from_root[64];
    snprintf(from_root, sizeof from_root, "=%s", w[1]);
    told(s, symlink(name(s, from_root, to), name(s, w[2], path)));
}

#endif
