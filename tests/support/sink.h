/* Diagnostics that tests look at. */
#ifndef PCC_TESTS_SINK_H
#define PCC_TESTS_SINK_H

#include "ir/ir.h"

#include <stdio.h>
#include <string.h>

/* Remembers the last lines, and how many there were of each level. */
struct sink {
    char last[8][600];
    uint32_t n, level[3];
};

static inline void sink_keep(void *user, enum diag_level level, enum warning w, const char *line)
{
    (void)w;
    struct sink *s = user;

    snprintf(s->last[s->n++ % 8], sizeof s->last[0], "%s", line);
    s->level[level]++;
}

/* Writes to s, which is emptied. */
static inline struct diag diag_of(struct sink *s)
{
    memset(s, 0, sizeof *s);
    return (struct diag){.emit = sink_keep, .user = s};
}

#endif
