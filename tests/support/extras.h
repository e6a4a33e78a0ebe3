/* Extras of a unit test: what needs inputs or room that may be missing, as in extras.py.  A line
 * " * extras: shared" in the first comment of a file makes ctest run it with --extra=shared, too. */
#ifndef PCC_TESTS_EXTRAS_H
#define PCC_TESTS_EXTRAS_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static inline bool extra_is(int argc, char **argv, const char *name)
{
    return argc == 2 && !strncmp(argv[1], "--extra=", 8) && !strcmp(argv[1] + 8, name);
}

/* The exit code of an extra that is left out; what: "no folder ../shared". */
static inline int extra_skipped(const char *what)
{
    printf("skipped: %s\n", what);
    return 77;
}

/* Whether the folder of shared inputs is there. */
static inline bool has_shared(void)
{
    const char *s = getenv("PCC_SHARED");
    return s && *s && access(s, R_OK | X_OK) == 0;
}

#endif
