/* The inside of the exact search: shared by dp_search.c and dp_step.c only. */
#ifndef PCC_PASSES_DP_STEP_H
#define PCC_PASSES_DP_STEP_H

#include "passes/dp_search.h"

struct ideal {
    uint64_t key;
    uint32_t card;        /* vertices in it */
    uint32_t word, nword; /* words [word, word + nword) of its bits are at bits */
    uint32_t bits;        /* in search.pool */
    uint32_t head;        /* labels */
    uint32_t next;        /* of the same card; 0: none */
    int64_t cross;        /* weight of the nets that cross it */
    int64_t weight[CHAIN_POTS];
};

/* What the current S does to a net. */
struct net {
    uint32_t stamp;   /* start it was last looked at */
    uint32_t outside; /* pins not in I' */
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
    int64_t reach[CHAIN_POTS];
};

struct search {
    const struct chain *c;
    const struct wdag *g;
    struct dp_search *opt;
    struct arena *a;
    uint32_t n, nword;
    uint64_t *zobrist;          /* [vertex] */
    int64_t *above[CHAIN_POTS]; /* [vertex] at least what it and all above it weigh */
    /* ideals */
    struct ideal *ideal;
    uint32_t nideal, capideal;
    uint64_t *pool;
    uint32_t npool, cappool;
    uint32_t *slot, mask; /* ideal by key, 0: free */
    uint32_t *bucket;     /* [card] */
    struct labels labels;
    struct chain_caps caps;
    uint32_t last; /* label of the best plan */
    bool refute;   /* values of labels are sums of excesses, the first plan ends the search */
    /* the current start */
    uint32_t start, stamp;
    uint64_t *bits;                    /* of I' + S */
    uint32_t *missing, *missing_stamp; /* [vertex] predecessors not in I' + S */
    struct net *net;
    uint32_t *need; /* [shared item] vertices of S that need it */
    uint32_t *frontier, nfrontier;
    /* the current enumeration */
    uint32_t k;
    const struct chain_kind *kind;
    const struct chain_class *cls;
    const int64_t *crossing; /* [net] weight of a net that crosses */
    struct live *live;
    uint32_t nlive, caplive;
    int64_t low[CHAIN_POTS], reach[CHAIN_POTS], weight[CHAIN_POTS];
    int64_t compute, fixed, cut, bytes, cross;
    struct chain_parts parts; /* kept only for detailed chains */
    uint32_t copies;          /* that the stage may have at most */
    bool weighs;              /* bytes are kept up to date: memory or copies ask for them */
    int64_t room;             /* limit of the sums: that of a load, times the copies there may be */
    int64_t spare; /* at most this may the device's excess be */
    uint64_t key;
    uint32_t card;
    uint32_t *list, end;
    struct choice *choice;
    uint32_t nchoice;
    int64_t began, told; /* ns */
    uint64_t max_steps, steps_before; /* allowed; done before the current start */
    uint64_t check;      /* steps at which the limits are looked at next */
    size_t used_before;  /* bytes of a */
};

/* Whether v is in I' + S. */
static inline bool has(const struct search *s, uint32_t v)
{
    return s->bits[v >> 6] >> (v & 63) & 1;
}

/* What a load takes more than the weight of S, in potential 0. */
static inline int64_t search_excess(const struct search *s, int64_t load)
{
    return chain_scaled(load, s->c->pot[0].scale[s->k]) -
           (s->weight[0] - s->ideal[s->start].weight[0]);
}

/* Adds v, whose predecessors are in, to S, and what it enables to the list; false (and nothing
 * done) if that cannot lead anywhere.  step_untake undoes it, but for search.end. */
bool step_take(struct search *s, uint32_t v);
void step_untake(struct search *s, uint32_t v);
/* Leaves v and all above it out; false (and nothing done) if too little is then within reach.  The
 * caller undoes it by step_unskip and by restoring search.reach. */
bool step_skip(struct search *s, uint32_t v);
void step_unskip(struct search *s, uint32_t v);

#endif
