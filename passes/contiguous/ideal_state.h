/* The state of the exact search: private to ideal_search.c, ideal_step.c, ideal_table.c, dp_guide.c and
 * dp_maximal.c.
 * The search extends partial plans.  One ends at the ideal I', the start of the extension; the next device gets the
 * set S, so that the plan then ends at the ideal I' + S. */
#ifndef PCC_PASSES_CONTIGUOUS_IDEAL_STATE_H
#define PCC_PASSES_CONTIGUOUS_IDEAL_STATE_H

#include "ir/base/bits.h"
#include "passes/contiguous/ideal_search.h"

enum { LARGER = 32, SEARCH_SCAN = 32 /* vertices looked at in the time of a step */ };

struct ideal {
    uint64_t key;
    uint32_t card; /* number of vertices of the ideal */
    /* its bits: words before `word` are all ones, then nword words, then zeros */
    uint32_t word, nword;
    uint32_t bits;  /* where those nword words begin in ideals.pool */
    uint32_t head;  /* the list of labels (partial plans) that end at it */
    uint32_t next;  /* the next ideal of as many vertices; 0: none */
    uint32_t guide; /* the guide's ideal with all vertices outside of this ideal; 0: none */
    int64_t cross;  /* weight of the nets that cross the ideal */
    int64_t weight[PROBLEM_POTS];
};

/* What the current S does to a net. */
struct net {
    /* cost on the current kind of device; weight in cross_pot if the net crosses I' + S */
    int64_t cost, crossing;
    /* reached.stamp when these numbers were last worked out: they are stale if it differs */
    uint32_t stamp;
    uint32_t outside;        /* number of pins not in I' */
    uint32_t taken, skipped; /* how many of these are in S; how many are skipped */
    uint32_t pins;
    uint8_t host;
    uint8_t back; /* of the backward pass */
    uint8_t out;  /* S has the vertex that produces the net's value */
};

/* A decision: vertex list[at] was taken or skipped. */
struct choice {
    uint32_t at, end;
    bool taken;
    int64_t reach[PROBLEM_POTS]; /* skipped: the search's reach before the vertex was skipped */
};

/* The ideals that partial plans end at. */
struct ideals {
    struct ideal *v;
    uint32_t n, cap;
    uint64_t *pool;
    uint32_t npool, cappool;
    uint32_t *slot, mask; /* ideal by key, 0: free */
    uint32_t *bucket;     /* [card] the first ideal of so many vertices */
};

/* The start of the extensions under way. */
struct start {
    uint32_t ideal;
    uint32_t *frontier, nfrontier; /* vertices that can come next */
    /* ideals of one vertex more that may serve as a start instead (dp_maximal.c) */
    uint32_t larger[LARGER], nlarger;
    /* position in the list of the vertex that maximal_could_be_larger found last: tried first */
    uint32_t tried;
};

/* The set I' + S, and its sums. */
struct extended_ideal {
    uint64_t key;
    uint32_t card, stamp;
    uint64_t *bits;
    uint32_t *missing, *missing_stamp; /* [vertex] predecessors not in it */
    struct net *net;
    uint32_t *need; /* [shared item] how many vertices of S need it */
    int64_t weight[PROBLEM_POTS], cross;
};

/* The device that gets S: the device's kind, the partial plans to be extended, and the cost of S on the device. */
struct stage {
    uint32_t k;
    const struct problem_kind *kind;
    const struct problem_class *cls;
    struct live_list live;
    int64_t reach[PROBLEM_POTS]; /* upper limit of the weight of I' + S, without skipped vertices */
    int64_t compute, fixed, cut, bytes;
    struct problem_parts parts; /* load of S in parts; kept only for detailed problems */
    uint32_t copies;            /* the most devices that the stage may have */
    /* whether `bytes` is kept up to date: needed for memory limits and for copies */
    bool weighs;
    /* S's time and transfers may add up to this: the limit of a load, times copies */
    int64_t room;
    int64_t spare; /* REFUTE, GUIDE: the most that the device's load may exceed the weight of S */
};

/* The enumeration of the sets S: vertices that can join S, their end, the position to decide next. */
struct walk {
    uint32_t *list, end, at;
    struct choice *choice;
    uint32_t nchoice, capchoice;
};

struct search {
    const struct problem *c;
    const struct wdag *g;
    struct search_ask ask;
    struct arena *a;
    uint32_t n, nword;
    uint64_t *zobrist; /* [vertex] */
    /* [potential][vertex] a lower bound on the weight of the vertex and all its descendants */
    int64_t *above[PROBLEM_POTS];
    struct ideals ideals;
    struct labels labels;
    struct problem_caps caps;
    uint32_t last; /* the label of the best whole plan; 0: none */
    /* REFUTE, GUIDE: values of labels are sums of excesses (dp_refute), not largest loads */
    bool refute;
    int64_t floor;   /* search_ask.floor; -1: none */
    bool enough;     /* a plan was found that ends the search */
    uint64_t counts; /* the number of devices of each kind, packed as in label.used */
    uint64_t *rest;  /* scratch: bits of the ideal that is looked up in the guide */
    enum search_end end_of;
    /* position of the search */
    /* number of vertices of the ideals that are being extended; the start is one of them */
    uint32_t bucket_at;
    bool started; /* `now` is the state of the start */
    bool inside;  /* an enumeration of sets S has begun */
    struct start from;
    struct extended_ideal now;
    struct stage stage;
    struct walk walk;
    uint64_t steps, pause; /* steps done; the number of steps at which to pause */
    size_t used_before;    /* bytes of the arena that were in use before the search */
};

/* Whether v is in I' + S. */
static inline bool has(const struct search *s, uint32_t v)
{
    return bits_have(s->now.bits, v);
}

/* The excess of a device that holds S with this load: its scaled load less the weight of S, in potential 0. */
static inline int64_t search_excess(const struct search *s, int64_t load)
{
    return problem_scaled(load, s->c->pot[0].scale[s->stage.k]) -
           (s->now.weight[0] - s->ideals.v[s->from.ideal].weight[0]);
}

/* Looks up the ideal with these bits, `card` vertices and hash `key` in s; 0: it is not there. */
uint32_t search_find(const struct search *s, uint64_t key, uint32_t card, const uint64_t *bits);
/* The ideal I' + S; added if it is new. */
uint32_t search_intern(struct search *s);

/* Sets the guide of ideal id, which is I' + S: the ideal of the guide's graph that holds all its vertices outside I'
 * + S.  O(V of the guide). */
void guide_link(struct search *s, uint32_t id);
/* A lower bound on the excess, summed over the devices that `used` leaves, of any way to complete a plan from ideal
 * id; LOAD_INF: there is no way.  0 without a guide. */
int64_t guide_excess(const struct search *s, uint32_t id, uint64_t used);

/* Whether some vertex can move to the device of S from a later one such that no plan gets worse. */
bool maximal_could_be_larger(struct search *s);
/* Fills s->from.larger: known ideals of one vertex more than the start from which the rest of a plan is as good. */
void maximal_find_larger(struct search *s);
/* Drops live labels for which some ideal of s->from.larger has an equally good label. */
void maximal_drop(struct search *s);

#endif
