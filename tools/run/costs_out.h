/* Writes what was measured: a file for pcc's --costs (passes/cost/costs.md). */
#ifndef PCC_TOOLS_RUN_COSTS_OUT_H
#define PCC_TOOLS_RUN_COSTS_OUT_H

#include "tools/run/measure.h"
#include "tools/run/side_by_side.h"

/* A row of the table: a node, its time and memory. */
struct cost_row {
    const char *name;
    int64_t ps, bytes; /* bytes -1: not known */
};

/* Measured costs, to be written. */
struct costs_out {
    const struct measuring *m;
    const struct part_figures *part; /* [m->s->npart] */
    const struct cost_row *row;      /* [nrow] */
    uint32_t nrow;
    const char *source; /* the model or folder that was measured */
    const char *cores;  /* processors that were used, as --cores lists them; NULL: any */
    const struct side_by_side *side; /* NULL: not measured */
};

/* Returns rows for the nodes of all parts that are measured as asked for, in a, and their number in *n.  If the parts
 * were measured (m->parts), the part's time is divided among its nodes; else the times are the nodes' own. */
struct cost_row *costs_rows(const struct measuring *m, const struct part_figures *f, uint32_t *n,
                            struct arena *a);
/* Writes what was measured as the value of the manifest's key "measured": machine, settings, of each part its time. */
void costs_put_measured(FILE *f, const struct costs_out *c, struct arena *a);
/* Writes the file: a table of CSV if its name ends in ".csv", else JSON.  Returns 0, or -1 and an error. */
int costs_write(const struct costs_out *c, const char *path, struct arena *a, struct diag *d);

#endif
