/* Plans of any shape that take the same time in fewer parts (gather_parts.h).
 *
 * Parts, small ones first, are moved whole to a device that a neighbouring part is on; a move stays if the parts,
 * worked out anew, are fewer, or as many with fewer tensors between them, and the plan takes no longer.
 *
 * Cost: O(nodes + pins) for each move tried, TIDY_WORK in all, and no more than TIDY_LATE ns once
 * the planner's time is up. */
#include "passes/any_shape/gather_parts.h"

#include "passes/problem/gather.h"
#include "ir/base/keyed.h"
#include "ir/plan/pieces.h"

#include <string.h>

/* The parts of a plan of any shape. */
struct parts {
    uint32_t n;       /* number of parts */
    uint32_t tensors; /* number of values that cross from part to part */
    uint32_t *piece;  /* [node] the node's part */
    int32_t *dev;     /* [part] the part's device */
};

/* Returns the parts of the plan dev[vertex of s->any].  O(nodes + pins). */
static struct parts parts_of(struct any_search *s, const int32_t *dev)
{
    struct ctx *x = s->x;
    const struct place *p = x->scene.place;
    const int32_t *node_dev = plan_project(s->any->g, dev, x->scene.m->nnode, x->use.scratch);
    struct parts t = {.piece = arena_array(x->use.scratch, x->scene.m->nnode, sizeof *t.piece)};
    t.n = pieces_build(&x->scene, node_dev, t.piece, &t.dev, x->use.scratch);
    for (uint32_t e = 0; e < p->nnet; e++) {
        nid def = x->scene.m->value[p->net_value[e]].def;
        bool crosses = false;
        if (!def || p->kind[def] != PLACE_NODE)
            continue; /* no placed node makes the value, so no part does */
        for_row (pin, p->net_pin, e)
            crosses = crosses || t.piece[pin] != t.piece[def];
        t.tensors += crosses;
    }
    return t;
}

/* The state of tidy_parts(). */
struct part_gatherer {
    struct any_search *s;
    struct loads l;          /* the loads of the present plan */
    struct parts parts;      /* the parts of the present plan */
    struct tidy_limits most; /* limits of load and memory for the changed plan */
    uint64_t work;           /* number of looks at nodes and pins that may still be made */
    struct clock late;       /* for is_late(); without a deadline until the planner's time is up */
};

/* Accepts the plan g->l.dev if it has fewer parts than g->parts, or as many with fewer tensors between them, and
 * takes no longer: sets g->parts and s->best.value.  Returns whether it was accepted. */
static bool take_parts(struct part_gatherer *g)
{
    struct any_search *s = g->s;
    const struct loads *l = &g->l;
    struct parts *t = &g->parts;
    struct arena *a = s->x->use.scratch;
    struct arena_mark mark = arena_mark(a);
    struct parts now = parts_of(s, l->dev);
    int64_t value = loads_value(l);
    bool good = now.n < t->n || (now.n == t->n && now.tensors < t->tensors);
    if (good && (s->x->scene.model.part_cost || s->any->values)) {
        value = any_price(s, s->any, value, l->dev, NULL);
        good = value <= s->best.value;
    }
    if (good) {
        s->best.value = value;
        t->n = now.n;
        t->tensors = now.tensors;
        memcpy(t->piece, now.piece, s->x->scene.m->nnode * sizeof *t->piece);
        memcpy(t->dev, now.dev, now.n * sizeof *t->dev);
    }
    arena_release(a, mark);
    return good;
}

/* Returns the vertices of each part, one row for each part.  A vertex with nodes in several parts is in the row of
 * one of these parts. */
static struct csr vertices_of(struct any_search *s, const struct parts *t)
{
    struct ctx *x = s->x;
    const uint32_t *up = wdag_flatten(s->any->g, x->use.scratch);
    uint32_t n = s->any->g->n, *part = arena_array(x->use.scratch, (size_t)n + 1, sizeof *part);
    for (uint32_t b = x->levels.base->n; b-- > 0;)
        part[up[b]] = t->piece[x->levels.base->node[b]];
    return csr_build(x->use.scratch, t->n, n, part, NULL);
}

/* Moves the vertices of a part to device `to`.  Returns false, and changes nothing, if the part has no vertices, the
 * move exceeds the limits, or the new plan is not accepted (take_parts).  of: vertices_of(). */
static bool move_part(struct part_gatherer *g, const struct csr *of, uint32_t part, int32_t to)
{
    struct loads *l = &g->l;
    uint32_t first = of->at[part], end = of->at[part + 1];
    int32_t from = g->parts.dev[part];
    bool good = first < end;
    for (uint32_t i = first; good && i < end; i++)
        good = loads_allows(l, of->to[i], (uint32_t)to) && l->dev[of->to[i]] == from;
    if (!good)
        return false;
    for (uint32_t i = first; i < end; i++)
        loads_move(l, of->to[i], to);
    for (uint32_t d = 0; d < l->ndev && good; d++)
        good = l->load[d] <= g->most.load && l->back[d] <= g->most.back && !loads_excess(l, d);
    good = good && take_parts(g);
    for (uint32_t i = first; !good && i < end; i++)
        loads_move(l, of->to[i], from);
    return good;
}

/* Whether TIDY_LATE ns have passed since the planner's time was found to be up. */
static bool is_late(struct part_gatherer *g)
{
    if (!clock_out(&g->s->p->clock))
        return false;
    if (!g->late.deadline)
        clock_limit(&g->late, TIDY_LATE);
    return clock_out(&g->late);
}

/* Makes one move that improves the plan, trying the smallest parts first.  Returns false if there is none, or the
 * work or the time is used up. */
static bool move_some_part(struct part_gatherer *g)
{
    struct any_search *s = g->s;
    const struct loads *l = &g->l;
    const struct parts *t = &g->parts;
    struct arena *a = s->x->use.scratch;
    struct csr of = vertices_of(s, t);
    struct keyed *small = arena_array(a, (size_t)t->n + 1, sizeof *small);
    /* the steps that one call of move_part() counts for: the call evaluates a plan of the whole base level */
    uint64_t each =
        s->x->levels.base->n + s->x->scene.place->net_pin.at[s->x->scene.place->nnet] + 1;
    for (uint32_t i = 0; i < t->n; i++) {
        small[i].item = i;
        for_row (v, of, i)
            small[i].key += l->c->kind[l->kind[t->dev[i]]].time[v];
    }
    keyed_sort(small, t->n);
    for (uint32_t i = 0; i < t->n; i++)
        for (uint32_t d = 0; d < l->ndev; d++) {
            uint32_t part = small[i].item;
            bool beside = false; /* a neighbour of a vertex of the part is on device d */
            for (uint32_t k = of.at[part]; k < of.at[part + 1] && !beside; k++)
                beside = tidy_near(l, of.to[k], d);
            if (!beside || (int32_t)d == t->dev[part])
                continue;
            if (g->work < each || is_late(g))
                return false;
            g->work -= each;
            if (move_part(g, &of, part, (int32_t)d))
                return true;
        }
    return false;
}

void tidy_parts(struct any_search *s)
{
    struct arena *a = s->x->use.scratch;
    struct arena_mark mark = arena_mark(a);
    struct diag quiet = diag_silent();
    struct part_gatherer g = {.s = s, .work = TIDY_WORK};
    /* devices that take turns are left alone; loads_new() fails if the graph is too large */
    if (!s->best.copies && !loads_new(&g.l, s->any, /*planner=*/"", a, &quiet)) {
        loads_set(&g.l, s->best.dev);
        g.most = tidy_limits(&g.l);
        g.parts = parts_of(s, g.l.dev);
        for (bool moved = true; moved;) {
            struct arena_mark each = arena_mark(a);
            moved = move_some_part(&g);
            arena_release(a, each);
        }
        memcpy(s->best.dev, g.l.dev, s->any->g->n * sizeof *s->best.dev);
    }
    arena_release(a, mark);
}
