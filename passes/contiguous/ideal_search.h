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

/* What is sought: chains whose loads are at most `limit`. */
struct search_ask {
    enum search_goal goal;
    int64_t limit; /* ps; LOAD_INF: any */
    /* BEST: loads up to this are equally good, because no plan takes less, or a plan that takes no more
     * is all that is wanted: the search ends with it.  The nearer to the limit the fewer partial plans
     * count (dp_maximal.c).  -1: none.  Detailed problems have none. */
    int64_t floor;
    /* REFUTE, GUIDE: weight of vertices that are not in the graph, in potential 0 */
    int64_t floating;
    /* BEST, GUIDE: a search for GUIDE that came to its end, over a part of the graph and from the other
     * end (reversed.h), for a limit not below this one, with equal kinds and scales; NULL: none.
     * vertex[vertex of its graph]: the vertex here. */
    const struct search *guide;
    const uint32_t *vertex;
    uint64_t max_states; /* ideals that it may keep */
    size_t max_bytes;    /* and what they may take */
};

enum search_end { SEARCH_GOING, SEARCH_DONE, SEARCH_FULL };

/* Lives in a, which is best an arena of its own; so does all that is allocated later.  O(V + E) and, for the
 * weights above each vertex, O(V^2) for graphs of some thousand vertices. */
struct search *search_new(const struct problem *c, const struct search_ask *ask, struct arena *a);

/* Goes on for about so many steps.  DONE: there is nothing (more) to find; FULL: it has reached the limits of
 * search_ask and is of no more use. */
enum search_end search_go(struct search *s, uint64_t steps);

/* BEST: asks for loads of at most `limit` from now on, if that is less. */
void search_tighten(struct search *s, int64_t limit);

/* What it asks for by now: less than the best plan found takes. */
int64_t search_limit(const struct search *s);
/* Whether a plan was found. */
bool search_found(const struct search *s);
/* Writes the best plan found with its value (BEST). */
void search_plan(const struct search *s, struct problem_plan *best);

uint64_t search_steps(const struct search *s);
uint64_t search_states(const struct search *s);
/* Vertices of the ideal that was extended last. */
uint32_t search_passed(const struct search *s);

/* ---- in one go ------------------------------------------------------------------------------- */

struct dp_search {
    uint64_t max_states; /* ideals kept; steps are bounded by 8 times this, */
    uint64_t max_steps;  /* and by this, if it is not 0 */
    struct clock *clock;
    /* out */
    uint64_t states, steps;
    bool complete;   /* nothing better than *best exists */
    const char *why; /* if not complete */
};

/* Improves *best (value LOAD_INF: none yet) to the optimum; only strictly better plans are taken.
 * True if it improved. */
bool dp_search(const struct problem *c, struct dp_search *s, struct problem_plan *best,
               struct arena *scratch);

/* Whether no chain of c exists whose loads are at most `limit` and leave room for vertices that
 * are not in its graph, of weight `floating` in potential 0, on any devices in any order.  False
 * also if the search did not end.  What bounds a plan are sums: with w the weights of potential
 * 0,
 *   sum over devices of (scaled load - w(S)) <= sum over devices of cap(limit) - w(V) - floating,
 * and each term is >= 0, so that partial plans are judged by this sum instead of their largest
 * load. */
bool dp_refute(const struct problem *c, int64_t limit, int64_t floating, struct dp_search *s,
               struct arena *scratch);

#endif
