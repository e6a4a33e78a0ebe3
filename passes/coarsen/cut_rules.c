/* Finds the edges that the user wants to be cut, or not to be cut, by the paths of their nodes (cut_rules.h).
 *
 * An edge leads from a placed node to a placed node that reads a result of it.  --cut-at=REGEX is about the edges
 * from a node that matches to a node that does not match: so a cut comes behind whatever matches, a node or a
 * layer.  --no-cut=REGEX is about the edges between two nodes that match: nodes that match and are connected stay
 * together, but two matching layers without an edge between them may be parted.  Left out are edges that the model
 * itself decides: a Shape is where its operand is made, whoever reads it; in a training graph --cut-at is about
 * edges of the forward pass, since the backward pass of a stage runs where its forward pass does.
 *
 * The nodes of an edge that is to be cut become `apart` vertices (wdag.h), which planners keep on different devices;
 * contract joins the nodes of the edges that are to stay whole. */
#include "passes/coarsen/cut_rules.h"

#include "ir/base/union_find.h"
#include "passes/functions/patterns.h"

/* State of reading the rules --cut-at and --no-cut: the edges found so far. */
struct ruling {
    struct ctx *x;
    const uint8_t *follows; /* [node] 1: a Shape (place_follows) */
    struct classes must;    /* classes of vertices that share a device in every plan */
    struct classes whole;   /* the vertices that --no-cut keeps together, as classes */
    struct ruled_edge *edge;
    uint32_t n, cap;
};

/* Returns the name of the option that asks for a cut (cut is true) or forbids a cut. */
static const char *option_of(bool cut)
{
    return cut ? "--cut-at" : "--no-cut";
}

/* Returns the classes of vertices that share a device in every plan. */
static struct classes find_must(const struct ctx *x)
{
    const struct wdag *g = x->levels.base;
    const struct place *p = x->scene.place;
    struct classes c = classes_new(x->use.scratch, g->n);
    uint32_t *group = arena_array(x->use.scratch, (size_t)g->n + 1, sizeof *group);
    for (uint32_t i = 0; i < p->nsame; i++)
        classes_join(&c, g->vertex[p->same[i].a], g->vertex[p->same[i].b], 0);
    for (uint32_t v = 0; x->scene.m->color && v < g->n; v++)
        group[v] = x->scene.m->color[g->node[v]];
    classes_join_groups(&c, group, 0, x->use.scratch);
    return c;
}

/* Whether a rule may decide about the edge from vertex u to w.  A rule may not where the model itself decides (head
 * of this file).  cut: the rule is a --cut-at. */
static bool is_free(struct ruling *r, uint32_t u, uint32_t w, bool cut)
{
    const struct wdag *g = r->x->levels.base;
    const uint8_t *backward = r->x->scene.m->backward;
    if (!cut)
        return !r->follows[g->node[u]];
    return classes_find(&r->must, u) != classes_find(&r->must, w) &&
           (!backward || (!backward[g->node[u]] && !backward[g->node[w]]));
}

/* Adds the edges that the rule is about to r->edge; in[node]: 1: the rule's pattern matches the node.  Joins the ends
 * of edges that must not be cut in r->whole. */
static void add_edges(struct ruling *r, const struct cut_rule *rule, const uint8_t *in)
{
    const struct wdag *g = r->x->levels.base;
    for (uint32_t u = 0; u < g->n; u++)
        for_row (w, g->succ, u) {
            /* an edge to be cut leaves the nodes that match; an edge to be kept is between two of them */
            if (!in[g->node[u]] || !in[g->node[w]] != rule->cut || !is_free(r, u, w, rule->cut))
                continue;
            r->edge = vec_grow(r->x->use.mem, r->edge, &r->cap, r->n + 1, sizeof *r->edge);
            r->edge[r->n++] = (struct ruled_edge){g->node[u], g->node[w], rule->pattern, rule->cut};
            if (!rule->cut)
                classes_join(&r->whole, u, w, 0);
        }
}

/* Adds the edges of one rule, or warns that there are none.  Returns 0, or -1 after an error. */
static int read_rule(struct ruling *r, const struct cut_rule *rule)
{
    const struct ctx *x = r->x;
    char why[PATTERN_WHY];
    const char *option = option_of(rule->cut);
    uint32_t hits = 0, before = r->n;
    struct arena *own = arena_new(x->use.scratch);
    const struct regex *re = pattern_compile(rule->pattern, own, why);
    if (re)
        add_edges(r, rule, pattern_nodes(re, x, r->follows, own, &hits));
    arena_free(own);
    if (!re)
        return diag_error(x->use.diag, "%s '%.200s': not a regular expression: %s", option,
                          rule->pattern, why);
    if (r->n == before)
        diag_warning(x->use.diag, WARN_UNMATCHED_PATTERN, "%s '%s' matches %s", option,
                     rule->pattern,
                     !hits       ? "no node that is placed"
                     : rule->cut ? "nodes, but no edge from them to other nodes can be cut"
                                 : "nodes, but none of them reads from another");
    return 0;
}

/* Returns the pattern of the first --no-cut that keeps an edge of vertex v's class in r->whole uncut; "": none
 * does. */
static const char *pattern_around(struct ruling *r, uint32_t v)
{
    const uint32_t *vertex = r->x->levels.base->vertex;
    for (uint32_t i = 0; i < r->n; i++)
        if (!r->edge[i].cut &&
            classes_find(&r->whole, vertex[r->edge[i].from]) == classes_find(&r->whole, v))
            return r->edge[i].pattern;
    return "";
}

/* Returns the text "REGEX=DEVICE" of the --pin that pins vertex v to its device. */
static const char *pin_text(const struct ctx *x, uint32_t v)
{
    const struct settings *s = ctx_settings(x);
    const struct wdag *g = x->levels.base;
    const struct pin *found = NULL;
    struct arena *own = arena_new(x->use.scratch);
    char why[PATTERN_WHY];
    /* of the pins to that device, the first whose pattern matches the node itself; if no pattern does (one matches a
     * call around the node), the last of these pins */
    for (uint32_t k = s->npins; k-- > 0;) {
        const struct regex *re = pattern_compile(s->pins[k].pattern, own, why);
        if (cluster_device(x->scene.cluster, s->pins[k].device) == g->pin[v] &&
            (!found || (re && pattern_matches_node(re, x->scene.m, g->node[v], own))))
            found = &s->pins[k];
    }
    arena_free(own);
    return found ? arena_fmt(x->use.scratch, "%s=%s", found->pattern, found->device) : "";
}

/* Checks that no edge to be cut is kept whole by --no-cut, or has both ends pinned to one device.  Returns 0, or -1
 * after an error. */
static int check_cut(struct ruling *r)
{
    const struct ctx *x = r->x;
    const struct wdag *g = x->levels.base;
    for (uint32_t i = 0; i < r->n; i++) {
        const struct ruled_edge *e = &r->edge[i];
        uint32_t u = g->vertex[e->from], w = g->vertex[e->to];
        const char *from = node_name(x->scene.m, e->from), *to = node_name(x->scene.m, e->to);
        if (e->cut && classes_find(&r->whole, u) == classes_find(&r->whole, w))
            return diag_error(x->use.diag,
                              "--cut-at=%s and --no-cut=%s contradict each other: between '%s' "
                              "and '%s'",
                              e->pattern, pattern_around(r, u), from, to);
        if (e->cut && g->pin[u] >= 0 && g->pin[u] == g->pin[w])
            return diag_error(x->use.diag,
                              "--cut-at=%s and --pin '%s' contradict each other: '%s' and '%s' "
                              "would be on one device",
                              e->pattern, pin_text(x, u), from, to);
    }
    return 0;
}

/* Checks that --no-cut keeps no vertices together that are pinned to different devices.  Returns 0, or -1 after an
 * error. */
static int check_whole(struct ruling *r)
{
    const struct ctx *x = r->x;
    const struct wdag *g = x->levels.base;
    /* [root of a class] 1 + the first vertex of the class that is pinned; 0: none */
    uint32_t *first = arena_array(x->use.scratch, (size_t)g->n + 1, sizeof *first);
    for (uint32_t v = 0; v < g->n; v++) {
        uint32_t root = classes_find(&r->whole, v);
        uint32_t u = first[root] ? first[root] - 1 : v;
        if (g->pin[v] < 0)
            continue;
        first[root] = u + 1;
        if (g->pin[u] != g->pin[v])
            return diag_error(x->use.diag,
                              "--no-cut=%s and --pin '%s', '%s' contradict each other: '%s' and "
                              "'%s' would be on two devices",
                              pattern_around(r, v), pin_text(x, u), pin_text(x, v),
                              node_name(x->scene.m, g->node[u]), node_name(x->scene.m, g->node[v]));
    }
    return 0;
}

/* Fills `apart` of the base level and, if that is another level, of the top level from the edges to be cut in
 * scene.place->ruled. */
static void note_apart(struct ctx *x)
{
    struct wdag *g = x->levels.base, *top = x->levels.top;
    const struct place *p = x->scene.place;
    struct pairs apart = pairs_new(x->use.mem, p->nruled), of_top;
    for (uint32_t i = 0; i < p->nruled; i++) {
        uint32_t u = g->vertex[p->ruled[i].from], w = g->vertex[p->ruled[i].to];
        if (!p->ruled[i].cut)
            continue;
        pairs_add(&apart, u, w); /* in both directions, as wdag_set_apart() wants them */
        pairs_add(&apart, w, u);
    }
    g->apart = (struct csr){0};
    if (apart.n)
        wdag_set_apart(g, &apart);
    if (top == g)
        return;
    of_top = pairs_new(x->use.mem, apart.n);
    for (uint32_t i = 0; i < apart.n; i++)
        pairs_add(&of_top, top->map[apart.from[i]], top->map[apart.to[i]]);
    top->apart = (struct csr){0};
    if (apart.n)
        wdag_set_apart(top, &of_top);
}

int cut_rules_apply(struct ctx *x)
{
    const struct settings *s = ctx_settings(x);
    const struct wdag *g = x->levels.base;
    struct ruling r = {.x = x};
    if (!s->ncuts)
        return 0;
    r.follows = place_follows(x->scene.m, x->scene.place, x->use.scratch);
    r.must = find_must(x);
    r.whole = classes_new(x->use.scratch, g->n);
    for (uint32_t i = 0; i < s->ncuts; i++)
        if (read_rule(&r, &s->cuts[i]))
            return -1;
    x->results.misused = check_cut(&r) || check_whole(&r);
    if (x->results.misused)
        return -1;
    x->scene.place->ruled = r.edge;
    x->scene.place->nruled = r.n;
    note_apart(x);
    return 0;
}
