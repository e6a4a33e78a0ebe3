/* A pcc on a disk on which no file gets the name PCC_UNNAMED.  For test_security.py.
 *
 * rename and linkat of the program stand before the system's. */
#include "tests/planted/next.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Whether a file must not get this name; sets errno then. */
static int is_refused(const char *to)
{
    const char *name = getenv("PCC_UNNAMED");
    if (!name || strcmp(to, name) != 0)
        return 0;
    errno = ENOSPC;
    return 1;
}

int rename(const char *from, const char *to)
{
    int (*real)(const char *, const char *) = next_function("rename");
    return is_refused(to) ? -1 : real(from, to);
}

int linkat(int at, const char *from, int to_at, const char *to, int flags)
{
    int (*real)(int, const char *, int, const char *, int) = next_function("linkat");
    return is_refused(to) ? -1 : real(at, from, to_at, to, flags);
}
