/* Writes proofs of lower bounds as texts for users, with the numbers that are needed to check them. */
#ifndef PCC_PASSES_BOUNDS_EXPLAIN_H
#define PCC_PASSES_BOUNDS_EXPLAIN_H

#include "passes/bounds/reduction.h"

#include <stdio.h>

/* A text that is being written: lines about the vertices of c, which are named by their nodes. */
struct explain {
    const struct problem *c;
    const struct module *m; /* NULL: vertices are named by numbers */
    struct arena *a;
    const struct wdag *base; /* the finest level below c->g (its vertices are the smallest) */
    uint32_t *map;           /* [vertex of base] its vertex in c->g */
    const char **name;       /* [vertex of c->g] "'MatMul_3'", or "'MatMul_3' (2 nodes)" */
    char *text;              /* NULL: empty */
    uint32_t n, cap;         /* bytes written, without the 0 at the end; bytes allocated */
};

/* Returns an empty text about c; everything lives in a, and m may be NULL (vertices are named by numbers).  O(V). */
struct explain explain_new(const struct problem *c, const struct module *m, struct arena *a);
/* Adds what printf would print for the format and the arguments. */
void explain_add(struct explain *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Returns the text so far, which lives in the arena of explain_new(); "" if nothing was added. */
const char *explain_text(const struct explain *e);
/* Returns the names of all devices of kind k: "acc0..acc2" if the kind has all devices of a class, else "acc0,acc2". */
const char *explain_kind(struct explain *e, uint32_t k);
/* Returns a time in ms, "12.5 ms", with all its digits. */
const char *explain_time(struct explain *e, int64_t ps);
/* Returns x / 2^SCALE_BITS as text: a whole number, or the fraction "x/1048576". */
const char *explain_share(struct explain *e, int64_t x);
/* Adds the names of the n vertices v[], at most EXPLAIN_NAMES of them: "{'A', 'B'}", "{'A', ... and 12 more}". */
void explain_set(struct explain *e, const uint32_t *v, uint32_t n);
enum {
    EXPLAIN_NAMES = 24, /* number of names that explain_set() shows, at most */
    /* number of lines that are shown of a list of steps, at most; how many more there are is told */
    EXPLAIN_STEPS = 1000
};

/* Returns, as a text in a, why no plan can take less than c->lower. */
const char *explain_problem(const struct problem *c, const struct module *m, struct arena *a);
/* Returns c->lower with the argument of explain_problem(), which lives in a, as its proof. */
struct bound explain_bound(const struct problem *c, const struct module *m, struct arena *a);
/* Returns the argument that p is a best contiguous plan because a search ended: p->claim.argument says what was
 * searched ("all 1428 ideals").  c->g must be a level of m.  The text lives in a. */
const char *explain_search(const struct problem *c, const struct module *m, const struct plan *p,
                           struct arena *a);
/* Adds the steps of r, a line for each; r must have been made with explanations (r->explained). */
void explain_reduction(struct explain *e, const struct reduction *r);
/* Adds the argument from prices: all devices with loads of at most T together hold no more than some multiple of T at
 * these prices; the vertices and transfers of the model cost more, unless T is at least `bound`, ps.  price[kind]: in
 * units of 2^-SCALE_BITS; vertices: sum of the least prices of all vertices, ps; nets: price of the transfers that are
 * paid in every plan, ps. */
void explain_prices(struct explain *e, const int64_t *price, int64_t vertices, int64_t nets,
                    int64_t bound);

#endif
