/* The problem of one sample alone through subgraphs on accelerators and single nodes on the hosts.
 *
 * Source: the placement paper (Tarnawski et al., NeurIPS 2020), section 4 and appendix A.  A block is a vertex of a
 * level: what must share a device.  A subgraph is a set of blocks on one accelerator: it starts when all values from
 * outside are in the host's memory, takes their transfers in, its blocks, and the transfers out of what is read
 * outside; all that it makes is there at its end.  On the host each node starts by itself as soon as its operands are
 * there: a unit is a node of a block that the host could run, or a block that it cannot run.
 *
 * In training graphs the forward and the backward nodes of a slot are two subgraphs.
 * Here CPUs are unlimited; a node takes the time of the fastest class of CPUs that may run its block, which is a bound
 * where a plan has the block on another one (judge.mixed). */
#ifndef PCC_PASSES_LATENCY_LATENCY_GRAPH_H
#define PCC_PASSES_LATENCY_LATENCY_GRAPH_H

#include "passes/problem/problem.h"

#define ON_HOST UINT32_MAX /* in place of a subgraph: the hosts */

/* Interchangeable accelerators. */
struct accelerators {
    uint32_t of, cls;     /* its number among the problem's kinds; class of the cluster */
    uint32_t count, at;   /* devices; their numbers are in latency_graph.dev[at ...] */
    int64_t memory;       /* bytes; LOAD_INF: ample */
    const int64_t *time;  /* [block] ps; COST_NEVER */
    const int64_t *cost;  /* [net] ps */
    const int64_t *moved; /* [net of nets] ps */
};

/* Judge of plans whose time latency_of() cannot tell. */
struct latency_judge {
    /* ps of a plan whose hosts' nodes are more at a time than there are hosts, or on several classes of hosts; NULL:
     * this evaluation knows all plans */
    int64_t (*value)(void *of, const uint32_t *sub);
    void *of;
    /* of every plan: one without slots, whose accelerators' sets are cut by levels */
    bool alone;
    /* some unit takes longer on host_dev of its block than `host` says, on the class that is its fastest */
    bool mixed;
};

struct latency_graph {
    const struct problem *c;
    const struct wdag *g; /* the level whose vertices are the blocks */
    struct arena *mem;
    uint32_t nkind;
    struct accelerators kind[PROBLEM_KINDS];
    uint32_t ndev, *dev; /* accelerators, kind by kind */
    uint8_t *kind_of;    /* [device] its kind; of hosts UINT8_MAX */
    uint32_t slots;      /* subgraphs that an accelerator may have, one after the other; >= 1 */
    uint32_t nunit;      /* units: in topological order, the units of a block one after the other */
    uint32_t *first;     /* [block] its first unit; [n] nunit */
    uint32_t *block;     /* [unit] */
    uint32_t *last;      /* [block] its last vertex of the level of nodes */
    /* In training graphs units are the vertices of the level of nodes, `first` means nothing; a block's two passes
     * are on one device, in two subgraphs of a slot: forward ones run by slot, then backward ones, the last slot
     * first. */
    bool training;
    uint8_t *back; /* [unit] training: 1: of the backward pass */
    int64_t *time
        [PROBLEM_KINDS]; /* [unit] ps on accelerators; not in training: a block's at its first */
    const struct wdag *nets; /* the level whose nets count: of blocks; training: of nodes */
    const uint32_t *unit_at; /* [vertex of nets] its unit */
    uint8_t *hosted;         /* [block] 1: the hosts may run it */
    int64_t *host;           /* [unit] ps there; COST_NEVER */
    struct csr succ, pred;   /* of units */
    struct csr
        net_of; /* block -> nets that some accelerator pays for and that have two blocks or more */
    bool together; /* some block of several nodes may run on the hosts, or be in several slots */
    /* [block] a host of the class that runs it in the least time, or where it was spread to; -1: none may */
    int32_t *host_dev;
    uint32_t *holder;  /* [block] on the hosts: the device whose memory it takes */
    uint32_t cpus;     /* hosts of the class that has fewest; 0: they are unlimited */
    uint32_t all_cpus; /* hosts of all classes */
    int64_t part;      /* ps that a subgraph takes besides its blocks and transfers */
    struct latency_judge judge;
};

/* The problem of the blocks of c->g; base: the level of single nodes below it.  Both and c must stay; lives in a.
 * O(kinds * V + E + pins). */
struct latency_graph *latency_graph_build(const struct problem *c, const struct wdag *base,
                                          uint32_t slots, struct arena *a);

/* Takes blocks to hosts of other classes than the fastest where that has no room for all of them; whether any was.
 * Plans are then told by judge.value, which must be there.  O(blocks * (kinds + classes)). */
bool latency_spread_hosts(struct latency_graph *p);

/* A plan: sub[block] is ON_HOST or device * slots + slot. */
struct latency_plan {
    int64_t value; /* ps with unlimited CPUs; LOAD_INF: none */
    uint32_t *sub;
};
struct latency_plan latency_no_plan(const struct latency_graph *p, struct arena *a);

/* Room to work out latencies in; the sizes of p.  Lives in a. */
struct latency_quotient;
struct latency_quotient *latency_quotient_new(const struct latency_graph *p, struct arena *a);
/* ps until all is done with sub[]; LOAD_INF: a block cannot run where it is, or subgraphs wait for each other in a
 * circle, as one that is not contiguous does.  Memory is not looked at.  O(units + edges + pins + subgraphs). */
int64_t latency_of(const struct latency_graph *p, const uint32_t *sub,
                   struct latency_quotient *quotient);
/* The same, or LOAD_INF if it is more than `most`, which takes less time to find out. */
int64_t latency_within(const struct latency_graph *p, const uint32_t *sub,
                       struct latency_quotient *quotient, int64_t most);
/* After latency_of, which gave `value`: the same as the plan runs, by the judge if there are more nodes of hosts at a
 * time than hosts. */
int64_t latency_judged(const struct latency_graph *p, const uint32_t *sub,
                       struct latency_quotient *quotient, int64_t value);
/* After latency_of: what latency_judged gives is no less.  O(1). */
int64_t latency_shared(const struct latency_graph *p, const struct latency_quotient *quotient);
/* After latency_of: ps of all subgraphs and of the units on the hosts together. */
int64_t latency_work(const struct latency_quotient *quotient);
/* Whether every accelerator has the memory.  O(V + shared items). */
bool latency_fits(const struct latency_graph *p, const uint32_t *sub,
                  struct latency_quotient *quotient);

#endif
