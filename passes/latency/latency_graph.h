/* The problem of placing a model for the least latency: one sample passes alone through subgraphs on accelerators and
 * single nodes on the hosts.
 *
 * Source: the placement paper (Tarnawski et al., NeurIPS 2020), section 4 and appendix A.  A block is a vertex of a
 * level: nodes that must share a device.  A subgraph is a set of blocks on one accelerator.  It starts when all values
 * that it reads from outside are in the host's memory; then come the transfers in, the blocks, and the transfers out of
 * values that are read outside; all its results can be read from its end on.  On the host each node starts by itself as
 * soon as its operands can be read.  A unit is a single node of a block that hosts can run, or a whole block that hosts
 * cannot run.
 *
 * In training graphs the forward nodes and the backward nodes of a slot are two subgraphs.  CPUs are unlimited here.  A
 * node on a host takes the time of the fastest class of CPUs that may run its block: a lower bound if the plan has the
 * block on another class (judge.mixed). */
#ifndef PCC_PASSES_LATENCY_LATENCY_GRAPH_H
#define PCC_PASSES_LATENCY_LATENCY_GRAPH_H

#include "passes/problem/problem.h"

#define ON_HOST UINT32_MAX /* in place of the number of a subgraph: the block is on the hosts */

/* A kind of accelerators: devices that can be exchanged for each other in any plan. */
struct accelerators {
    uint32_t of, cls;     /* of: index in problem.kind; cls: class of the cluster */
    uint32_t count, at;   /* number of devices; they are latency_graph.dev[at .. at + count) */
    int64_t memory;       /* bytes of each device; LOAD_INF: no limit, or all blocks fit */
    const int64_t *time;  /* [block] ps; COST_NEVER: these devices cannot run the block */
    const int64_t *cost;  /* [net of the blocks' level] ps of a transfer; 0 for a state */
    const int64_t *moved; /* the same for the nets of latency_graph.nets */
};

/* The judge, which values plans whose latency latency_of() does not compute exactly. */
struct latency_judge {
    /* Returns the latency, ps, of the plan sub[] (struct latency_plan); `of` is passed on to it.  NULL: CPUs count as
     * unlimited and all hosts as the fastest class, so latency_of() is exact. */
    int64_t (*value)(void *of, const uint32_t *sub);
    void *of;
    /* value() computes the latency of every plan, since plans have no slots: latency_within() calls it itself */
    bool alone;
    /* the host of some block (host_dev) is slower for a unit of the block than latency_graph.host says, so that plans
     * with nodes on hosts need value() */
    bool mixed;
};

/* The problem: blocks, their units, accelerators and hosts. */
struct latency_graph {
    const struct problem *c;
    const struct wdag *g; /* the level whose vertices are the blocks */
    struct arena *mem;
    uint32_t nkind; /* kinds of accelerators */
    struct accelerators kind[PROBLEM_KINDS];
    uint32_t ndev, *dev; /* [ndev] numbers of the accelerators, kind by kind */
    uint8_t *kind_of;    /* [device] index in kind; UINT8_MAX: a host */
    /* the most subgraphs that an accelerator may run, one after the other; >= 1 */
    uint32_t slots;
    uint32_t nunit;  /* units, topologically sorted, with the units of a block side by side */
    uint32_t *first; /* [block] its first unit; first[number of blocks]: nunit */
    uint32_t *block; /* [unit] block that has the unit */
    uint32_t *last;  /* [block] its last vertex in the base level */
    /* The model has a backward pass.  Then units are the vertices of the base level, and `first` is not used.  The
     * forward and the backward nodes of a block are on one device, in the two subgraphs of a slot: forward subgraphs
     * run in the order of slots, then backward ones in the reverse order. */
    bool training;
    uint8_t *back; /* training: [unit] 1: the unit belongs to the backward pass; else NULL */
    /* [kind][unit] ps on accelerators; if not training, the first unit of a block has the block's time, others 0 */
    int64_t *time[PROBLEM_KINDS];
    /* the level with the nets that are paid: g; training: the base level */
    const struct wdag *nets;
    const uint32_t *unit_at; /* [vertex of nets] its (first) unit */
    uint8_t *hosted;         /* [block] 1: hosts may run it */
    int64_t *host;           /* [unit] ps on the fastest hosts; COST_NEVER: no host can run it */
    struct csr succ, pred;   /* unit -> units: successors, predecessors */
    /* block -> nets that cost some kind of accelerator something and have two blocks or more */
    struct csr net_of;
    /* blocks of several nodes may run on hosts, or there are several slots.  Then bounds of the search hold only for
     * plans that run all nodes of a block in one step (README.md) */
    bool together;
    /* [block] a host of the class that runs the block in the least time, or of the class that latency_spread_hosts()
     * chose; -1: no host can run it */
    int32_t *host_dev;
    uint32_t *holder; /* [block] device whose memory holds the block if it is on the hosts */
    /* number of hosts in that class of hosts that has the fewest; 0: there are no hosts */
    uint32_t cpus;
    uint32_t all_cpus; /* number of hosts of all classes; 0: CPUs count as unlimited */
    int64_t part; /* ps that each subgraph takes beside its blocks and transfers (--part-cost) */
    struct latency_judge judge;
};

/* Returns the latency problem whose blocks are the vertices of c->g, in a.  base: the base level under c->g; slots: as
 * in the struct.  c, c->g and base must stay.  O(kinds * V + E + pins). */
struct latency_graph *latency_graph_build(const struct problem *c, const struct wdag *base,
                                          uint32_t slots, struct arena *a);

/* Chooses the hosts of all blocks anew (host_dev), so that no class gets more bytes than its memory: each block goes to
 * the fastest class that still has memory for it.  Returns whether the class of a block changed; then judge.value must
 * be set, since latency_of() counts the fastest class.  O(blocks * (kinds + classes)). */
bool latency_spread_hosts(struct latency_graph *p);

/* A plan: sub[block] is ON_HOST or device * slots + slot. */
struct latency_plan {
    int64_t value; /* ps: latency; LOAD_INF: sub[] is no plan */
    uint32_t *sub;
};
/* Returns a plan with value LOAD_INF and memory for sub[], in a. */
struct latency_plan latency_no_plan(const struct latency_graph *p, struct arena *a);

/* Memory in which latencies of plans of p are computed. */
struct latency_quotient;
struct latency_quotient *latency_quotient_new(const struct latency_graph *p, struct arena *a);
/* Returns the latency of sub[] in ps, with unlimited CPUs.  LOAD_INF: a block is where it cannot run, or subgraphs wait
 * for each other in a circle, as happens if a subgraph is not contiguous.  Does not check memory.
 * O(units + edges + pins + subgraphs). */
int64_t latency_of(const struct latency_graph *p, const uint32_t *sub,
                   struct latency_quotient *quotient);
/* Like latency_of(), but returns LOAD_INF if the latency is more than `most` ps, and then takes less time.  If
 * judge.alone, both functions return judge.value's result, whatever `most` is. */
int64_t latency_within(const struct latency_graph *p, const uint32_t *sub,
                       struct latency_quotient *quotient, int64_t most);
/* Call after latency_of(), which returned `value` for sub[].  Returns the latency with the CPUs that there are: by
 * judge.value if p->judge.mixed or if more host nodes run at a time than a class has hosts, else `value`.  If
 * judge.alone, latency_of() has asked judge.value already, and `value` is its result. */
int64_t latency_judged(const struct latency_graph *p, const uint32_t *sub,
                       struct latency_quotient *quotient, int64_t value);
/* Returns how many results of latency_judged() came from judge.value. */
uint64_t latency_times_judged(const struct latency_quotient *quotient);
/* Call after latency_of().  Returns a lower bound, ps, on the result of latency_judged(): the work of the host nodes
 * divided by the number of CPUs.  O(1). */
int64_t latency_shared(const struct latency_graph *p, const struct latency_quotient *quotient);
/* Call after latency_of().  Returns the ps of all subgraphs and of all units on hosts, added up. */
int64_t latency_work(const struct latency_quotient *quotient);
/* Returns whether the blocks on each accelerator, and on the hosts of each class, fit the memory there.  O(V + shared
 * items). */
bool latency_fits(const struct latency_graph *p, const uint32_t *sub,
                  struct latency_quotient *quotient);

#endif
