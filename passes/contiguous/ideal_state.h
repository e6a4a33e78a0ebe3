/* The state of the exact search: private to ideal_search.c, ideal_step.c, ideal_table.c, dp_guide.c and dp_maximal.c.
 *
 * The search extends partial plans.  A partial plan that is to be extended ends at the ideal I', the start; the next
 * device gets the set S, so that the longer plan ends at the ideal I' + S. */
#ifndef PCC_PASSES_CONTIGUOUS_IDEAL_STATE_H
#define PCC_PASSES_CONTIGUOUS_IDEAL_STATE_H

#include "ir/base/bits.h"
#include "passes/contiguous/ideal_search.h"

enum {
    LARGER = 32,     /* most entries of start.larger */
    SEARCH_SCAN = 32 /* vertices looked at in the time of a step */
};

/* An ideal at which partial plans end. */
struct ideal {
    uint64_t key;  /* hash of the ideal: the xor of search.zobrist[v] over its vertices v */
    uint32_t card; /* number of vertices of the ideal */
    /* bits of its vertices: words before number `word` are all ones, then come nword words, then zeros */
    uint32_t word, nword;
    uint32_t bits;  /* index of the nword words in ideals.pool */
    uint32_t head;  /* the first label (partial plan) that ends at the ideal */
    uint32_t next;  /* the next ideal with the same number of vertices; 0: none */
    uint32_t guide; /* the guide's ideal that has all vertices outside of this ideal; 0: none */
    int64_t cross;  /* weight in potential cross_pot of the nets that cross the ideal */
    int64_t weight[PROBLEM_POTS]; /* [potential] weight of the ideal */
};

/* A net: its pins in and outside of S, and what it costs the device that gets S. */
struct net {
    int64_t cost;     /* ps on the present kind of device */
    int64_t crossing; /* weight in potential cross_pot that counts while the net crosses I' + S */
    uint32_t stamp;   /* extended_ideal.stamp for which cost, crossing and outside hold */
    uint32_t outside; /* number of pins not in I' */
    uint32_t taken, skipped; /* taken: number of pins in S; skipped: number of skipped pins */
    uint32_t pins;           /* number of pins, the host left out */
    uint8_t host;            /* 1: the host has a pin, too */
    uint8_t back;            /* 1: the value is made in the backward pass */
    uint8_t out; /* 1: S has the vertex that produces the net's value; only for detailed problems */
};

/* A decision: the vertex at position `at` of walk.list was taken into S or skipped. */
struct choice {
    uint32_t at, end; /* end: walk.end before the decision */
    bool taken;
    int64_t reach[PROBLEM_POTS]; /* if skipped: stage.reach before the decision */
};

/* The ideals that partial plans end at. */
struct ideals {
    struct ideal *v;
    uint32_t n, cap; /* n: 1 + number of ideals, for v[0] is none */
    uint64_t *pool;  /* bits of all ideals */
    uint32_t npool, cappool;
    /* hash table of mask + 1 slots: number of an ideal, 0: the slot is free */
    uint32_t *slot, mask;
    uint32_t *bucket; /* [card] the first ideal with that number of vertices; 0: none */
};

/* The ideal I', whose partial plans are being extended. */
struct start {
    uint32_t ideal; /* 0: none yet */
    /* the nfrontier vertices outside I' whose predecessors are all in I' */
    uint32_t *frontier, nfrontier;
    /* the nlarger ideals that consist of I' and one more vertex and may replace I' as the start (dp_maximal.c) */
    uint32_t larger[LARGER], nlarger;
    /* position in walk.list of the vertex that maximal_could_be_larger() found last: tried first */
    uint32_t tried;
};

/* The set I' + S, and its sums. */
struct extended_ideal {
    uint64_t key;            /* hash of the set, as ideal.key */
    uint32_t card;           /* number of vertices of the set */
    uint32_t stamp;          /* number of the present enumeration */
    uint64_t *bits;          /* [vertex] a bit each: 1 if the vertex is in the set */
    uint32_t *missing;       /* [vertex] number of predecessors that are not in the set */
    uint32_t *missing_stamp; /* [vertex] `stamp` for which missing[vertex] holds */
    struct net *net;         /* [net] what S does to each net */
    uint32_t *need;          /* [shared item] number of vertices of S that need the item */
    /* weight, cross: as in struct ideal, but of this set */
    int64_t weight[PROBLEM_POTS], cross;
};

/* The device that gets S: the device's kind, the partial plans to be extended, and the cost of S on the device. */
struct stage {
    uint32_t k; /* number of the kind in problem.kind */
    const struct problem_kind *kind;
    const struct problem_class *cls; /* class of the kind */
    struct live_list live;           /* the labels that end at I' and can be extended */
    /* [potential] upper limit of the weight that I' + S can still reach: the weight of all vertices but skipped ones
     * and the descendants of skipped ones */
    int64_t reach[PROBLEM_POTS];
    int64_t compute; /* ps: time of S */
    int64_t cut;     /* ps: transfers that the device pays if S is all it gets */
    /* ps: the part of `cut` that the device pays whichever vertices are added to S */
    int64_t fixed;
    int64_t bytes;              /* bytes of S, while `weighs` */
    struct problem_parts parts; /* load of S in parts; kept only for detailed problems */
    uint32_t copies;            /* the most devices that the stage may have */
    /* whether `bytes` is kept up to date: needed for memory limits and for copies */
    bool weighs;
    bool counts; /* whether what S needs at one time may be too much for the device */
    /* ps: the time of S and its transfers may add up to this: the limit of a load, times copies */
    int64_t max_load;
    /* REFUTE, GUIDE: the most by which the device's scaled load may exceed the weight of S */
    int64_t spare;
};

/* The set whose need at one time search_fits() asks for; search_fits() makes it equal to S first. */
struct at_once {
    struct set_memory *set; /* NULL: the problem has no values */
    uint32_t *held;         /* the vertices of `set`, in the order in which they joined it */
    uint32_t *taken;        /* the vertices of S, in the order in which they joined it */
    uint32_t nheld, ntaken;
    uint32_t same; /* the first `same` vertices of both lists are the same */
};

/* The enumeration of the sets S: a list of vertices, of which one after the other is taken into S or skipped. */
struct walk {
    uint32_t *list, end;   /* the vertices, end of them, whose predecessors are all in I' + S */
    uint32_t at;           /* position in `list` of the vertex to decide next */
    struct choice *choice; /* the decisions so far */
    uint32_t nchoice, capchoice;
};

/* A search: its tables, what it has found, and where it is. */
struct search {
    const struct problem *c;
    const struct wdag *g;
    struct search_ask ask;
    struct arena *a;
    uint32_t n, nword; /* number of vertices; number of words for a bit of each */
    uint64_t *zobrist; /* [vertex] a random number, for ideal.key */
    /* [potential][vertex] a lower bound on the weight of the vertex and all its descendants */
    int64_t *above[PROBLEM_POTS];
    struct ideals ideals;
    struct labels labels;
    struct problem_caps caps; /* what devices can hold under the present limit */
    uint32_t last;            /* the label of the best whole plan; 0: none */
    /* REFUTE, GUIDE: values of labels are sums of excesses (dp_refute), not largest loads */
    bool refute;
    int64_t floor;       /* ps: search_ask.floor; -1: none */
    bool enough;         /* a plan was found that is good enough to end the search */
    uint64_t counts;     /* the number of devices of each kind, packed as in label.used */
    uint64_t *rest;      /* scratch: bits of the ideal that is looked up in the guide */
    enum search_end end; /* how the search stands */
    /* number of vertices of the ideals that are being extended; the start is one of them */
    uint32_t bucket_at;
    bool started; /* `now` and from.frontier have been made for the start */
    bool inside;  /* an enumeration of sets S is under way */
    struct start from;
    struct extended_ideal now;
    struct at_once at_once;
    struct stage stage;
    struct walk walk;
    uint64_t steps, pause; /* steps: number of steps done; pause: the number at which to pause */
    size_t used_before;    /* bytes of the arena that were in use before the search */
};

/* Returns whether v is in I' + S. */
static inline bool has(const struct search *s, uint32_t v)
{
    return bits_have(s->now.bits, v);
}

/* Returns whether ideal d has vertex v. */
static inline bool ideal_has(const struct search *s, const struct ideal *d, uint32_t v)
{
    /* the word that has the bit of v; only nword words from number d->word on are stored */
    uint32_t w = v >> 6;
    return w < d->word ||
           (w < d->word + d->nword && (s->ideals.pool[d->bits + w - d->word] >> (v & 63) & 1));
}

/* Returns the excess of the device that holds S if its load is `load` ps: the scaled load less the weight of S, in
 * potential 0. */
static inline int64_t search_excess(const struct search *s, int64_t load)
{
    return problem_scaled(load, s->c->pot[0].scale[s->stage.k]) -
           (s->now.weight[0] - s->ideals.v[s->from.ideal].weight[0]);
}

/* Returns whether the device of S has room for the lasting bytes of S and for what S needs at one time.  If sums alone
 * do not tell, makes s->at_once.set equal to S and asks it; the changes count as steps. */
bool search_fits(struct search *s);
/* Returns the number, in s->ideals, of the ideal with these bits, `card` vertices and hash `key`; 0: s has no such
 * ideal. */
uint32_t search_find(const struct search *s, uint64_t key, uint32_t card, const uint64_t *bits);
/* Returns the number of the ideal I' + S in s->ideals, which gets it if it is new. */
uint32_t search_intern(struct search *s);

/* Sets the field `guide` of ideal id, which is I' + S: the number of the guide's ideal that has all vertices of the
 * guide's graph outside I' + S.  O(V of the guide). */
void guide_link(struct search *s, uint32_t id);
/* Returns a lower bound on the sum of the excesses of the devices not counted in `used`, if they complete a plan that
 * ends at ideal id; LOAD_INF: no plan can be completed.  0 without a guide. */
int64_t guide_excess(const struct search *s, uint32_t id, uint64_t used);

/* Returns whether some vertex can move from a later device to the device of S without making any plan worse.  The
 * looks at vertices count as steps. */
bool maximal_could_be_larger(struct search *s);
/* Fills s->from.larger with known ideals that have one vertex more than the start, and behind which the rest of a plan
 * is no worse than behind the start. */
void maximal_find_larger(struct search *s);
/* Drops the live labels for which some ideal of s->from.larger has a label that is as good. */
void maximal_drop(struct search *s);

#endif
