/* Measuring the parts of a split: the time and memory of each part, and the share of each node in the time. */
#ifndef PCC_TOOLS_RUN_MEASURE_H
#define PCC_TOOLS_RUN_MEASURE_H

#include "ir/base/signal_flag.h"
#include "tools/run/engine.h"
#include "tools/run/split_in.h"

enum { TURNS_MOST = 3 }; /* number of turns of a part, at most */

/* What is measured, and how. */
struct measuring {
    struct engine *e;
    struct engine_choice choice; /* how e was opened */
    const struct split *s;
    int threads; /* most threads of an operator */
    /* in each turn a part runs discard times first, which do not count, then runs times, which count */
    uint32_t discard, runs;
    /* the same for times of nodes; node_runs 0: nodes are not measured */
    uint32_t node_discard, node_runs;
    bool memory;             /* memory of the parts is measured, too */
    bool parts;              /* the parts are measured; false: their nodes alone */
    const char *folder;      /* folder for temporary files */
    const signal_flag *stop; /* 1: no further run begins */
    /* [value] inputs of the model, which stay; other values while parts need them */
    struct engine_value **table;
    struct arena *a;
    struct diag *d;
};

/* The end of the message about a part whose run failed: advice. */
#define INPUTS_HINT "; random inputs may not suit the model: --inputs=FILE.npz gives others"

/* What was measured of a node. */
struct node_figures {
    int64_t ps; /* least time of the node, at least NODE_FLOOR_PS; -1: no event of it was found */
    int64_t bytes; /* results of the node and its workspace; -1: not known */
};

/* The least time of a node: the profiler's clock ticks in microseconds, so that shorter times read as 0. */
#define NODE_FLOOR_PS INT64_C(100000)

/* Memory of a process that has one part, bytes; -1: not known. */
struct part_bytes {
    int64_t start, loaded; /* memory of the process with the engine alone; with the part loaded */
    int64_t sample;        /* the most memory of the process during the first sample */
    int64_t arena;         /* memory that the engine's arena has taken from the system */
    int64_t arena_peak;    /* the most memory of the arena that values had at once */
};
#define PART_BYTES_UNKNOWN ((struct part_bytes){-1, -1, -1, -1, -1})

/* What was measured of a part. */
struct part_figures {
    uint32_t turns;           /* number of complete turns */
    int64_t turn[TURNS_MOST]; /* [turns] ps of a run in the turn */
    /* [turns] per cent of the time by the clock in which the thread had the processor */
    uint32_t had[TURNS_MOST];
    int64_t ps; /* the least of turn[]; -1: not measured */
    struct part_bytes bytes;
    /* ps, on the scale of node[].ps, that belong to no entry of node[]: measured, those of nodes that ran in place of
     * calls of functions; from rows of a file (costs_share()), what they leave for nodes without a row */
    int64_t nameless_ps;
    struct node_figures *node; /* [nodes of the part]; NULL: not measured */
};

/* Measures all parts, each in a session of its own.  Each sample goes through all of them; if memory is too short to
 * load all, the parts are measured one after the other.  Writes f[part]; if *m->stop ended the work, a part may have
 * fewer turns than asked for, or no times of nodes.  Returns 0, or -1 and an error that names part, first node and the
 * engine's reason. */
int measure_parts(const struct measuring *m, struct part_figures *f);
/* Whether the part with these figures is measured as asked for. */
bool measured_whole(const struct measuring *m, const struct part_figures *f);

/* Runs the parts before part k once, so that the inputs of part k are in the table (not all, if Ctrl-C ended the work).
 * Returns 0, or -1 and an error. */
int measure_inputs(const struct measuring *m, uint32_t k);
/* Frees all values in the table but the inputs of the model. */
void measure_forget(const struct measuring *m);

/* ---- of the files measure*.c alone ---- */

/* Measures the nodes of part k, whose inputs are in the table.  Returns 0, or -1 and an error. */
int measure_nodes(const struct measuring *m, uint32_t k, struct part_figures *f);

/* The times of one run. */
struct timing {
    int64_t spent, clock; /* ps of processor time, and by the clock */
};
/* Runs the loaded part k once; its outputs go to the table, its time to *t.  Returns 0, or -1 and an error. */
int measure_run(const struct measuring *m, uint32_t k, struct loaded *p, struct timing *t);
/* Loads part k.  Returns NULL after an error. */
struct loaded *measure_load(const struct measuring *m, uint32_t k, const struct engine_load *how);

#endif
