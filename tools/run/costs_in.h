/* Reading a file of pcc-profile back, and scaling its rows to parts that were measured. */
#ifndef PCC_TOOLS_RUN_COSTS_IN_H
#define PCC_TOOLS_RUN_COSTS_IN_H

#include "tools/run/measure.h"

#include "ir/base/name_table.h"

/* The rows of a file. */
struct costs_in {
    const char *path;
    struct names names; /* name of a node -> its row */
    int64_t *ps;        /* [row] its time, ps */
    int64_t *bytes;     /* [row] its memory; -1: not known */
    uint32_t n;
    /* the sizes of dimensions, by name, at which the file was measured; NULL: none */
    const json_t *dims;
};

/* Reads a file into *c, in a.  Returns 0, or -1 and an error: it is no file of pcc-profile. */
int costs_read(struct costs_in *c, const char *path, struct arena *a, struct diag *d);
/* Checks that the file fits the split: it was measured at the split's sizes, and has a row for at least one of the
 * split's nodes.  Returns 0, or -1 and an error. */
int costs_fit(const struct costs_in *c, const struct split *s, struct diag *d);
/* Called where nodes were not measured: gives the nodes of all parts the times and memory that the file has for them,
 * in f[part].node (-1 for a node without a row), and sets f[part].nameless_ps to what these times leave of the time
 * that the plan has for the part; 0 if all its nodes have rows, or nothing is left. */
void costs_share(const struct costs_in *c, const struct measuring *m, struct part_figures *f);

#endif
