/* Measuring the parts of a split: the time and memory of each part, and the share of each node in the time. */
#ifndef PCC_TOOLS_RUN_MEASURE_H
#define PCC_TOOLS_RUN_MEASURE_H

#include "ir/base/signal_flag.h"
#include "tools/run/engine.h"
#include "tools/run/split_in.h"

enum { TURNS_MOST = 3 };

/* What is measured, and how. */
struct measuring {
    struct engine *e;
    struct engine_choice choice; /* how e was opened */
    const struct split *s;
    int threads;            /* of an operator */
    uint32_t discard, runs; /* of a part in a turn: runs that do not count, and runs that do */
    uint32_t node_discard, node_runs; /* the same for times of nodes; node_runs 0: no nodes */
    bool memory;                      /* memory of the parts is measured, too */
    bool parts;                       /* the parts are measured; false: their nodes alone */
    const char *folder;               /* for temporary files */
    const signal_flag *stop;          /* 1: no further run begins */
    struct engine_value **table; /* [value] inputs of the model, which stay; others come and go */
    struct arena *a;
    struct diag *d;
};

/* Ends the error of a part whose run failed. */
#define INPUTS_HINT "; random inputs may not suit the model: --inputs=FILE.npz gives others"

/* What was measured of a node. */
struct node_figures {
    int64_t ps; /* least time of the node, at least NODE_FLOOR_PS; -1: no event of it was found */
    int64_t bytes; /* results of the node and its workspace; -1: not known */
};

#define NODE_FLOOR_PS                                                                              \
    INT64_C(100000) /* the profiler's clock ticks in microseconds: shorter times read as 0 */

/* Memory of a process that has one part, bytes; -1: not known. */
struct part_bytes {
    int64_t start, loaded; /* with the engine alone; with the part loaded */
    int64_t sample;        /* most during the first sample */
    int64_t arena,
        arena_peak; /* of the engine's arena: taken from the system, and most given to values */
};
#define PART_BYTES_UNKNOWN ((struct part_bytes){-1, -1, -1, -1, -1})

/* What was measured of a part. */
struct part_figures {
    uint32_t turns;           /* that are complete */
    int64_t turn[TURNS_MOST]; /* ps of a run in each */
    uint32_t had[TURNS_MOST]; /* per cent of the clock's time that the thread had the processor */
    int64_t ps;               /* the least of turn[]; -1: not measured */
    struct part_bytes bytes;
    /* ps, on the scale of node[].ps, that belong to no node of the part by name: calls of functions, in whose place
     * other nodes run */
    int64_t nameless_ps;
    struct node_figures *node; /* [nodes of the part]; NULL: not measured */
};

/* Measures all parts, each in a session of its own, sample by sample, or one after the other where memory is short.
 * Writes f[part]; where *m->stop ended the work fewer turns than asked for, or no nodes, are there.  Returns 0, or -1
 * and an error that names part, first node and the engine's reason. */
int measure_parts(const struct measuring *m, struct part_figures *f);
/* Whether the part with these figures is measured as asked for. */
bool measured_whole(const struct measuring *m, const struct part_figures *f);

/* Runs the parts before part k once, so that the inputs of part k are in the table; measure_forget() frees what is
 * there beside the inputs of the model.  Returns 0, or -1 and an error; what Ctrl-C left out is not there. */
int measure_inputs(const struct measuring *m, uint32_t k);
void measure_forget(const struct measuring *m);

/* ---- of the files measure*.c alone ---- */

/* Measures the nodes of part k, whose inputs are in the table.  Returns 0, or -1 and an error. */
int measure_nodes(const struct measuring *m, uint32_t k, struct part_figures *f);
/* The times of one run. */
struct timing {
    int64_t spent, clock; /* ps of processor time, and by the clock */
};
/* Inside: runs the loaded part k once; its outputs go to the table, its time to *t.  Returns 0, or -1 and an error. */
int measure_run(const struct measuring *m, uint32_t k, struct loaded *p, struct timing *t);
/* Inside: loads part k.  NULL after an error. */
struct loaded *measure_load(const struct measuring *m, uint32_t k, const struct engine_load *how);

#endif
