/* Finds counters of a training graph (counters.h).
 *
 * Nothing in a graph tells an output that is the next value of an initializer (a count of steps: t + 1) from an output
 * that is only computed with it (a rate for the log: rate * t).  So names decide, or the user.  Where neither tells,
 * all initializers of the output's type from which it is computed by values of that type are candidates; and where an
 * output by its name is a next value, but depends on samples without a gradient, no step could keep it.  Neither
 * samples nor the update may be computed with such an initializer: each step would use its first value, and nobody
 * would notice. */
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
    uint8_t *is_next;      /* [value] 1: the output is the next value of a counter */
    uint8_t *stays;        /* [value] 1: an initializer that keeps its value, as the user says */
    vid *maybe; /* [initializer] an output that may be the initializer's next value; 0: none */
    uint8_t *is_maybe; /* [value] 1: an output in maybe by its name */
    uint32_t *seen;    /* [value] 1 + the number of the last output whose walk met it */
    vid *stack;        /* room for all values */
    uint64_t left;     /* number of operands that may still be looked at */
};

/* Whether v is an initializer of the main graph to which no gradient leads, and of which nothing else is known. */
static bool may_count(const struct find *k, vid v)
{
    return v && !k->m->value[v].def && (k->m->value[v].flags & VALUE_INIT) && !k->of->renewed[v] &&
           !k->next_of[v] && !k->stays[v];
}

/* Returns the value that v is a copy of by Identity nodes; v if no Identity makes it. */
static vid without_identities(const struct module *m, vid v)
{
    while (m->value[v].def && node_is(m, m->value[v].def, "Identity"))
        v = node_in(m, m->value[v].def, 0);
    return v;
}

/* Writes output w to k->maybe of each initializer from which w is computed by values of w's type.  output: number of w.
 * Sets to->why if all searches together have looked at too many operands. */
static void find_candidates(struct find *k, vid w, uint32_t output)
{
    const struct module *m = k->m;
    uint32_t top = 0;
    vid from = without_identities(m, w);
    if (!m->value[from].def)
        return; /* the initializer itself */
    k->stack[top++] = from;
    while (top > 0) {
        vid v = k->stack[--top];
        nid n = m->value[v].def;
        if (may_count(k, v) && !k->maybe[v])
            k->maybe[v] = w;
        for (uint32_t i = 0; n && i < m->node[n].in.n; i++) {
            vid u = m->arg[m->node[n].in.at + i];
            if (!u || k->seen[u] == output + 1 || !values_alike(m, u, w))
                continue;
            if (k->left-- == 0) {
                k->to->why = arena_fmt(k->a,
                                       "'%s' and other outputs that do not depend on samples are "
                                       "computed from too many values to find counts of steps",
                                       value_name(m, w));
                k->left = 0;
                return;
            }
            k->seen[u] = output + 1;
            k->stack[top++] = u;
        }
    }
}

/* Adds the counter v with its next value w.  Sets to->why if v has another next value, if w is the next value of
 * another counter, or if w depends on the number of samples. */
static void add_counter(struct find *k, vid v, vid w)
{
    if (k->next_of[v] && k->next_of[v] != w)
        k->to->why =
            arena_fmt(k->a, "'%s' and '%s' are both next values of '%s'",
                      value_name(k->m, k->next_of[v]), value_name(k->m, w), value_name(k->m, v));
    else if (!k->next_of[v] && k->is_next[w])
        k->to->why = arena_fmt(k->a, "'%s' is the next value of two initializers, one is '%s'",
                               value_name(k->m, w), value_name(k->m, v));
    else if (k->of->samples[w])
        k->to->why = arena_fmt(k->a,
                               "'%s', the next value of '%s', depends on the number of samples, "
                               "which micro-batches change",
                               value_name(k->m, w), value_name(k->m, v));
    else if (!k->next_of[v])
        k->to->of[k->to->n++] = (struct counter){v, w};
    k->next_of[v] = w;
    k->is_next[w] = 1;
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
    bool stays = v && strcmp(said->parameter, said->value) == 0;
    if (stays && !k->next_of[v]) {
        k->stays[v] = 1;
        return;
    }
    if (v && (stays || k->stays[v]))
        why = arena_fmt(k->a, "another --next says that '%s' %s", said->parameter,
                        stays ? "has a next value" : "stays");
    else if (!v)
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

/* Returns the table name -> value of the values of a list of the graph. */
static struct names by_name(const struct find *k, struct slice list)
{
    struct names names = names_new(k->own, list.n + 1);
    for (uint32_t i = 0; i < list.n; i++)
        names_add(&names, value_name(k->m, k->m->arg[list.at + i]), k->m->arg[list.at + i]);
    return names;
}

/* Adds all counters that the user names. */
static void add_all_said(struct find *k)
{
    const struct training *t = k->of->t;
    const struct graph *g = &k->m->graph[1];
    if (!t->nnext)
        return;
    struct names init = by_name(k, g->init), out = by_name(k, g->out);
    for (uint32_t i = 0; i < t->nnext && !k->to->why; i++)
        add_said(k, &t->next[i], &init, &out);
}

/* Finds the initializer after which output w is named, by the table of initializers; 0: there is none. */
static vid named_for(const struct find *k, vid w, const struct names *init)
{
    static const char end[] = "_new";
    const char *name = value_name(k->m, w);
    size_t n = strlen(name), after = sizeof end - 1;
    if (n <= after || strcmp(name + n - after, end) != 0)
        return 0;
    return names_get(init, arena_strdup(k->own, name, n - after), 0);
}

/* Adds a counter for each output that is called C_new after an initializer C, whatever computes it.  If it cannot be
 * the next value in steps, since it depends on samples or has another type, the output goes to k->maybe of C. */
static void find_named(struct find *k)
{
    const struct module *m = k->m;
    const struct graph *g = &m->graph[1];
    struct names init = by_name(k, g->init);
    for (uint32_t i = 0; i < g->out.n && !k->to->why; i++) {
        vid w = m->arg[g->out.at + i], v = m->value[w].def ? named_for(k, w, &init) : 0;
        if (!may_count(k, v))
            continue;
        if (k->of->varies[w] || !values_alike(m, v, w)) {
            k->maybe[v] = w;
            k->is_maybe[w] = 1;
        } else {
            add_counter(k, v, w);
        }
    }
}

/* Returns an array: [value] 1: it is computed with a counter that is known. */
static uint8_t *find_counted(const struct find *k)
{
    const struct module *m = k->m;
    const struct graph *g = &m->graph[1];
    uint8_t *counted = arena_alloc(k->own, m->nval);
    for (vid v = 1; v < m->nval; v++)
        counted[v] = k->next_of[v] != 0;
    for (nid n = g->first; n < g->first + g->count; n++) {
        bool any = false;
        for (uint32_t i = 0; i < m->node[n].in.n; i++)
            any = any || counted[m->arg[m->node[n].in.at + i]];
        for (uint32_t i = 0; any && i < m->node[n].out.n; i++)
            counted[m->arg[m->node[n].out.at + i]] = 1;
        counted[0] = 0;
    }
    return counted;
}

/* Finds candidates for the outputs that do not depend on samples, and are the next value of no counter.  An output that
 * is computed with a known counter has none: it is a rate or a correction by the count of steps, for the log. */
static void find_unnamed(struct find *k)
{
    const struct graph *g = &k->m->graph[1];
    const uint8_t *counted = find_counted(k);
    for (uint32_t i = 0; i < g->out.n && !k->to->why; i++) {
        vid w = k->m->arg[g->out.at + i];
        bool known = k->is_next[w] || k->is_maybe[w];
        if (k->m->value[w].def && !k->of->varies[w] && !known && !counted[w])
            find_candidates(k, w, i);
    }
}

/* Sets to->why: node n is computed with initializer v, for which k->maybe has an output. */
static void refuse_maybe(struct find *k, nid n, vid v)
{
    const struct module *m = k->m;
    const char *name = value_name(m, v), *next = value_name(m, k->maybe[v]);
    const char *what =
        arena_fmt(k->a, "'%s' (%s) is computed with '%s'", node_name(m, n), node_op(m, n), name);
    if (!values_alike(m, v, k->maybe[v]))
        k->to->why = arena_fmt(k->a,
                               "%s, whose next value by its name, '%s', has another type or other "
                               "sizes: --next=%s=%s if '%s' stays as it is",
                               what, next, name, name, name);
    else if (k->of->varies[k->maybe[v]])
        k->to->why =
            arena_fmt(k->a,
                      "%s, whose next value '%s' depends on samples, but not by a gradient of its "
                      "type, so that steps cannot keep it: --next=%s=%s if '%s' stays as it is",
                      what, next, name, name, name);
    else
        k->to->why = arena_fmt(k->a,
                               "%s, of which the output '%s' may be the next value, as of a count "
                               "of steps: say --next=%s=%s if it is, --next=%s=%s if '%s' stays as "
                               "it is",
                               what, next, name, next, name, name, name);
}

/* Returns an array: [node] 1: an output outside of k->is_maybe needs the node. */
static uint8_t *find_needed(const struct find *k)
{
    const struct module *m = k->m;
    const struct graph *g = &m->graph[1];
    uint8_t *needed = arena_alloc(k->own, (size_t)m->nnode + 1);
    for (uint32_t i = 0; i < g->out.n; i++) {
        vid w = m->arg[g->out.at + i];
        if (m->value[w].def && !k->is_maybe[w])
            needed[m->value[w].def] = 1;
    }
    for (nid n = g->first + g->count; n-- > g->first;)
        for (uint32_t i = 0; needed[n] && i < m->node[n].in.n; i++)
            needed[m->value[m->arg[m->node[n].in.at + i]].def] = 1;
    return needed;
}

/* Whether operand number i of node n is a mean or variance that a BatchNormalization in training only passes on. */
static bool is_passed_on(const struct module *m, nid n, uint32_t i)
{
    return (i == 3 || i == 4) && node_is(m, n, "BatchNormalization") &&
           node_attr_int(m, n, "training_mode", 0);
}

/* Checks that no samples and no update that an output needs are computed with an initializer for which k->maybe has an
 * output; sets to->why if they are. */
static void check_others(struct find *k)
{
    const struct module *m = k->m;
    const struct graph *g = &m->graph[1];
    /* [value] an initializer with an entry in k->maybe, from which the value is computed; 0: none */
    vid *from = arena_array(k->own, m->nval, sizeof *from);
    for (vid v = 1; v < m->nval; v++)
        from[v] = k->maybe[v] && may_count(k, v) ? v : 0;
    const uint8_t *needed = find_needed(k);
    for (nid n = g->first; n < g->first + g->count && !k->to->why; n++) {
        vid by = 0;
        bool varies = k->of->update[n];
        for (uint32_t i = 0; i < m->node[n].in.n; i++) {
            vid u = m->arg[m->node[n].in.at + i];
            by = from[u] && !is_passed_on(m, n, i) ? from[u] : by;
            varies = varies || k->of->varies[u];
        }
        if (by && varies && needed[n])
            refuse_maybe(k, n, by);
        for (uint32_t i = 0; by && i < m->node[n].out.n; i++)
            from[m->arg[m->node[n].out.at + i]] = by;
        from[0] = 0;
    }
}

struct counters counters_find(const struct counter_search *of, struct arena *a)
{
    const struct module *m = of->m;
    struct counters to = {
        .of = arena_array(a, (size_t)m->graph[1].out.n + of->t->nnext + 1, sizeof *to.of)};
    struct find k = {.of = of, .m = m, .to = &to, .a = a, .own = arena_new(a)};
    k.next_of = arena_array(k.own, m->nval, sizeof *k.next_of);
    k.is_next = arena_alloc(k.own, m->nval);
    k.stays = arena_alloc(k.own, m->nval);
    k.maybe = arena_array(k.own, m->nval, sizeof *k.maybe);
    k.is_maybe = arena_alloc(k.own, m->nval);
    k.seen = arena_array(k.own, m->nval, sizeof *k.seen);
    k.stack = arena_array(k.own, (size_t)m->nval + 1, sizeof *k.stack);
    k.left = SEARCHES * ((uint64_t)m->nval + 1);
    add_all_said(&k);
    if (!to.why)
        find_named(&k);
    if (!to.why)
        find_unnamed(&k);
    if (!to.why)
        check_others(&k);
    arena_free(k.own);
    return to;
}
