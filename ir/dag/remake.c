/* Makes forward nodes again before the backward pass (remake.h).
 *
 * Source: Chen et al., "Training Deep Nets with Sublinear Memory Cost" (arXiv 1604.06174); GPipe (arXiv 1811.06965),
 * 2.3, keeps only the input of each stage.  Nodes are numbered topologically.  A walk from the last node to the first
 * marks the nodes to be made again, each with the first backward node that needs it, directly or through other nodes
 * made again.  A walk forward then copies each marked node before that backward node, so that its result is alive as
 * late as can be.
 *
 * A node that must not run twice keeps its results: an operator that draws random numbers would draw different
 * numbers, also with a seed (a runtime continues the sequence of a seed from run to run), and what functions, bodies
 * and operators of other domains do is not known.  Constants and shape arithmetic are copied into every part anyway
 * (placeable.h), and results of Shape and Size are small: these are kept, too.  A value that a body reads is also
 * kept, since only operands are replaced. */
#include "ir/dag/remake.h"

#include "ir/model/edit.h"

#include <assert.h>
#include <string.h>

/* State of remake(). */
struct remaking {
    struct module *m;
    const struct remake_rule *rule;
    struct edit *e;
    /* [node] the first backward node that needs the node's copy; 0: the node is not made again */
    nid *before;
    nid *copy;     /* [node] the copy of the node; 0: none */
    uint8_t *seen; /* [node] 1: counted in made.spared */
    nid spared;    /* the first node counted in made.spared; 0: none */
    struct remade made;
};

/* Whether n is a backward node whose operands may be copies; dead backward nodes read the originals. */
static bool may_read_copies(const struct remaking *x, nid n)
{
    return x->m->backward[n] && x->rule->place->kind[n] != PLACE_NONE;
}

/* Whether the forward node d is placed and in a segment. */
static bool is_in_segment(const struct remaking *x, nid d)
{
    return d != 0 && x->rule->place->kind[d] == PLACE_NODE && !x->m->backward[d] &&
           x->rule->segment[d] >= 0;
}

/* Returns the node that makes operand i of `reader` if the node may be made again and the reader may read the copy;
 * else 0. Counts the node in made.spared, once, if it is left out only because it must not run twice. */
static nid maker_again(struct remaking *x, nid reader, uint32_t i)
{
    const struct module *m = x->m;
    const struct remake_rule *r = x->rule;
    vid v = node_in(m, reader, i);
    nid d = v != 0 ? m->value[v].def : 0;
    /* same: the reader reads copies of its own segment only */
    bool same = !m->backward[reader] || r->within;
    if (!is_in_segment(x, d) || (r->kept != NULL && r->kept[v] != 0) ||
        (same && r->segment[reader] != r->segment[d]) || node_is(m, d, "Shape") ||
        node_is(m, d, "Size"))
        return 0;
    if (place_is_pure(m, d))
        return d;
    /* d must not run twice; x->spared is the first such node */
    if (!x->seen[d])
        x->made.spared++;
    x->seen[d] = 1;
    if (x->spared == 0 || d < x->spared)
        x->spared = d;
    return 0;
}

/* Fills before[] and counts the nodes to be copied. */
static void mark_nodes(struct remaking *x)
{
    const struct graph *g = &x->m->graph[1];
    for (nid n = g->first + g->count; n-- > g->first;) {
        /* the node before which copies of the makers of n's operands stand: n itself if n will read copies; the place
         * of n's own copy if n is made again; 0: neither */
        nid at = may_read_copies(x, n) ? n : x->before[n];
        if (!x->m->backward[n] && at != 0)
            x->made.copies++;
        for (uint32_t i = 0; at != 0 && i < x->m->node[n].nformal; i++) {
            nid d = maker_again(x, n, i);
            if (d != 0 && (x->before[d] == 0 || at < x->before[d]))
                x->before[d] = at;
        }
    }
}

/* Replaces operands of `now`, which is node n or the copy of n, by the results of copies where there are copies that
 * it may read. */
static void read_copies(struct remaking *x, nid n, nid now)
{
    struct module *m = x->m;
    for (uint32_t i = 0; i < m->node[n].nformal; i++) {
        nid d = maker_again(x, n, i);
        if (d != 0 && x->copy[d] != 0)
            edit_set_operand(x->e, now, i,
                             node_out(m, x->copy[d], m->value[node_in(m, n, i)].outno));
    }
}

/* Copies node n to the place before the backward node before[n], names the copy and its results "..._again", notes n
 * in its metadata, and lets it read copies. */
static void copy_node(struct remaking *x, nid n, struct arena *a)
{
    struct module *m = x->m;
    nid c = edit_copy(x->e, n);
    x->copy[n] = c;
    edit_put_before(x->e, c, x->before[n]);
    edit_name_node(x->e, c, arena_fmt(a, "%s_again", node_name(m, n)));
    edit_set_meta(x->e, c, META_RECOMPUTES, node_name(m, n));
    for (uint32_t i = 0; i < m->node[n].out.n; i++) {
        vid v = node_out(m, c, i);
        if (v != 0 && m->value[v].name != 0)
            edit_name_value(x->e, v, arena_fmt(a, "%s_again", value_name(m, node_out(m, n, i))));
    }
    read_copies(x, n, c);
}

/* Ends the edit; fills made.origin and marks the copies as backward nodes.  nnode0: m->nnode before the edit. */
static void end_edit(struct remaking *x, uint32_t nnode0, struct arena *a)
{
    struct module *m = x->m;
    const nid *now = edit_end(x->e);
    x->made.origin = arena_array(a, m->nnode, sizeof *x->made.origin);
    for (nid n = 1; n < nnode0; n++) {
        x->made.origin[now[n]] = n;
        if (x->copy[n] == 0)
            continue;
        x->made.origin[now[x->copy[n]]] = n;
        m->backward[now[x->copy[n]]] = 1;
    }
}

struct remade remake(struct module *m, const struct remake_rule *rule, struct arena *a)
{
    const struct graph *g = &m->graph[1];
    const uint32_t first = g->first, count = g->count, nnode0 = m->nnode;
    struct remaking x = {.m = m, .rule = rule};
    assert(m->backward != NULL);
    x.before = arena_array(a, m->nnode, sizeof *x.before);
    x.copy = arena_array(a, m->nnode, sizeof *x.copy);
    x.seen = arena_alloc(a, m->nnode);
    mark_nodes(&x);
    x.made.first_spared = x.spared != 0 ? m->node[x.spared].name : 0;
    if (x.made.copies == 0)
        return x.made;
    x.e = edit_begin(m, a);
    for (nid n = first; n < first + count; n++) {
        if (x.before[n] != 0)
            copy_node(&x, n, a);
        else if (may_read_copies(&x, n))
            read_copies(&x, n, n);
    }
    end_edit(&x, nnode0, a);
    return x.made;
}
