/* What cost_table (measured.h) is made of: a sheet for each file. */
#ifndef PCC_PASSES_COST_SHEETS_H
#define PCC_PASSES_COST_SHEETS_H

#include "passes/cost/affine_fit.h"
#include "passes/cost/measured.h"

enum { NONE = -1 };

/* The costs in one file. Arrays are NULL for a quantity without any entry; an element NONE: no entry for this row. */
struct sheet {
    const char *option, *path; /* the option that names the file */
    int64_t batch;             /* batch size of the measurements; 0: the planned batch size */
    int64_t *node_time[CLUSTER_CLASSES]; /* [row] ps */
    int64_t *op_time[CLUSTER_CLASSES];   /* [id of operator type] */
    int64_t *node_memory, *op_memory;    /* bytes */
};

/* The line through sheets, bit i: sheet i of cost_table.at, seen at a batch size. */
struct forecast {
    int64_t batch;
    uint32_t sheets;
    bool fits; /* false: no line fits */
    struct affine_fit fit;
};

/* By row: rows are the nodes of the module that is priced, by number; if calls are replaced in it, the nodes of the
 * model itself follow as rows. */
struct cost_table {
    const struct module *m;
    struct strings *names, *ops; /* ids from 1, nodes and operator types in order of appearance */
    uint32_t *row_of;            /* [id of name] */
    uint32_t *op_of;             /* [row] id of its operator type */
    uint32_t nrow, nname, nop, model; /* model: the row of the model's node 0 */
    struct sheet *given, *at;         /* of --costs; of --profile-at */
    uint32_t ngiven, nat;
    struct forecast *planned; /* forecast for the planned batch size, for the row asked for last */
};

/* Reads FILE or FILE:CLASS,...; 0, or -1 and an error.  Arrays live in the scratch arena. */
int sheet_read(const struct cost_table *t, struct sheet *to, struct ctx *x, const char *text);
/* Time in s for a row: the node's, else its operator type's; NONE: no entry. */
int64_t sheet_time(const struct sheet *s, const struct cost_table *t, uint32_t row, uint32_t k);
int64_t sheet_memory(const struct sheet *s, const struct cost_table *t, uint32_t row);

/* What --profile-at predicts for a row at f->batch; NONE: nothing.  *f is kept for the next row. */
int64_t forecast_time(const struct cost_table *t, struct forecast *f, uint32_t row, uint32_t k);
int64_t forecast_memory(const struct cost_table *t, struct forecast *f, uint32_t row);

#endif
