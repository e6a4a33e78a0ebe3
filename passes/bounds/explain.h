/* Arguments for lower bounds in words, with the numbers to check them by. */
#ifndef PCC_PASSES_BOUNDS_EXPLAIN_H
#define PCC_PASSES_BOUNDS_EXPLAIN_H

#include "passes/bounds/reduction.h"

#include <stdio.h>

/* A text under way: lines about the vertices of c, named by their nodes. */
struct explain {
    const struct problem *c;
    const struct module *m; /* NULL: vertices have numbers */
    struct arena *a;
    const struct wdag *base; /* the finest level */
    uint32_t *map;           /* [vertex of base] that of c */
    const char **name;       /* [vertex] "'MatMul_3'", or with " and 2 more nodes" */
    char *text;
    uint32_t n, cap;
};

/* An empty text; everything lives in a.  O(V). */
struct explain explain_new(const struct problem *c, const struct module *m, struct arena *a);
void explain_add(struct explain *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The text so far, "" if there is none. */
const char *explain_text(const struct explain *e);
/* "acc0..acc2": the devices of a kind. */
const char *explain_kind(struct explain *e, uint32_t k);
/* "12.5 ms", exact. */
const char *explain_time(struct explain *e, int64_t ps);
/* Names of the n vertices v, at most EXPLAIN_NAMES of them: "{'A', 'B'}", "{'A', ... and 12 more}". */
void explain_set(struct explain *e, const uint32_t *v, uint32_t n);
enum { EXPLAIN_NAMES = 24, EXPLAIN_STEPS = 1000 };

/* Why c->lower is a bound. */
void explain_lower(struct explain *e);
/* The same as a text in a. */
const char *explain_problem(const struct problem *c, const struct module *m, struct arena *a);
/* c->lower, with its proof in lines, which live in a. */
struct bound explain_bound(const struct problem *c, const struct module *m, struct arena *a);
/* Why a search that ended is a proof: what the argument of p names was searched ("all 1428 ideals"), in whatever
 * order; p is the best plan.  c->g must be a level of m. */
const char *explain_search(const struct problem *c, const struct module *m, const struct plan *p,
                           struct arena *a);
/* Adds the steps of r, which was made `explained`, a line for each. */
void explain_reduction(struct explain *e, const struct reduction *r);
/* Adds the argument from prices, "loads of at most T count at most ... so T >= bound".  price[kind]: in parts of
 * 2^SCALE_BITS; vertices, nets: what all of them take at these prices, ps. */
void explain_prices(struct explain *e, const int64_t *price, int64_t vertices, int64_t nets,
                    int64_t bound);

#endif
