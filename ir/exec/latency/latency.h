/* One sample alone, by subgraphs (objective `latency`): a generator of tasks for the event core, and what planners ask.
 *
 * Source: the placement paper, section 4, appendices A and A.1.  A subgraph of an accelerator starts when all that it
 * reads is in the host's memory; then it takes the transfers in (each value once), its nodes, the transfers out (each
 * value once, if anything outside reads it), and gives all of its results at its end.  Nothing but weights stays on an
 * accelerator between two of its subgraphs: a value that goes from one to another goes out and in.  A node of a host
 * starts when its operands are there, and transfers nothing.  A transfer takes the link of the device's class
 * (cluster_transfer, never an inner link); the model's inputs and outputs count unless they are free (--io).
 * model.part_cost counts once for each subgraph of an accelerator, as computing.
 *
 * With slots, the subgraphs of an accelerator follow each other by slot, forward ones first, backward ones by slot from
 * the last to the first.  Without, model.latency.pieces says whether those of one accelerator may run at once
 * (PIECES_APART) or take turns as they become ready.
 *
 * model.latency.cpus: hosts of a class take, one node each at a time, whichever is ready and has the longest way to the
 * end (equal ones by number), whatever CPU the plan names; or (CPUS_UNBOUNDED) there are as many as need be. */
#ifndef PCC_IR_EXEC_LATENCY_H
#define PCC_IR_EXEC_LATENCY_H

#include "ir/exec/events.h"
#include "ir/plan/subgraphs.h"

enum latency_kind { LATENCY_SUBGRAPH, LATENCY_HOST };

/* ps of a subgraph: transfers in; computing, part_cost included; transfers out. */
struct subgraph_time {
    int64_t in, compute, out;
};

/* Task i is subgraph i of k (kind: enum latency_kind; number: i; from and to: its device), time[i] what its time is
 * made of.  Lanes 0 .. ndev - 1 are the accelerators, then one of each class of hosts.  Numbered; lives in a.
 * O(nodes + pins + tasks log tasks). */
struct task_graph latency_tasks(const struct scene *s, const struct subgraphs *k,
                                struct subgraph_time *time, struct arena *a);

/* The run of a plan by subgraphs. */
struct latency_run {
    struct subgraphs k;
    struct subgraph_time *time; /* [subgraph] */
    struct task_graph g;
    /* t.status RUN_DEADLOCK: subgraphs wait for each other, t.cycle names them */
    struct timeline t;
};

/* Runs the subgraphs of a plan.  Lives in a, beside k. */
struct latency_run latency_run_subgraphs(const struct scene *s, const struct subgraphs *k,
                                         struct arena *a);

/* The judge's latency of dev[], slot[] (of struct plan; slot NULL: none) for planners, ps; placed nodes are where they
 * can run.  INT64_MAX: there is none, since subgraphs (or the slots' order) wait for each other.  Memory, pins and
 * colocation are not looked at: plan_evaluate() does.  Takes what it needs in a and gives it back. */
int64_t latency_value(const struct scene *s, const int32_t *dev, const uint32_t *slot,
                      struct arena *a);

#endif
