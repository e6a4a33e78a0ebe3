/* Reads small files of the system (machine_file.h).  O(size of the file). */
#include "ir/cluster/detect/machine_file.h"

#include "ir/base/infile.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 1 << 16 }; /* bytes of a file that are read */

char *machine_text(const char *root, const char *path, struct arena *a)
{
    char text[MOST + 1];
    struct diag silent = diag_silent();
    /* size of the file, not used: files in /sys and /proc have size 0 whatever they hold */
    uint64_t size;
    int fd = infile_open(arena_fmt(a, "%s%s", root, path), INFILE_TABLE, &size, &silent);
    size_t n = 0;
    ssize_t got = fd < 0 ? -1 : 1;
    while (got > 0 && n < MOST) {
        got = read(fd, text + n, MOST - n);
        if (got > 0)
            n += (size_t)got;
    }
    if (fd >= 0)
        close(fd);
    while (n > 0 && isspace((unsigned char)text[n - 1]))
        n--;
    return got < 0 ? NULL : arena_strdup(a, text, n);
}

int64_t machine_parse(const char *s)
{
    char *end;
    errno = 0;
    long long n = strtoll(s, &end, 10);
    return end == s || errno || n < 0 ? -1 : n;
}

int64_t machine_number(const char *root, const char *path, struct arena *a)
{
    const char *text = machine_text(root, path, a);
    return text ? machine_parse(text) : -1;
}

const char *machine_next_line(const char *line)
{
    const char *end = strchr(line, '\n');
    return end ? end + 1 : NULL;
}

int64_t machine_field(const char *text, const char *key)
{
    size_t n = strlen(key);
    for (const char *line = text; line; line = machine_next_line(line))
        if (!strncmp(line, key, n) && (line[n] == ' ' || line[n] == ':'))
            return machine_parse(line + n + (line[n] == ':'));
    return -1;
}
