/* Finds the states of a model: sets of layers that have all predecessors of their members.  At each state a model can
 * be cut between two stages. */
#ifndef PCC_PASSES_PROBLEM_STAGE_STATES_H
#define PCC_PASSES_PROBLEM_STAGE_STATES_H

#include "ir/base/bits.h"
#include "ir/base/csr.h"

#include <stdbool.h>

/* Layers, numbered in a topological order; times in ps, sizes in bytes. */
struct layers_of {
    uint32_t n; /* number of layers */
    /* edges: from a layer to the layers that read its result (succ), and to the layers whose results it reads (pred) */
    struct csr succ, pred;
    const int64_t *forward, *backward; /* [layer] ps of the layer in each pass */
    /* activation: [layer] bytes of the layer's result; parameter: [layer] bytes of its parameters */
    const int64_t *activation, *parameter;
    /* [layer] ps of forward and backward that each device takes whole, however small its slice of a micro-batch is;
     * NULL: 0 everywhere */
    const int64_t *forward_overhead, *backward_overhead;
};

/* States 1 .. n, each behind those that are subsets of it; state 0 is the empty one.  Times and bytes are sums over the
 * layers of a state. */
struct stage_states {
    uint32_t n;
    uint64_t *set;  /* [(n + 1) * words] bits: the layers of each state */
    uint32_t words; /* 64-bit words of a set of layers */
    int64_t *forward, *backward, *activation, *parameter; /* [n + 1] sums, as in struct layers_of */
    int64_t *forward_overhead, *backward_overhead;        /* [n + 1] sums, as in struct layers_of */
    int64_t *cut; /* [n + 1] bytes that go from the state to the rest of the model */
    /* state -> the states from which steps lead to it (subsets of it), without state 0, ascending */
    struct csr before;
    /* [(n + 1) * ceil((n + 1) / 64)] `before` as bits: row j has bit i if state i is before state j */
    uint64_t *is_before;
};

/* Which states are looked for.  ALL: all sets of layers with all their predecessors.  FIRST: the states that
 * PipeDream's program finds: the program begins with the first source alone, and another source joins together with a
 * layer that reads it.  NARROW: the first layers of the order, up to places that the fewest values cross. */
enum states_kind { STATES_ALL, STATES_FIRST, STATES_NARROW };

/* Fills *s with the states of g.  Returns false and leaves *s empty if there are more than about `most`; but NARROW
 * takes no more than that.  published: `cut` counts the layers that PipeDream's program counts (the open ones,
 * stage_states.c); else the layers that a layer outside the state reads.  Lives in a.  O(states * layers * degree), and
 * the pairs of states. */
bool stage_states_find(struct stage_states *s, const struct layers_of *g, enum states_kind kind,
                       bool published, uint32_t most, struct arena *a);

/* Whether steps lead from state `small` to state `large`, so that the layers of `small` are among those of `large`. */
static inline bool state_is_before(const struct stage_states *s, uint32_t small, uint32_t large)
{
    uint32_t row = (s->n + 64) / 64; /* words for n + 1 bits */
    return small == 0 || bits_have(s->is_before + (size_t)large * row, small);
}

#endif
