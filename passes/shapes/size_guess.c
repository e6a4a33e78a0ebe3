/* Finds sizes for names of dimensions (size_guess.h).
 *
 * 1. Equal dimensions.  An equation a = b is solved for one of its names, which from then on is an expression of the
 *    others: total = past + sequence.  Names that have a size of their own are *free*.
 * 2. Free names start with the size to try first: 1 for a batch, 128 for others.
 * 3. Where a demand does not hold: if it says that dimensions are equal, it is solved as in 1; if it says that a name
 *    is at least as large as an expression, the name becomes that expression.  Else the free names in the demand are
 *    cut off at the largest size with which it holds: a table of 77 rows makes a sequence of 128 one of 77, and
 *    past + sequence <= 8 makes both 4.  If it holds with no such size, they grow until it holds: a window of 400 wants
 *    a signal of 512.
 * 4. Again from the first demand, since one may spoil another, at most ROUNDS times.
 *
 * Of demands that contradict each other, some stay unmet.  Each look at a demand replaces the names in it and evaluates
 * it, some microseconds. */
#include "passes/shapes/size_guess.h"

enum {
    ROUNDS = 8,
    NAMES_MOST = 8,    /* the most free names of a demand whose sizes are changed */
    SCAN = 512,        /* the most sizes below the present one that are tried */
    GROW_MOST = 65536, /* no size grows beyond GROW_MOST */
    TRIES_MOST = 50000 /* evaluations for all changes together */
};

struct sizes *sizes_new(struct module *m, int64_t usual, struct arena *mem)
{
    struct sizes *k = arena_alloc(mem, sizeof *k);
    *k = (struct sizes){.m = m, .mem = mem, .n = 1, .usual = usual};
    k->at = vec_grow(mem, k->at, &k->cap, 1, sizeof *k->at);
    k->at[0] = (struct size){0};
    return k;
}

/* Returns the index of a name in k->at; 0: the name is not there. */
static uint32_t place_of(const struct sizes *k, const char *name)
{
    return map_get(&k->index, map_key(0, str_id(k->m, name)));
}

void sizes_add(struct sizes *k, const char *name, enum size_kind kind, int64_t value)
{
    if (place_of(k, name) != 0)
        return;
    k->at = vec_grow(k->mem, k->at, &k->cap, k->n + 1, sizeof *k->at);
    k->at[k->n] = (struct size){str_id(k->m, name), (uint8_t)kind, value, dim_unknown()};
    map_set(&k->index, k->mem, map_key(0, k->at[k->n].name), k->n);
    k->n++;
}

/* --- names that follow from others --- */

/* Returns the dimension that a name stands for: its number if its size is given, or the expression that it equals;
 * unknown if the name is free, or if s is entry 0, which stands for no name. */
static struct dim meaning_of(const struct size *s)
{
    return s->name == 0            ? dim_unknown()
           : s->kind == SIZE_GIVEN ? dim_num(s->value)
           : dim_known(s->is)      ? s->is
                                   : dim_unknown();
}

/* Returns the index of the name that is equal to the name at index `at`; 0: the name is free, has a given size, or is
 * equal to an expression. */
static uint32_t equal_to(const struct sizes *k, uint32_t at)
{
    struct dim is = k->at[at].is;
    return dim_is_symbol(k->m, is) ? place_of(k, module_str(k->m, is.sym)) : 0;
}

/* For dim_replace(): returns the dimension that a name stands for; unknown: the name is free, or not in the table.
 * If names are equal to each other in a chain, follows the chain to its end and shortens it for the next time (as a
 * union-find does). */
static struct dim meaning(void *user, const char *name)
{
    struct sizes *k = user;
    struct dim d = dim_unknown();
    uint32_t at = place_of(k, name), next;
    while ((next = equal_to(k, at)) != 0) {
        uint32_t after = equal_to(k, next);
        if (after != 0)
            k->at[at].is = k->at[next].is;
        d = k->at[at].is;
        at = after != 0 ? after : next;
    }
    struct dim end = meaning_of(&k->at[at]);
    return dim_known(end) ? end : d;
}

/* For note_closed(): whether a dimension has names that are not free. */
struct closed_names {
    const struct sizes *k;
    bool any;
};

/* For dim_names(): notes in the struct closed_names `user` if a name is not free. */
static void note_closed(void *user, const char *name)
{
    struct closed_names *c = user;
    c->any = c->any || dim_known(meaning_of(&c->k->at[place_of(c->k, name)]));
}

/* Returns d as an expression of free names alone: replaces the other names by what they stand for,
 * again and again.  Unknown if the result cannot be written, or if names that are not free are left
 * after ROUNDS replacements. */
static struct dim in_free_names(struct sizes *k, struct dim d)
{
    for (int i = 0; i < ROUNDS && d.sym != 0; i++) {
        struct closed_names c = {k, false};
        dim_names(k->m, d, note_closed, &c);
        if (!c.any)
            return d;
        d = dim_replace(k->m, d, meaning, k);
    }
    return d.sym == 0 ? d : dim_unknown();
}

/* The free names that dim_names() has met in some dimensions (add_free). */
struct free_names {
    struct sizes *k;
    uint32_t n, at[NAMES_MOST]; /* places in k->at */
};

/* For dim_names(): adds a name to the struct free_names `user`, and to the table if it is not there. */
static void add_free(void *user, const char *name)
{
    struct free_names *x = user;
    sizes_add(x->k, name, SIZE_OTHER, x->k->usual);
    uint32_t i = 0, at = place_of(x->k, name);
    while (i < x->n && x->at[i] != at)
        i++;
    if (i == x->n && x->n < NAMES_MOST)
        x->at[x->n++] = at;
}

/* Whether it is better to put `is` in place of name a than to put `other` in place of name b (NULL: there is no b).
 * An expression that cannot be negative is better than one that may be.  If both are equally good, it is better to
 * replace the name whose size is known less (the larger kind); if these are equal, too, the later name. */
static bool is_better(const struct sizes *k, const struct size *a, struct dim is,
                      const struct size *b, struct dim other)
{
    if (b == NULL)
        return true;
    if (dim_nonneg(k->m, is) != dim_nonneg(k->m, other))
        return dim_nonneg(k->m, is);
    return a->kind != b->kind ? a->kind > b->kind : a > b;
}

/* Appends demand *d to those that are still to be met. */
static void add_todo(struct sizes *k, const struct demand *d)
{
    k->todo = vec_grow(k->mem, k->todo, &k->captodo, k->ntodo + 1, sizeof *k->todo);
    k->todo[k->ntodo++] = *d;
}

/* Solves d, the demand a = b, for a free name, so that this name follows from the others.  If several names can be
 * solved for, takes the best (is_better).  If the name's new value may be negative, adds a demand of the same node that
 * it is not.  Returns false if the equation can be solved for no name. */
static bool solve(struct sizes *k, const struct demand *d)
{
    const struct dim a = d->a, b = d->b;
    struct free_names x = {.k = k};
    struct size *best = NULL;
    struct dim value = dim_unknown(), is;
    dim_names(k->m, a, add_free, &x);
    dim_names(k->m, b, add_free, &x);
    for (uint32_t i = 0; i < x.n; i++) {
        struct size *s = &k->at[x.at[i]];
        if (!dim_solve(k->m, a, b, module_str(k->m, s->name), &is) ||
            !is_better(k, s, is, best, value))
            continue;
        best = s;
        value = is;
    }
    if (best == NULL)
        return false;
    best->is = value;
    if (!dim_nonneg(k->m, value))
        add_todo(k, &(struct demand){dim_num(0), value, DEMAND_MOST, d->n});
    return true;
}

/* If b is a free name and a an expression that cannot be negative, makes the name equal a and returns true.  Returns
 * false, and changes nothing, if b is no free name, or if a may be negative or has that name in it. */
static bool reach_exactly(struct sizes *k, struct dim a, struct dim b)
{
    struct dim is;
    const char *name = b.sym != 0 ? module_str(k->m, b.sym) : "";
    struct size *s = &k->at[place_of(k, name)];
    if (a.sym == 0 || !dim_nonneg(k->m, a) || s->name == 0 || dim_known(s->is) ||
        !dim_solve(k->m, a, b, name, &is))
        return false;
    s->is = is;
    return true;
}

/* --- evaluating --- */

/* For dim_eval(): the size of a free name. */
static int64_t free_size(void *user, const char *name)
{
    const struct sizes *k = user;
    uint32_t at = place_of(k, name);
    return at != 0 ? k->at[at].value : k->usual;
}

/* Whether a demand holds; its dimensions are in free names. */
static bool holds(struct sizes *k, const struct demand *d)
{
    int64_t a = dim_eval(k->m, d->a, free_size, k), b = dim_eval(k->m, d->b, free_size, k);
    if (a < 0 || b < 0)
        return false;
    return d->kind == DEMAND_MOST ? a <= b
                                  : a == b || (d->kind == DEMAND_MATCH && (a == 1 || b == 1));
}

int64_t sizes_of(struct sizes *k, const char *name)
{
    const struct size *s = &k->at[place_of(k, name)];
    if (s->name == 0 || !dim_known(s->is))
        return s->name == 0 ? k->usual : s->value;
    struct dim d = in_free_names(k, s->is);
    int64_t v = dim_known(d) ? dim_eval(k->m, d, free_size, k) : -1;
    return v >= 0 ? v : k->usual;
}

/* Returns demand number i in free names. */
static struct demand demand_now(struct sizes *k, uint32_t i)
{
    struct demand d = k->todo[i];
    d.a = in_free_names(k, d.a);
    d.b = in_free_names(k, d.b);
    return d;
}

/* Whether a demand in free names certainly does not hold. */
static bool is_unmet(struct sizes *k, const struct demand *d)
{
    return dim_known(d->a) && dim_known(d->b) && !holds(k, d);
}

/* --- changing --- */

/* An attempt to meet demand d by other sizes of its free names. */
struct change {
    struct sizes *k;
    const struct demand *d;
    struct free_names x;        /* the free names of d */
    int64_t before[NAMES_MOST]; /* sizes of these names before the attempt */
    /* number of evaluations of demands that all attempts together may still make */
    uint32_t *tries;
};

/* Gives the free names the sizes that they had before the attempt, limited to `least` .. `most`.  Returns whether the
 * demand holds then; false if no evaluations are left. */
static bool try_sizes(struct change *c, int64_t least, int64_t most)
{
    for (uint32_t i = 0; i < c->x.n; i++)
        c->k->at[c->x.at[i]].value = larger(least, smaller(c->before[i], most));
    if (*c->tries > 0)
        --*c->tries;
    return *c->tries > 0 && holds(c->k, c->d);
}

/* Returns the multiple of the largest possible power of 2 in the range from .. to; from >= 1. */
static int64_t roundest(int64_t from, int64_t to)
{
    int64_t step = 1;
    while (to / (2 * step) * (2 * step) >= from)
        step *= 2;
    return to / step * step;
}

/* Limits the free names to one size: the largest with which the demand holds.  If the demand also
 * holds with the sizes below it, down to some size above 1, takes the roundest size of that range
 * instead.  Tries the largest size that a free name has, and SCAN sizes below it; returns false if
 * the demand holds with none of these. */
static bool shrink(struct change *c)
{
    int64_t top = 0;
    for (uint32_t i = 0; i < c->x.n; i++)
        top = larger(top, c->before[i]);
    int64_t end = larger(1, top - SCAN), high = top;
    while (high >= end && !try_sizes(c, 0, high))
        high--;
    if (high < end)
        return false;
    int64_t low = high;
    while (low > end && try_sizes(c, 0, low - 1))
        low--;
    try_sizes(c, 0, low == 1 ? high : roundest(low, high));
    return true;
}

/* Lets the free names grow to the smallest power of 2 with which the demand holds; if all of them
 * are first dimensions (SIZE_FIRST), first tries the usual size.  Returns false if the demand holds
 * with no such size. */
static bool grow(struct change *c)
{
    bool first = true;
    for (uint32_t i = 0; i < c->x.n; i++)
        first = first && c->k->at[c->x.at[i]].kind == SIZE_FIRST;
    if (first && try_sizes(c, c->k->usual, INT64_MAX))
        return true;
    int64_t to = 2;
    while (to <= GROW_MOST && !try_sizes(c, to, INT64_MAX))
        to *= 2;
    return to <= GROW_MOST;
}

/* Changes sizes until the demand holds; if no sizes make it hold, leaves them as they were.  *tries:
 * how often demands may still be evaluated, over all calls; lowered by each evaluation. */
static void meet(struct sizes *k, const struct demand *d, uint32_t *tries)
{
    struct change c = {.k = k, .d = d, .x = {.k = k}, .tries = tries};
    dim_names(k->m, d->a, add_free, &c.x);
    dim_names(k->m, d->b, add_free, &c.x);
    for (uint32_t i = 0; i < c.x.n; i++)
        c.before[i] = k->at[c.x.at[i]].value;
    if (c.x.n > 0 && !shrink(&c) && !grow(&c))
        try_sizes(&c, 0, INT64_MAX); /* gives all sizes their old values again */
}

/* Makes names follow from other names, as far as demands for equal dimensions say so. */
static void solve_all(struct sizes *k)
{
    for (uint32_t i = 0; i < k->ntodo; i++) {
        struct demand d = demand_now(k, i);
        if (d.kind == DEMAND_EQUAL && dim_known(d.a) && dim_known(d.b) && !dim_same(d.a, d.b))
            solve(k, &d);
    }
}

/* Looks at all demands once, or as long as the clock allows, and changes sizes where one does not
 * hold.  Returns whether all held before.  tries: as for meet(). */
static bool meet_all(struct sizes *k, uint32_t *tries)
{
    bool held = true;
    for (uint32_t i = 0; i < k->ntodo && !diag_stopped(k->m->diag); i++) {
        struct demand d = demand_now(k, i);
        if (!is_unmet(k, &d))
            continue;
        held = false;
        bool solved = d.kind == DEMAND_MOST ? reach_exactly(k, d.a, d.b) : solve(k, &d);
        if (!solved)
            meet(k, &d, tries);
    }
    return held;
}

/* Returns the first demand that does not hold, as far as the clock allows to look; NULL: all hold. */
static const struct demand *first_unmet(struct sizes *k)
{
    for (uint32_t i = 0; i < k->ntodo && !diag_stopped(k->m->diag); i++) {
        struct demand d = demand_now(k, i);
        if (is_unmet(k, &d))
            return &k->todo[i];
    }
    return NULL;
}

const struct demand *sizes_meet(struct sizes *k, const struct demands *all)
{
    uint32_t tries = TRIES_MOST;
    bool held = false;
    for (uint32_t i = 0; i < all->n; i++)
        add_todo(k, &all->at[i]);
    solve_all(k);
    for (int round = 0; round < ROUNDS && !held; round++)
        held = meet_all(k, &tries);
    return held ? NULL : first_unmet(k);
}
