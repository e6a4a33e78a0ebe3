/* The state of the exact search: private to label_search.c, label_table.c, label_front.c and label_walk.c.
 *
 * A label is a partial plan: the blocks of an ideal I (a down-set of blocks) are placed.  A live unit is a unit of I
 * with successors outside I.  The wait of a unit x outside I is the set of live units that x waits for, directly or
 * through other units outside I; units with equal sets have the same wait.  The time of a wait is the latest end of its
 * live units.  A wait that is the union of smaller waits has the latest of their times; all other waits are fronts.  A
 * label stores the times of the fronts only: x can start no earlier than the time of its wait.  Of two labels of one
 * ideal, label a is as good as label b if a has used no more accelerators of any kind, no front has a later time in a
 * than in b, and the finished units of a end no later than any plan can end that extends b (latency_label.least). */
#ifndef PCC_PASSES_LATENCY_LABEL_STATE_H
#define PCC_PASSES_LATENCY_LABEL_STATE_H

#include "ir/base/bits.h"
#include "passes/latency/label_search.h"

enum { LABEL_HOST = UINT16_MAX }; /* latency_label.kind of a step on the hosts */

/* One label.  The labels of an ideal lie one after the other in label_ideal.at; each consists of this struct with t[]:
 * first the times of the ideal's fronts, ps, then LANE_NUMBERS numbers for each accelerator (slots > 1 only). */
struct latency_label {
    int64_t done;  /* ps: latest end of the units without successors that are placed */
    int64_t least; /* ps: lower bound on the latency of all plans that extend the label */
    /* number of used accelerators of each kind, packed as label.used in problem.h; slots > 1: 0 */
    uint64_t used;
    /* the label that the last step extended: number of its ideal, and its index among the labels of that ideal */
    uint32_t ideal, index;
    uint16_t kind; /* kind of the accelerator that the last step uses; or LABEL_HOST */
    /* slots > 1: index of the accelerator's lane in the label before the last step; else 0 */
    uint16_t lane;
    int64_t t[];
};

/* slots > 1: the numbers of a lane, which is the state of one accelerator.  SLOTS: number of slots used; FREE: ps when
 * its last subgraph ends; BYTES: bytes used.  Lanes of one kind are sorted by these numbers.  All numbers of a lane are
 * LANE_FULL if no slot is left. */
enum { LANE_SLOTS, LANE_FREE, LANE_BYTES, LANE_NUMBERS };
#define LANE_FULL INT64_MAX

/* A front of an ideal: a wait (a set of live units that some unit waits for) that is not the union of smaller waits,
 * see the head of this file. */
struct front {
    uint32_t unit; /* a unit that waits for exactly this set; of several units any */
    /* ps: the time from the front's time to the end of the plan is at least this long */
    int64_t tail;
};

/* An ideal (a down-set of blocks) that the search has met, with its labels. */
struct label_ideal {
    uint64_t key;  /* hash: the xor of label_run.zobrist[] of its blocks */
    uint32_t card; /* number of blocks of the ideal */
    uint32_t next; /* the next ideal with as many blocks; 0: none */
    /* index in label_ideals.bits of the first word of its set; index in label_ideals.front of its first front */
    uint32_t bits, fronts;
    uint32_t nfront, nlabel, caplabel;
    uint32_t size;     /* bytes of a label, t[] included */
    unsigned char *at; /* the ideal's nlabel labels, one after the other */
};

/* All ideals that the search has met: number 1 .. n - 1; 0 means no ideal. */
struct label_ideals {
    struct label_ideal *v; /* [number of an ideal] the ideal */
    uint32_t n, cap;
    uint64_t *bits; /* sets of blocks, nword words for each ideal */
    uint32_t nbits, capbits;
    struct front *front; /* fronts of all ideals */
    uint32_t nfront, capfront;
    uint32_t *slot, mask; /* hash table of mask + 1 slots: ideal, 0: empty */
    uint32_t *bucket;     /* [number of blocks] the ideal with that number added last; 0: none */
};

/* The waits of an ideal I, numbered in the order of the first unit that has them. */
struct label_waits {
    uint64_t *set;     /* [unit * uword] bits of live units: the unit's wait, `words` words */
    uint32_t *live;    /* [unit] number of a live unit; undefined for other units */
    uint32_t *of;      /* [unit] 1 + number of its wait; 0: it waits for nothing, or is in I */
    uint32_t n, words; /* number of waits; words of each set */
    uint32_t *unit;    /* [wait] the first unit with this wait */
    int64_t *tail; /* [wait] ps: at least this long from the wait's time to the end of the plan */
    /* [wait] 1 + number of the front that the wait is; 0: the wait is no front */
    uint32_t *front;
    uint32_t *slot, mask; /* hash table of mask + 1 slots: 1 + wait, 0: empty */
};

/* A label of I, and the accelerator on which the set S is to extend it. */
struct live_label {
    uint32_t label; /* index among the labels of I */
    uint32_t lane;  /* slots > 1: index of the accelerator's lane; else 0 */
    int64_t start;  /* ps: earliest start of S after this label */
    int64_t room;   /* bytes that S may take on the accelerator */
};

/* The set S of blocks that becomes the next subgraph of an accelerator, and its figures. */
struct label_set {
    int64_t compute, in, out; /* ps of computing, transfers in, transfers out */
    int64_t cut_out;          /* ps: the share of `out` that remains whatever blocks join S */
    /* ps: lower bound on the time from the end of S to the end of the plan, since blocks that were passed over run
     * after S */
    int64_t cut_tail;
    /* ps: lower bound on the time from the start of S to the end of the plan, even if S grows */
    int64_t rest;
    int64_t bytes;
    uint32_t ends;                /* number of blocks of S with a unit without successors */
    uint32_t from, n;             /* label_walk.alive[from .. from + n): labels that S may extend */
    uint32_t ntouched, ncut, end; /* lengths of label_walk.touched, .cut_list and .list */
};

/* A decision of the walk: block list[at] was taken into S or passed over; and S before the decision. */
struct label_choice {
    uint32_t at;
    bool taken;
    struct label_set before;
};

/* The walk through all sets S (label_walk.c). */
struct label_walk {
    uint32_t k;     /* kind of the accelerator that S is for */
    uint32_t *list; /* blocks outside I whose predecessors are all in I + S */
    uint32_t at;    /* index in `list` of the next block to decide on */
    struct label_set set;
    struct label_choice *choice; /* the decisions so far, as a stack */
    uint32_t nchoice, capchoice;
    struct live_label *alive;
    uint32_t capalive;
    uint32_t *touched;   /* waits (1 + number) of the units of S */
    uint8_t *is_touched; /* [1 + wait] 1: it is in `touched` */
    uint32_t *held;      /* [net] number of its pins in S */
    uint8_t *is_cut;     /* [net] 1: its cost is in cut_out */
    uint32_t *cut_list;  /* nets in the order in which is_cut was set */
    uint32_t *need;      /* [shared item] number of blocks of S that need the item */
    /* the bytes of S at one time; NULL: devices have room for whatever is there at one time */
    struct set_memory *at_once;
    uint64_t *below; /* [depth + 1] sets of units: row i: successors of the first i blocks of S */
    uint32_t depth;  /* number of blocks of S */
};

/* A run of the exact search.  I: the ideal whose labels are being extended; S: the blocks of the next step. */
struct label_run {
    const struct latency_graph *p;
    const struct latency_tail *t;
    const struct label_limits *l;
    struct arena *a;
    int64_t limit;         /* ps: only plans that take less are looked for */
    uint32_t nword, uword; /* words of a set of blocks, of a set of units */
    uint64_t *zobrist;     /* [block] random number for the hash of ideals */
    uint64_t *unit_below;  /* [unit * uword] set of units: all direct and indirect successors */
    uint8_t *ends;         /* [block] 1: the block has a unit without successors */
    struct label_ideals ideals;
    struct label_waits waits; /* what the units outside I wait for */
    struct label_waits other; /* the same for an ideal that is being added to `ideals` */
    struct label_walk walk;
    uint32_t now;  /* number of the ideal I */
    int64_t *time; /* [label of I * waits.n + wait] ps: time of the wait */
    uint32_t captime;
    uint64_t *bits, key; /* the set I + S and its hash */
    uint32_t card;       /* number of blocks in I + S */
    uint32_t *missing;   /* [block] number of its predecessors that are not in I + S */
    /* [unit - first unit of its block] scratch, used for one block at a time.  ps: when the unit ends if the block runs
     * on the host */
    int64_t *end;
    struct latency_label *fresh; /* scratch: the label being made */
    uint32_t lanes;              /* number of int64 that the lanes of a label take; 0: slots is 1 */
    uint64_t labels;             /* number of labels kept, of all ideals */
    /* steps: search steps so far; check: number of steps at which label_check() is due */
    uint64_t steps, check;
    size_t before;   /* bytes that the arena had in use at the start */
    const char *why; /* why the search must stop; NULL: it goes on */
};

/* Returns label number i of an ideal. */
static inline struct latency_label *label_at(const struct label_run *r, uint32_t ideal, uint32_t i)
{
    const struct label_ideal *d = &r->ideals.v[ideal];
    return (struct latency_label *)(void *)(d->at + (size_t)i * d->size);
}

/* Allocates the arrays of w. */
void label_waits_start(struct label_run *r, struct label_waits *w);
/* Fills w for the ideal r->bits.  O(edges * words + waits^2 * words). */
void label_waits_find(struct label_run *r, struct label_waits *w);

/* Returns a lower bound, in ps, on the time from the start of unit x, which is outside the ideal r->bits, to the end of
 * the plan.  If x is on an accelerator, transfers of values from blocks of the ideal count. */
int64_t label_tail(const struct label_run *r, uint32_t x);

/* Sets r->why if a limit of r->l is reached.  O(1). */
void label_check(struct label_run *r);

/* Makes r->ideals empty. */
void label_table_start(struct label_run *r);
/* Both return the number of the ideal r->bits.  If the search has not met it, label_find() returns 0, label_intern()
 * adds it without labels. */
uint32_t label_find(const struct label_run *r);
uint32_t label_intern(struct label_run *r);
/* Adds the label r->fresh to an ideal unless a label of the ideal is as good; if it is added, removes the labels that
 * r->fresh is as good as.  O(labels of the ideal). */
void label_add(struct label_run *r, uint32_t ideal);

/* Allocates the arrays of r->walk. */
void label_walk_start(struct label_run *r);
/* Extends the labels of I by every set S of blocks on an accelerator of kind k. */
void label_walk_kind(struct label_run *r, uint32_t k);
/* Adds block v to I + S, appends to list, which has n entries, the blocks whose predecessors now are all in I + S, and
 * returns the new number of entries. */
uint32_t label_put(struct label_run *r, uint32_t v, uint32_t *list, uint32_t n);
/* Removes block v from I + S. */
void label_take_out(struct label_run *r, uint32_t v);

#endif
