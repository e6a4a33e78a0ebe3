/* Puts the arguments for lower bounds into words, with the numbers to check them by. */
#ifndef PCC_PASSES_BOUNDS_EXPLAIN_H
#define PCC_PASSES_BOUNDS_EXPLAIN_H

#include "passes/bounds/reduction.h"

#include <stdio.h>

/* A text that is being written: lines about the vertices of c, which are named by their nodes. */
struct explain {
    const struct problem *c;
    const struct module *m; /* NULL: vertices are named by numbers */
    struct arena *a;
    const struct wdag *base; /* the finest level below c->g */
    uint32_t *map;           /* [vertex of base] its vertex in c->g */
    const char **name;       /* [vertex of c->g] "'MatMul_3'", or "'MatMul_3' (2 nodes)" */
    char *text;              /* NULL: empty */
    uint32_t n, cap;         /* bytes written, without the 0 at the end; bytes allocated */
};

/* Returns an empty text; everything lives in a.  O(V). */
struct explain explain_new(const struct problem *c, const struct module *m, struct arena *a);
/* Adds to the text, by a format as for printf. */
void explain_add(struct explain *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Returns the text so far, "" if it is empty. */
const char *explain_text(const struct explain *e);
/* Returns the names of all devices of kind k: "acc0..acc2", or "acc0,acc2". */
const char *explain_kind(struct explain *e, uint32_t k);
/* Returns a time in ms, "12.5 ms", with all its digits. */
const char *explain_time(struct explain *e, int64_t ps);
/* Returns x / 2^SCALE_BITS as text: a whole number, or the fraction "x/1048576". */
const char *explain_share(struct explain *e, int64_t x);
/* Adds the names of the n vertices v[], at most EXPLAIN_NAMES of them: "{'A', 'B'}", "{'A', ... and 12 more}". */
void explain_set(struct explain *e, const uint32_t *v, uint32_t n);
enum {
    EXPLAIN_NAMES = 24,  /* number of names of a set that are shown, at most */
    EXPLAIN_STEPS = 1000 /* number of lines of a list that are shown, at most */
};

/* Returns the argument why c->lower is a bound as a text in a. */
const char *explain_problem(const struct problem *c, const struct module *m, struct arena *a);
/* Returns c->lower with the argument of explain_problem(), which lives in a, as its proof. */
struct bound explain_bound(const struct problem *c, const struct module *m, struct arena *a);
/* Returns the argument that p is a best contiguous plan because a search ended: p->claim.argument says what was
 * searched ("all 1428 ideals").  c->g must be a level of m.  The text lives in a. */
const char *explain_search(const struct problem *c, const struct module *m, const struct plan *p,
                           struct arena *a);
/* Adds the steps of r, a line for each; r must have been made with explanations (r->explained). */
void explain_reduction(struct explain *e, const struct reduction *r);
/* Adds the argument from prices: devices with loads of at most T hold no more than some multiple of T, all vertices and
 * nets add up to more, so T is at least `bound`, ps.  price[kind] is in units of 2^-SCALE_BITS; vertices and nets are
 * the sums, ps, of their times and transfers at these prices. */
void explain_prices(struct explain *e, const int64_t *price, int64_t vertices, int64_t nets,
                    int64_t bound);

#endif
