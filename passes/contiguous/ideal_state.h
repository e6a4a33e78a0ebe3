/* The inside of the exact search: shared by ideal_search.c, ideal_step.c, dp_guide.c and dp_maximal.c
 * only. */
#ifndef PCC_PASSES_CONTIGUOUS_IDEAL_STATE_H
#define PCC_PASSES_CONTIGUOUS_IDEAL_STATE_H

#include "passes/contiguous/ideal_search.h"

enum { LARGER = 32, SEARCH_SCAN = 32 /* vertices looked at in the time of a step */ };

struct ideal {
    uint64_t key;
    uint32_t card;        /* vertices in it */
    uint32_t word, nword; /* words [word, word + nword) of its bits are at bits */
    uint32_t bits;        /* in search.pool */
    uint32_t head;        /* labels */
    uint32_t next;        /* of the same card; 0: none */
    uint32_t guide;       /* the guide's ideal of all that this one has not; 0: none */
    int64_t cross;        /* weight of the nets that cross it */
    int64_t weight[PROBLEM_POTS];
};

/* What the current S does to a net. */
struct net {
    int64_t cost, crossing; /* on the current kind; the weight of a net that crosses */
    uint32_t stamp;         /* start and kind it was last looked at for */
    uint32_t outside;       /* pins not in I' */
    uint32_t taken, skipped;
    uint32_t pins;
    uint8_t host;
    uint8_t back; /* of the backward pass */
    uint8_t out;  /* S holds what makes it */
};

/* A decision: vertex list[at] was taken or skipped. */
struct choice {
    uint32_t at, end;
    bool taken;
    int64_t reach[PROBLEM_POTS]; /* skipped: before that */
};

struct search {
    const struct problem *c;
    const struct wdag *g;
    struct search_ask ask;
    struct arena *a;
    uint32_t n, nword;
    uint64_t *zobrist;            /* [vertex] */
    int64_t *above[PROBLEM_POTS]; /* [vertex] at least what it and all above it weigh */
    /* ideals */
    struct ideal *ideal;
    uint32_t nideal, capideal;
    uint64_t *pool;
    uint32_t npool, cappool;
    uint32_t *slot, mask; /* ideal by key, 0: free */
    uint32_t *bucket;     /* [card] */
    struct labels labels;
    struct problem_caps caps;
    uint32_t last;   /* label of the best plan */
    bool refute;     /* values of labels are sums of excesses */
    int64_t floor;   /* else at least this; -1 */
    bool enough;     /* what was found is enough */
    uint64_t counts; /* all devices, as in label.used */
    uint64_t *rest;  /* bits of the ideal that is sought in the guide */
    enum search_end end_of;
    /* where it is */
    uint32_t bucket_at; /* card of the ideals that are extended; start is one of them */
    bool started;       /* the start's bits are there */
    bool inside;        /* an enumeration has begun */
    /* the current start */
    uint32_t start, stamp;
    uint64_t *bits;                    /* of I' + S */
    uint32_t *missing, *missing_stamp; /* [vertex] predecessors not in I' + S */
    struct net *net;
    uint32_t *need; /* [shared item] vertices of S that need it */
    uint32_t *frontier, nfrontier;
    uint32_t larger[LARGER], nlarger; /* ideals that are as good a start (dp_maximal.c) */
    uint32_t tried; /* position in the list of the vertex that S could hold, too, last time */
    /* the current enumeration */
    uint32_t k;
    const struct problem_kind *kind;
    const struct problem_class *cls;
    struct live *live;
    uint32_t nlive, caplive;
    int64_t low[PROBLEM_POTS], reach[PROBLEM_POTS], weight[PROBLEM_POTS];
    int64_t compute, fixed, cut, bytes, cross;
    struct problem_parts parts; /* kept only for detailed chains */
    uint32_t copies;            /* that the stage may have at most */
    bool weighs;                /* bytes are kept up to date: memory or copies ask for them */
    int64_t room;  /* limit of the sums: that of a load, times the copies there may be */
    int64_t spare; /* at most this may the device's excess be */
    uint64_t key;
    uint32_t card;
    uint32_t *list, end, at; /* at: what is decided next */
    struct choice *choice;
    uint32_t nchoice, capchoice;
    uint64_t steps, pause; /* done; it pauses when so many are */
    size_t used_before;    /* bytes of a */
};

/* Whether v is in I' + S. */
static inline bool has(const struct search *s, uint32_t v)
{
    return s->bits[v >> 6] >> (v & 63) & 1;
}

/* What a load takes more than the weight of S, in potential 0. */
static inline int64_t search_excess(const struct search *s, int64_t load)
{
    return problem_scaled(load, s->c->pot[0].scale[s->k]) -
           (s->weight[0] - s->ideal[s->start].weight[0]);
}

/* The ideal of `card` vertices, bits and key of s; 0: there is none. */
uint32_t search_find(const struct search *s, uint64_t key, uint32_t card, const uint64_t *bits);
/* The ideal I' + S, made if it is new: then it has no guide yet. */
uint32_t search_intern(struct search *s);

/* Looks in the guide for the ideal of all that ideal id, which is I' + S, has not.  O(V of the guide). */
void guide_link(struct search *s, uint32_t id);
/* At least so much more than their weights must the loads of the devices that `used` leaves be in sum, in
 * potential 0, to end a plan from ideal id; LOAD_INF: they cannot.  0 without a guide. */
int64_t guide_excess(const struct search *s, uint32_t id, uint64_t used);
/* Whether the device of S could hold one vertex more, and the rest of a plan would be as good without it. */
bool maximal_could_be_larger(struct search *s);
/* Looks for ideals of one vertex more than the start from which the rest of a plan is as good. */
void maximal_find_larger(struct search *s);
/* Drops the live labels that one of those has, too. */
void maximal_drop(struct search *s);

#endif
