/* The state of the exact search: private to label_search.c, label_table.c, label_front.c and label_walk.c.
 *
 * A label is a partial plan: an ideal (down-set of blocks) I is done.  When what is left can start is told by the
 * times at which the values that cross I are there; of these only the latest of each set of values that some unit
 * outside I waits for, directly or through others: a wait.  A wait that is the union of smaller ones needs no number
 * of its own; the others are fronts.  Label a is as good as b, at the same ideal, if it has used no more accelerators,
 * no front of it is later, and what is done in it ends no later than b can. */
#ifndef PCC_PASSES_LATENCY_LABEL_STATE_H
#define PCC_PASSES_LATENCY_LABEL_STATE_H

#include "ir/base/bits.h"
#include "passes/latency/label_search.h"

enum { LABEL_HOST = UINT16_MAX };

/* What an ideal's labels consist of, one after the other in label_ideal.at: this, then the times of the fronts, then
 * the lanes (slots > 1). */
struct latency_label {
    int64_t done;          /* ps: latest end of the steps that have units without successors */
    int64_t least;         /* ps: lower limit of all plans that extend the label */
    uint64_t used;         /* accelerators of each kind, packed as in problem.h; slots > 1: 0 */
    uint32_t ideal, index; /* the previous label, which this label extends */
    uint16_t kind;         /* of the accelerator that took the last step; LABEL_HOST */
    uint16_t lane; /* slots > 1: the lane of the last step, by its place in the previous label */
    int64_t t[];
};

/* slots > 1: an accelerator of a label, equal ones sorted: slots used, when it is free, bytes.  LANE_FULL in all three:
 * no slot is left. */
enum { LANE_SLOTS, LANE_FREE, LANE_BYTES, LANE_NUMBERS };
#define LANE_FULL INT64_MAX

/* A unit that waits for a front, and the least time from then on to the end of all. */
struct front {
    uint32_t unit;
    int64_t tail;
};

struct label_ideal {
    uint64_t key;
    uint32_t card, next;   /* blocks in it; the next ideal of as many, 0: none */
    uint32_t bits, fronts; /* where these begin in the pools */
    uint32_t nfront, nlabel, caplabel;
    uint32_t size;     /* bytes of a label */
    unsigned char *at; /* labels of the ideal */
};

struct label_ideals {
    struct label_ideal *v; /* from 1 */
    uint32_t n, cap;
    uint64_t *bits;
    uint32_t nbits, capbits;
    struct front *front;
    uint32_t nfront, capfront;
    uint32_t *slot, mask;
    uint32_t *bucket; /* [blocks] the first ideal of so many */
};

/* The waits of an ideal, in the order in which units meet them. */
struct label_waits {
    uint64_t *set;     /* [unit * words] values that the unit waits for */
    uint32_t *live;    /* [unit] index among the units of I with successors outside of I */
    uint32_t *of;      /* [unit] its wait, from 1; 0: none, or in I */
    uint32_t n, words; /* waits; words of their sets */
    uint32_t *unit;    /* [wait] the first unit with this wait */
    int64_t *tail;     /* [wait] */
    uint32_t *
        front; /* [wait] from 1: its number among the fronts; 0: it is the union of smaller waits */
    uint32_t *slot, mask;
};

/* A label on its way to being extended by the set S on one of its accelerators. */
struct live_label {
    uint32_t label, lane;
    int64_t start; /* ps: when S can start */
    int64_t room;  /* bytes that S may take */
};

/* Figures of the set S on an accelerator. */
struct label_set {
    int64_t compute, in, out; /* ps */
    int64_t cut_out;          /* ps of out that no larger S avoids */
    int64_t
        cut_tail; /* ps at least from its end to the end of all, by blocks that can no more join it */
    int64_t rest; /* ps at least from its start to the end of all, of every larger S, too */
    int64_t bytes;
    uint32_t ends;    /* blocks of S that have a unit without successors */
    uint32_t from, n; /* alive[from .. from + n): the labels that S may extend */
    uint32_t ntouched, ncut, end;
};

/* A decision: block list[at] was taken into S, or not; and what S was before. */
struct label_choice {
    uint32_t at;
    bool taken;
    struct label_set before;
};

struct label_walk {
    uint32_t k;         /* the kind of accelerator */
    uint32_t *list, at; /* blocks that can join S: list[.. set.end) */
    struct label_set set;
    struct label_choice *choice;
    uint32_t nchoice, capchoice;
    struct live_label *alive;
    uint32_t capalive;
    uint32_t *touched; /* waits of I that S has */
    uint8_t *is_touched;
    uint32_t *held;     /* [net] pins in S */
    uint8_t *is_cut;    /* [net] counted in cut_out */
    uint32_t *cut_list; /* nets in the order in which is_cut was set */
    uint32_t *need;     /* [shared item] number of blocks of S that need the item */
    uint64_t *below;    /* rows of bits, one for each block of S: units after the blocks so far */
    uint32_t depth;     /* blocks of S */
};

struct label_run {
    const struct latency_graph *p;
    const struct latency_tail *t;
    const struct label_limits *l;
    struct arena *a;
    int64_t limit;
    uint32_t nword, uword; /* words of the bits of blocks, and of units */
    uint64_t *zobrist;     /* [block] */
    uint64_t *unit_below;  /* [unit * uword] units after it */
    uint8_t *ends;         /* [block] 1: the block has a unit without successors */
    struct label_ideals ideals;
    struct label_waits waits; /* of I while it is extended */
    struct label_waits other; /* of a new ideal */
    struct label_walk walk;
    uint32_t now;  /* the ideal I that is extended */
    int64_t *time; /* [label of I * waits.n + wait - 1] ps: when the wait is over */
    uint32_t captime;
    uint64_t *bits, key; /* I + S */
    uint32_t card;
    uint32_t *missing;           /* [block] predecessors not in I + S */
    int64_t *end;                /* ps, of units of a block on the host */
    struct latency_label *fresh; /* scratch: the label being made */
    uint32_t lanes;              /* int64 numbers of a label's lanes; 0: slots is 1 */
    uint64_t labels;
    uint64_t steps, check; /* the limits are looked at when steps come to check */
    size_t before;         /* bytes of the arena when it began */
    const char *why;       /* NULL, or the reason why the search has to stop */
};

static inline struct latency_label *label_at(const struct label_run *r, uint32_t ideal, uint32_t i)
{
    const struct label_ideal *d = &r->ideals.v[ideal];
    return (struct latency_label *)(void *)(d->at + (size_t)i * d->size);
}

void label_waits_start(struct label_run *r, struct label_waits *w);
/* Fills w for the ideal of r->bits.  O(edges * words + waits^2 * words). */
void label_waits_find(struct label_run *r, struct label_waits *w);

/* ps at least from the moment at which unit x may start to the end of all: what x reads of the ideal of r->bits is
 * paid if x is on an accelerator. */
int64_t label_tail(const struct label_run *r, uint32_t x);

/* Sets r->why if a limit is reached.  O(1). */
void label_check(struct label_run *r);

void label_table_start(struct label_run *r);
/* The ideal of r->bits, added if it is new; label_find: 0 then. */
uint32_t label_find(const struct label_run *r);
uint32_t label_intern(struct label_run *r);
/* Adds r->fresh to an ideal unless an equally good label is there; drops labels that r->fresh makes superfluous.
 * O(labels of the ideal). */
void label_add(struct label_run *r, uint32_t ideal);

void label_walk_start(struct label_run *r);
/* Extends the labels of I by every set of blocks on an accelerator of kind k. */
void label_walk_kind(struct label_run *r, uint32_t k);
/* Puts block v into I + S, or takes it out; the blocks that can come next then are added to list[n ...]; their end is
 * returned. */
uint32_t label_put(struct label_run *r, uint32_t v, uint32_t *list, uint32_t n);
void label_take_out(struct label_run *r, uint32_t v);

#endif
