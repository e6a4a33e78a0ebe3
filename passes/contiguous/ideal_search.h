/* The exact search over chains of ideals (ideal_search.c). */
#ifndef PCC_PASSES_CONTIGUOUS_IDEAL_SEARCH_H
#define PCC_PASSES_CONTIGUOUS_IDEAL_SEARCH_H

#include "passes/problem/problem.h"

/* ---- a search that can be stopped and go on -------------------------------------------------- */

struct search;

enum search_goal {
    SEARCH_BEST,   /* find the best chain */
    SEARCH_REFUTE, /* find out whether there is a chain as dp_refute() asks for */
    /* find out the same as SEARCH_REFUTE does, but go on to the end, to become the guide of another search */
    SEARCH_GUIDE
};

/* What a search looks for, chains of ideals whose loads are at most `limit`, and how far it may go. */
struct search_ask {
    enum search_goal goal;
    int64_t limit; /* ps; LOAD_INF: no limit */
    /* SEARCH_BEST: ps; the search ends with the first plan whose loads are at most the floor.  It counts smaller
     * loads as equal to the floor: the nearer the floor is to the limit, the fewer partial plans it must keep
     * (dp_maximal.c).  Give a value that no plan is below, or a value that is good enough.  -1: no floor.  Ignored
     * for detailed problems, and where vertices must not share a device. */
    int64_t floor;
    /* SEARCH_REFUTE, SEARCH_GUIDE: weight in potential 0 of the vertices that the graph has lost
     * (smaller_graph_bound.h); the devices must be able to hold this weight besides the graph */
    int64_t floating;
    /* SEARCH_GUIDE: another search with this goal that has come to its end; its graph is this one without some
     * vertices and with all edges reversed (reversed.h), its limit, kinds and scales are those of this search.  Its
     * labels prune this search (dp_guide.c).  NULL: no guide. */
    const struct search *guide;
    const uint32_t *vertex; /* [vertex of the guide's graph] the same vertex in this graph */
    uint64_t max_states;    /* number of ideals that the search may keep */
    size_t max_bytes;       /* bytes that the search may take in all */
};

enum search_end {
    SEARCH_GOING, /* the search can go on */
    SEARCH_DONE,  /* the search has come to its end: there is nothing more to find */
    SEARCH_FULL   /* it reached a limit, which search_why_full() names, and cannot go on */
};

/* Makes a search of c.  It lives in a, and so does all that it allocates later: give it an arena of its own.  O(V +
 * E), and O(V^2) for graphs of up to some thousand vertices, to weigh the descendants of each vertex. */
struct search *search_new(const struct problem *c, const struct search_ask *ask, struct arena *a);

/* Goes on for about `steps` steps and returns how the search then stands. */
enum search_end search_go(struct search *s, uint64_t steps);
/* Returns which limit a search has reached that stands at SEARCH_FULL: of ideals, of partial plans that end with one
 * ideal, or of bytes. */
const char *search_why_full(const struct search *s);

/* For SEARCH_BEST: lowers the limit to `limit` ps, if that is below the present one: only plans within the new limit
 * are sought from now on. */
void search_tighten(struct search *s, int64_t limit);

/* Returns the present limit, ps.  A found plan whose value is above the floor lowers the limit to its value - 1. */
int64_t search_limit(const struct search *s);
/* Returns whether a plan within the limits was found. */
bool search_found(const struct search *s);
/* For SEARCH_BEST, after a plan was found: writes the best plan found, with its value, to *best. */
void search_plan(const struct search *s, struct problem_plan *best);

/* Return the number of steps done, and the number of ideals kept. */
uint64_t search_steps(const struct search *s);
uint64_t search_states(const struct search *s);
/* Returns how far the search is: the number of vertices of the ideal whose partial plans it extends at present. */
uint32_t search_passed(const struct search *s);

/* ---- in one go ------------------------------------------------------------------------------- */

/* How far a search in one go may get. */
struct dp_limits {
    /* number of ideals that are kept; also limits the search to 8 steps for each of them */
    uint64_t max_states;
    uint64_t max_steps;  /* another limit of the steps; 0: none */
    struct clock *clock; /* NULL: no time limit */
};

/* The result of a search in one go. */
struct dp_found {
    bool better; /* dp_search: *best was improved */
    bool none;   /* dp_refute: proven that no chain of ideals has loads within the limit */
    uint64_t states, steps; /* number of ideals kept; number of steps done */
    /* the search came to its end; dp_search: nothing better than *best exists */
    bool complete;
    const char *why; /* if not complete: the reason */
};

/* Runs s to its end or to the limits.  `better` and `none` of the result stay false. */
struct dp_found search_run(struct search *s, const struct dp_limits *l);

/* Searches for the best plan of c and writes it to *best (value LOAD_INF: no plan is known yet) if it is strictly
 * better. */
struct dp_found dp_search(const struct problem *c, const struct dp_limits *l,
                          struct problem_plan *best, struct arena *scratch);

/* Searches for a chain of ideals of c whose loads are at most `limit` ps and leave room for the vertices that the
 * graph has lost: weight `floating` in potential 0, on any devices in any order.  The field `none` of the result tells
 * that it is proven that there is no such chain.  Let w be the weights of potential 0, S the set that a device holds,
 * and cap(limit) the most weight that the device can hold.  A chain with that room has
 *   sum over devices of (scaled load - w(S)) <= sum over devices of cap(limit) - w(V) - floating.
 * Each term of the first sum is >= 0.  So the value of a partial plan is that sum so far, instead of its largest
 * load. */
struct dp_found dp_refute(const struct problem *c, int64_t limit, int64_t floating,
                          const struct dp_limits *l, struct arena *scratch);

#endif
