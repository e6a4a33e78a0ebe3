/* The exact search over chains of ideals. */
#ifndef PCC_PASSES_CONTIGUOUS_IDEAL_SEARCH_H
#define PCC_PASSES_CONTIGUOUS_IDEAL_SEARCH_H

#include "passes/problem/problem.h"

/* ---- a search that can be stopped and go on -------------------------------------------------- */

struct search;

enum search_goal {
    SEARCH_BEST,   /* the best chain */
    SEARCH_REFUTE, /* whether there is any, as dp_refute asks */
    SEARCH_GUIDE   /* the same, and what each partial plan takes, for others */
};

/* What is sought: chains of ideals whose loads are at most `limit`, and how far the search may go. */
struct search_ask {
    enum search_goal goal;
    int64_t limit; /* ps; LOAD_INF: any */
    /* BEST: the search ends with the first plan whose loads are at most this; it counts smaller loads as equal to
     * it, so that the nearer it is to the limit the fewer partial plans must be kept (dp_maximal.c). Set it where no
     * plan takes less, or where such a plan is all that is wanted.  -1: none.  Ignored for detailed problems. */
    int64_t floor;
    /* REFUTE, GUIDE: weight in potential 0 of the vertices that the graph has lost: the devices must have room for
     * them */
    int64_t floating;
    /* GUIDE: a finished search with that goal, over this graph without some vertices, from the other end (reversed.h),
     * with the same limit, kinds and scales; what it knows prunes this search (dp_guide.c).  NULL: none.
     * vertex[vertex of its graph]: the vertex here. */
    const struct search *guide;
    const uint32_t *vertex;
    uint64_t max_states; /* ideals that the search may keep */
    size_t max_bytes;    /* bytes that the search may take in all */
};

enum search_end { SEARCH_GOING, SEARCH_DONE, SEARCH_FULL };

/* Makes a search; it lives in a, and so does all that it allocates later: give it an arena of its own.  O(V + E),
 * and O(V^2) for graphs of up to some thousand vertices, for the weights above each vertex. */
struct search *search_new(const struct problem *c, const struct search_ask *ask, struct arena *a);

/* Goes on for about `steps` steps.  GOING: there is more to do; DONE: there is nothing (more) to find; FULL: it
 * reached max_states or max_bytes and cannot go on. */
enum search_end search_go(struct search *s, uint64_t steps);

/* BEST: seeks only plans whose loads are at most `limit` from now on, if that is below its present limit. */
void search_tighten(struct search *s, int64_t limit);

/* Its present limit: below the value of the best plan found. */
int64_t search_limit(const struct search *s);
/* Whether a plan was found. */
bool search_found(const struct search *s);
/* Writes the best plan found with its value (BEST). */
void search_plan(const struct search *s, struct problem_plan *best);

uint64_t search_steps(const struct search *s);
uint64_t search_states(const struct search *s);
/* How far it is: the number of vertices of the ideal that was extended last. */
uint32_t search_passed(const struct search *s);

/* ---- in one go ------------------------------------------------------------------------------- */

struct dp_limits {
    uint64_t max_states; /* ideals kept; steps are bounded by 8 times this, */
    uint64_t max_steps;  /* and by this, if it is not 0 */
    struct clock *clock;
};

struct dp_found {
    bool better; /* dp_search: *best was improved */
    bool none;   /* dp_refute: proven that no chain of ideals has loads within the limit */
    uint64_t states, steps;
    bool complete;   /* nothing better than *best exists */
    const char *why; /* if not complete */
};

/* Runs s to its end or to the limits, */
struct dp_found search_run(struct search *s, const struct dp_limits *l);

/* Improves *best (value LOAD_INF: none yet) to the optimum; only strictly better plans are taken. */
struct dp_found dp_search(const struct problem *c, const struct dp_limits *l,
                          struct problem_plan *best, struct arena *scratch);

/* Whether no chain of ideals of c has loads of at most `limit` that leave room for the vertices that its graph has
 * lost, of weight `floating` in potential 0, on any devices in any order.  A plan with room for them has, with w the
 * weights of potential 0,
 *   sum over devices of (scaled load - w(S)) <= sum over devices of cap(limit) - w(V) - floating,
 * and each term of the first sum is >= 0: so the value of a partial plan is that sum so far, instead of its largest
 * load. */
struct dp_found dp_refute(const struct problem *c, int64_t limit, int64_t floating,
                          const struct dp_limits *l, struct arena *scratch);

#endif
