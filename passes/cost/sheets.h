/* Inside the cost table (measured.h): a sheet for each file of times and memory, and predictions from sheets. */
#ifndef PCC_PASSES_COST_SHEETS_H
#define PCC_PASSES_COST_SHEETS_H

#include "passes/cost/affine_fit.h"
#include "passes/cost/measured.h"

enum { NONE = -1 }; /* in place of a time or memory: the file has none */

/* The times and memory in one file, by row of the cost table or by operator type.  An array is NULL if the file has no
 * entry for it; an element NONE: no entry. */
struct sheet {
    const char *option, *path; /* name of the option that names the file, without "--"; the file */
    bool sized;                /* the file says at which sizes it was measured */
    int64_t batch;             /* batch size of the measurements; 0: the planned batch size */
    /* [class][row] ps; COST_NEVER: the node cannot run there */
    int64_t *node_time[CLUSTER_CLASSES];
    int64_t *op_time[CLUSTER_CLASSES]; /* [class][id of operator type] the same */
    int64_t *node_memory, *op_memory;  /* bytes by [row] and by [id of operator type] */
    /* the file is a trace of a run (run_trace.h) for the classes whose bit is set: it has parts, and no entries */
    bool run;
    uint32_t classes, npart;
    struct run_part *part; /* the npart parts of the trace */
};

/* A line through measurements, evaluated at one batch size. */
struct forecast {
    int64_t batch;   /* the batch size that is predicted */
    uint32_t sheets; /* bit i: the line goes through sheet i of cost_table.at; 0: no line yet */
    bool fits; /* the sheets have at least two different batch sizes, so that there is a line */
    struct affine_fit fit;
};

/* All files of times and memory.  Row n is node n of the module that is priced; if function calls are replaced in it,
 * row model + n is node n of the model itself. */
struct cost_table {
    const struct module *m;      /* the module that is priced */
    struct strings *names, *ops; /* names: of nodes; ops: operator types; both have ids 1, 2, ... */
    uint32_t *row_of;            /* [id of name] its row */
    uint32_t *op_of;             /* [row] id of its operator type */
    uint32_t nrow, nname, nop;   /* number of rows; largest ids in row_of and op_of */
    /* row `model` + n is node n of the model itself (see above); 0: no calls are replaced */
    uint32_t model;
    struct sheet *given, *at; /* files of --costs, [ngiven]; files of --profile-at, [nat] */
    uint32_t ngiven, nat;
    /* the line for the planned batch size; it is made anew for a row that is in other files than the row before */
    struct forecast *planned;
};

/* Reads a file into *to, whose option and batch are set.  text: FILE or FILE:CLASS,...  Returns 0, or -1 and reports an
 * error.  The arrays live in the scratch arena. */
int sheet_read(const struct cost_table *t, struct sheet *to, struct ctx *x, const char *text);
/* sheet_time() returns the ps of a row on class k in sheet s, sheet_memory() the bytes of a row: what the file has
 * for the node, else for its operator type; NONE: no entry. */
int64_t sheet_time(const struct sheet *s, const struct cost_table *t, uint32_t row, uint32_t k);
int64_t sheet_memory(const struct sheet *s, const struct cost_table *t, uint32_t row);

/* Return the ps of a row on class k, or its bytes, that the files of --profile-at predict for the batch size f->batch;
 * NONE: no prediction.  *f keeps the line for the next call, which can use it if its row is in the same files. */
int64_t forecast_time(const struct cost_table *t, struct forecast *f, uint32_t row, uint32_t k);
int64_t forecast_memory(const struct cost_table *t, struct forecast *f, uint32_t row);

#endif
