/* A sink of diagnostics that keeps the last error, for tests that look at what a call refused and why. */
#ifndef PCC_TESTS_KEPT_H
#define PCC_TESTS_KEPT_H

#include "ir/base/diag.h"

#include <stdio.h>

enum { KEPT = 4096 };

/* struct diag.emit; user: a text of KEPT bytes. */
static inline void keep_error(void *user, enum diag_level level, enum warning w, const char *line)
{
    (void)w;
    if (level == DIAG_ERROR)
        snprintf(user, KEPT, "%s", line);
}

#endif
