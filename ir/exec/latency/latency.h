/* The latency of a plan: one sample passes through it alone, by subgraphs (objective `latency`).  Makes the tasks for
 * the event core and runs them.
 *
 * Source: the placement paper, section 4, appendices A and A.1.  A subgraph of an accelerator starts when all values
 * that it reads are in the host's memory.  First it transfers these in, each once; then it runs its nodes; then it
 * transfers out, each once, its results that are read outside it, and all results are there at its end.  Only weights
 * stay on an accelerator between two of its subgraphs: a value that goes from one to the other goes out and in again.
 * A node of a host starts when its operands are there, and transfers nothing.  A transfer goes over the link of the
 * device's class (cluster_transfer(), never an inner link); the model's inputs and outputs count unless they are free
 * (--io).  model.part_cost counts once for each subgraph of an accelerator, as computing.
 *
 * In a plan with slots, the subgraphs of an accelerator run in the order of their slots: first the forward ones, then
 * the backward ones from the last slot to the first.  Without slots model.latency.pieces says whether the subgraphs
 * of an accelerator run one at a time, as they become ready (PIECES_EXCLUSIVE), or may run at once (PIECES_APART).
 *
 * model.latency.cpus: with CPUS_LIST each CPU runs one node at a time; any free CPU of the class takes the ready node
 * with the longest path to the end (ties by number), even if the plan names another CPU.  With CPUS_UNBOUNDED there
 * are always enough CPUs. */
#ifndef PCC_IR_EXEC_LATENCY_H
#define PCC_IR_EXEC_LATENCY_H

#include "ir/exec/events.h"
#include "ir/plan/subgraphs.h"

/* SUBGRAPH: a subgraph of an accelerator.  HOST: a node of a host. */
enum latency_kind { LATENCY_SUBGRAPH, LATENCY_HOST };

/* Times of a subgraph, ps: transfers in; computing, with part_cost; transfers out. */
struct subgraph_time {
    int64_t in, compute, out;
};

/* A run of the subgraphs of a plan. */
struct latency_run {
    struct subgraphs k;
    struct subgraph_time *time; /* [subgraph] times of the subgraph */
    struct task_graph g;
    /* RUN_DEADLOCK: the subgraphs in t.cycle wait for each other */
    struct timeline t;
};

/* Runs the subgraphs k of a plan on the event core.  The result lives in a and shares the arrays of k. */
struct latency_run latency_run_subgraphs(const struct scene *s, const struct subgraphs *k,
                                         struct arena *a);

/* For planners: returns the latency, ps, of the plan dev[], slot[] (of struct plan; slot NULL: no slots), as the
 * judge computes it; placed nodes must be on devices that can run them.  INT64_MAX: subgraphs, or the order of the
 * slots, wait for each other.  Unlike plan_evaluate(), does not check memory, pins and colocation.  Memory is taken
 * from a and freed. */
int64_t latency_value(const struct scene *s, const int32_t *dev, const uint32_t *slot,
                      struct arena *a);

#endif
