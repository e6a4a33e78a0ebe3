/* States of a model: the sets of layers that have all predecessors of their members. A model can be cut between
 * consecutive stages at each state. */
#ifndef PCC_PASSES_PROBLEM_STAGE_STATES_H
#define PCC_PASSES_PROBLEM_STAGE_STATES_H

#include "ir/base/bits.h"
#include "ir/base/csr.h"

#include <stdbool.h>

/* Layers, numbered in a topological order; times in ps, sizes in bytes. */
struct layers_of {
    uint32_t n;
    struct csr succ, pred;
    const int64_t *forward, *backward;     /* [layer] */
    const int64_t *activation, *parameter; /* [layer] */
};

/* States 1 .. n, each after its subsets; state 0 is the empty one. Sums are over the layers of a state. */
struct stage_states {
    uint32_t n;
    uint64_t *set; /* [(n + 1) * words] its layers, as bits */
    uint32_t words;
    int64_t *forward, *backward, *activation, *parameter; /* [n + 1] */
    int64_t *cut;        /* [n + 1] bytes that go from the state to the rest of the model */
    struct csr before;   /* state -> states within it, but for the empty one, ascending */
    uint64_t *is_before; /* [(n + 1) * ceil((n + 1) / 64)] the same as bits: row the larger state */
};

/* FIRST: the states that PipeDream's program finds, from the first source alone; other sources join as what something
 * reads.  ALL: all closed sets.  NARROW: along the order of layers,
 * those that the fewest values cross, as many as `most`. */
enum states_kind { STATES_ALL, STATES_FIRST, STATES_NARROW };

/* The states of g, most of them; false: there would be more.  published: `cut` counts a layer in full as
 * PipeDream's program does, if one of its readers may be outside (it looks at a state's end by pairs); else exactly
 * what readers outside need.  Lives in a.  O(states * layers * degree), and the pairs of states. */
bool stage_states_find(struct stage_states *s, const struct layers_of *g, enum states_kind kind,
                       bool published, uint32_t most, struct arena *a);

static inline bool state_is_before(const struct stage_states *s, uint32_t small, uint32_t large)
{
    uint32_t row = (s->n + 64) / 64;
    return small == 0 || bits_have(s->is_before + (size_t)large * row, small);
}

#endif
