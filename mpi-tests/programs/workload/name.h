/* The workload configured by the name it is called by, so that a link is all it takes to have another one:
 *
 *     ioskel.PERIOD.SIZE.ITERATIONS[.PROBABILITY]
 *
 * One request of SIZE bytes per rank every PERIOD seconds (or milliseconds: 50ms), ITERATIONS times. Without
 * a PROBABILITY all of them write; with one, the first writes, and each later one changes between writing and
 * reading with that probability in per cent: ioskel.4.512m.15.100 writes eight times and reads seven
 * times. */
#ifndef WORKLOAD_NAME_H
#define WORKLOAD_NAME_H

#include "options.h"

/* The next part of a name up to a dot or the end; false if there is none. */
static bool next_part(const char **rest, char part[64]) {
    size_t length = strcspn(*rest, ".");
    if (!length || length >= 64)
        return false;
    memcpy(part, *rest, length);
    part[length] = 0;
    *rest += length + ((*rest)[length] == '.');
    return true;
}

static double period(bool speak, const char *name, char *text) {
    size_t length = strlen(text);
    bool milliseconds = length > 2 && !strcmp(text + length - 2, "ms");
    if (milliseconds)
        text[length - 2] = 0;
    return seconds(speak, name, text) * (milliseconds ? 1e-3 : 1);
}

static void configure_by_name(struct options *o, const char *path, bool speak) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *rest = name;
    if (strncmp(name, "ioskel.", 7))
        return;
    rest += 7;
    char parts[4][64];
    int count = 0;
    while (count < 4 && next_part(&rest, parts[count]))
        count++;
    if (count < 3 || *rest)
        usage_error(speak, "expected a name such as ioskel.PERIOD.SIZE.ITERATIONS[.PROBABILITY], found",
                    name);
    o->requests = 1;
    o->compute = period(speak, name, parts[0]);
    o->size = (int)whole(speak, name, parts[1], 1);
    o->iterations = (int)whole(speak, name, parts[2], 1);
    if (count == 4)
        o->transition = percent(speak, name, parts[3]);
}

#endif
