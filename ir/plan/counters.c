/* Finds counters of a training graph (counters.h).
 *
 * Nothing in a graph tells an output that is the next value of an initializer (a count of steps: t + 1) from one that
 * is only computed with it (a rate of learning for the log: rate * t).  So names decide.  An initializer that may be a
 * counter, but is none by name, must not reach the samples or the update: if it were one, each step would use its first
 * value, and nobody would notice. */
#include "ir/plan/counters.h"

#include "ir/base/name_table.h"
#include "ir/plan/named_gradients.h"

#include <string.h>

/* All searches together look at SEARCHES times as many operands as the model has values. */
enum { SEARCHES = 16 };

/* State of the search. */
struct find {
    const struct counter_search *of;
    const struct module *m;
    struct counters *to;
    struct arena *a, *own; /* for results; for scratch data */
    vid *next_of;          /* [initializer] the output that is its next value; 0: none is known */
    uint8_t *stays;        /* [value] 1: an initializer that keeps its value, as the user says */
    vid *stack;            /* room for all values */
    uint64_t left;         /* number of operands that may still be looked at */
};

/* Whether v is an initializer of the main graph that no gradient leads to. */
static bool may_count(const struct find *k, vid v)
{
    return v && !k->m->value[v].def && (k->m->value[v].flags & VALUE_INIT) && !k->of->renewed[v];
}

/* Returns an initializer of which output w may be the next value: one of w's type, from which w is
 * computed by values of this type, by other operators than Identity.  Prefers an initializer C if w
 * is called C_new; else takes the first that it finds, going to first operands first.  0: there is
 * none, or all searches together have looked at too many operands (SEARCHES). */
static vid counted(struct find *k, vid w)
{
    const struct module *m = k->m;
    uint32_t top = 0;
    bool changed = false;
    vid found = 0;
    k->stack[top++] = w;
    while (top > 0) {
        vid v = k->stack[--top];
        nid n = m->value[v].def;
        bool initial = changed && may_count(k, v);
        if (initial && is_named_after(m, w, v, "_new"))
            return v;
        found = initial && !found ? v : found;
        changed = changed || (n && !node_is(m, n, "Identity"));
        /* backward, so that the first operand comes next */
        for (uint32_t i = m->node[n].in.n; n && i-- > 0 && k->left > 0; --k->left) {
            vid u = m->arg[m->node[n].in.at + i];
            if (u && values_alike(m, u, w) && top < m->nval)
                k->stack[top++] = u;
        }
    }
    return found;
}

/* Adds the counter v with its next value w. Sets to->why if v has another next value, or if w depends on the number of
 * samples. */
static void add_counter(struct find *k, vid v, vid w)
{
    if (k->next_of[v] && k->next_of[v] != w)
        k->to->why =
            arena_fmt(k->a, "'%s' and '%s' are both next values of '%s'",
                      value_name(k->m, k->next_of[v]), value_name(k->m, w), value_name(k->m, v));
    else if (k->of->samples[w])
        k->to->why = arena_fmt(k->a,
                               "'%s', the next value of '%s', depends on the number of samples, "
                               "which micro-batches change",
                               value_name(k->m, w), value_name(k->m, v));
    else if (!k->next_of[v])
        k->to->of[k->to->n++] = (struct counter){v, w};
    k->next_of[v] = w;
}

/* Takes one --next=C=V of the user: adds the counter C with the next value V; for --next=C=C marks
 * C in k->stays, since it is no counter.  Sets to->why if C cannot be a counter with the next value
 * V.  init, out: name of an initializer, of an output -> its value. */
static void add_said(struct find *k, const struct said_names *said, const struct names *init,
                     const struct names *out)
{
    vid v = names_get(init, said->parameter, 0), w = names_get(out, said->value, 0);
    const char *what = arena_fmt(k->a, "--next '%s=%s'", said->parameter, said->value);
    const char *why = NULL;
    if (v && strcmp(said->parameter, said->value) == 0) {
        k->stays[v] = 1;
        return;
    }
    if (!v)
        why = arena_fmt(k->a, "the model has no initializer '%s'", said->parameter);
    else if (!w || !k->m->value[w].def)
        why = arena_fmt(k->a, "no node makes an output '%s' of the model", said->value);
    else if (!values_alike(k->m, v, w))
        why = arena_fmt(k->a, "'%s' has not the type and sizes of '%s'", said->value,
                        said->parameter);
    else if (k->of->renewed[v])
        why = arena_fmt(k->a, "a gradient leads to the new value of '%s'", said->parameter);
    else if (k->of->varies[w])
        why = arena_fmt(k->a, "'%s' depends on samples", said->value);
    if (why)
        k->to->why = arena_fmt(k->a, "%s: %s", what, why);
    else
        add_counter(k, v, w);
}

/* Adds all counters that the user names. */
static void add_all_said(struct find *k)
{
    const struct training *t = k->of->t;
    const struct graph *g = &k->m->graph[1];
    if (!t->nnext)
        return;
    struct names init = names_new(k->own, g->init.n + 1), out = names_new(k->own, g->out.n + 1);
    for (uint32_t i = 0; i < g->init.n; i++)
        names_add(&init, value_name(k->m, k->m->arg[g->init.at + i]), k->m->arg[g->init.at + i]);
    for (uint32_t i = 0; i < g->out.n; i++)
        names_add(&out, value_name(k->m, k->m->arg[g->out.at + i]), k->m->arg[g->out.at + i]);
    for (uint32_t i = 0; i < t->nnext && !k->to->why; i++)
        add_said(k, &t->next[i], &init, &out);
}

/* Finds counters among outputs that no user names, and outputs that may be next values, although names do not say so:
 * writes these to maybe[initializer], and the initializer to maybe_of[output]. */
static void find_unsaid(struct find *k, vid *maybe, vid *maybe_of)
{
    const struct module *m = k->m;
    const struct graph *g = &m->graph[1];
    for (uint32_t i = 0; i < g->out.n && !k->to->why; i++) {
        vid w = m->arg[g->out.at + i], v = k->of->varies[w] ? 0 : counted(k, w);
        if (!v || k->next_of[v] == w || k->stays[v])
            continue;
        if (is_named_after(m, w, v, "_new")) {
            add_counter(k, v, w);
            continue;
        }
        maybe[v] = w;
        maybe_of[w] = v;
    }
}

/* Checks that neither samples nor updates are computed with an initializer that may be a counter,
 * but was not found to be one; sets to->why if they are.  maybe: [value] of such an initializer the
 * output that may be its next value, else 0; maybe_of: [output] that initializer.  Changes maybe[]:
 * a value that is computed with such an initializer gets the initializer's output. */
static void check_others(struct find *k, vid *maybe, const vid *maybe_of)
{
    const struct module *m = k->m;
    const struct graph *g = &m->graph[1];
    for (vid v = 1; v < m->nval; v++)
        if (k->next_of[v])
            maybe[v] = 0; /* v is a counter, and the other output is only computed with v */
    for (nid n = g->first; n < g->first + g->count && !k->to->why; n++) {
        vid by = 0;
        bool varies = k->of->update[n];
        for (uint32_t i = 0; i < m->node[n].in.n; i++) {
            vid u = m->arg[m->node[n].in.at + i];
            by = maybe[u] ? maybe[u] : by;
            varies = varies || k->of->varies[u];
        }
        const char *name = value_name(m, maybe_of[by]), *next = value_name(m, by);
        if (by && varies)
            k->to->why =
                arena_fmt(k->a,
                          "'%s' (%s) is computed with '%s', of which the output '%s' may be the "
                          "next value, as of a count of steps: say --next=%s=%s if it is, "
                          "--next=%s=%s if '%s' stays as it is",
                          node_name(m, n), node_op(m, n), name, next, name, next, name, name, name);
        for (uint32_t i = 0; by && i < m->node[n].out.n; i++)
            maybe[m->arg[m->node[n].out.at + i]] = by;
        maybe[0] = 0;
    }
}

struct counters counters_find(const struct counter_search *of, struct arena *a)
{
    const struct module *m = of->m;
    struct counters to = {
        .of = arena_array(a, (size_t)m->graph[1].out.n + of->t->nnext + 1, sizeof *to.of)};
    struct find k = {.of = of, .m = m, .to = &to, .a = a, .own = arena_new(a)};
    k.next_of = arena_array(k.own, m->nval, sizeof *k.next_of);
    k.stays = arena_alloc(k.own, m->nval);
    k.stack = arena_array(k.own, (size_t)m->nval + 1, sizeof *k.stack);
    k.left = SEARCHES * ((uint64_t)m->nval + 1);
    vid *maybe = arena_array(k.own, m->nval, sizeof *maybe);
    vid *maybe_of = arena_array(k.own, m->nval, sizeof *maybe_of);
    add_all_said(&k);
    find_unsaid(&k, maybe, maybe_of);
    check_others(&k, maybe, maybe_of);
    arena_free(k.own);
    return to;
}
