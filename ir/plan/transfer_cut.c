/* Cuts a plan into parts that begin and end where transfers do: parts_by_transfers() in parts.h.
 *
 * On each device, in the order of the plan, a new part begins before the first node that reads a value from another
 * device or the host, and after a node whose result another device or the host needs.  So a running part waits for
 * nothing more, and its results leave as soon as they are made: running the parts takes as long for a sample as
 * running the single nodes.  There are two exceptions: transfers that block computing, and nodes that take no time,
 * which may wait for other events of the same moment.
 *
 * Parts are numbered by their first nodes in an order in which all nodes can run (plan_walk()).  In this order the
 * parts can run, too: only the first node of a part reads from other parts, and only its last node is read by other
 * parts.  Nodes of an atom (atoms.h), and all nodes between them on the device, stay in one part.  If parts wait for
 * each other because of that, there is no such cut.  O((nodes + pins) log nodes). */
#include "ir/plan/order.h"
#include "ir/plan/parts.h"

/* Where parts_by_transfers() cuts the walk over all nodes. */
struct walk_cuts {
    const struct scene *s;
    const int32_t *dev; /* [node] device */
    const nid *walk;    /* [n] all placed nodes, as from plan_walk() */
    uint32_t n;
    uint32_t *at; /* [node] index of the node in walk[] */
    /* [node] 1, before: a part must begin with the node; after: a part must end with the node */
    uint8_t *before, *after;
};

/* Whether n is a placed node; n may be 0 (no node). */
static bool is_placed(const struct walk_cuts *c, nid n)
{
    return n && c->s->place->kind[n] == PLACE_NODE;
}

/* Sets before[] of the first reader of net e on each device that receives the value, and after[] of its maker if the
 * value leaves the maker's device.  first: [device] scratch, all 0 at the beginning and at the end. */
static void mark_cuts(struct walk_cuts *c, uint32_t e, nid *first)
{
    const struct place *p = c->s->place;
    const nid *pin = p->net_pin.to + p->net_pin.at[e];
    uint32_t n = p->net_pin.at[e + 1] - p->net_pin.at[e];
    nid def = c->s->m->value[p->net_value[e]].def;
    bool made = is_placed(c, def);
    if (!made && !p->net_host[e])
        return; /* the value is a state that its device keeps, so there is no transfer */
    for (uint32_t i = 0; i < n; i++) {
        nid *f = &first[c->dev[pin[i]]];
        if (!*f || c->at[pin[i]] < c->at[*f])
            *f = pin[i];
    }
    for (uint32_t i = 0; i < n; i++) {
        nid *f = &first[c->dev[pin[i]]];
        bool away = !made || c->dev[pin[i]] != c->dev[def];
        if (*f && away)
            c->before[*f] = 1;
        if (made && (away || p->net_host[e]))
            c->after[def] = 1;
        *f = 0;
    }
}

/* Returns an array: [node] the node of its atom that is last in walk[]; a node without an atom: the node itself. */
static const nid *atom_ends(const struct walk_cuts *c, struct arena *a)
{
    const struct place *p = c->s->place;
    /* [first node of an atom] the atom's last node in walk[] */
    nid *last = arena_array(a, c->s->m->nnode, sizeof *last);
    nid *end = arena_array(a, c->s->m->nnode, sizeof *end);
    for (uint32_t i = 0; i < c->n; i++)
        last[p->atom ? p->atom[c->walk[i]] : c->walk[i]] = c->walk[i];
    for (uint32_t i = 0; i < c->n; i++)
        end[c->walk[i]] = last[p->atom ? p->atom[c->walk[i]] : c->walk[i]];
    return end;
}

/* The latest part of a device, which the next node of the device may join. */
struct open_part {
    uint32_t part; /* 1 + number of the part; 0: the device has no part yet */
    /* a node with after[] is in the part: another node joins the part only if `held` demands that */
    bool ended;
    /* nodes up to this index in walk[] must join, since the last node of an atom is there */
    uint32_t held;
};

/* Fills *k with the pieces: walks over the nodes and begins a new piece of a device where before[] and after[] demand
 * it. */
static void number_parts(const struct walk_cuts *c, struct pieces *k, struct arena *a)
{
    struct open_part *open = arena_array(a, (size_t)c->s->cluster->ndev + 1, sizeof *open);
    const nid *end = atom_ends(c, a);
    for (uint32_t i = 0; i < c->n; i++) {
        nid v = c->walk[i];
        struct open_part *o = &open[c->dev[v]];
        if (!o->part || ((o->ended || c->before[v]) && i > o->held)) {
            o->part = ++k->n;
            k->dev[k->n - 1] = c->dev[v];
            o->ended = false;
        }
        k->piece[v] = o->part - 1;
        o->ended = o->ended || c->after[v];
        o->held = larger_u32(c->at[end[v]], o->held);
    }
}

/* Whether no part reads from a part with a larger number. */
static bool is_legal(const struct walk_cuts *c, const struct pieces *k)
{
    const struct place *p = c->s->place;
    for (uint32_t e = 0; e < p->nnet; e++) {
        nid def = c->s->m->value[p->net_value[e]].def;
        if (!is_placed(c, def))
            continue;
        for_row (reader, p->net_pin, e)
            if (k->piece[reader] < k->piece[def])
                return false;
    }
    return true;
}

struct parts *parts_by_transfers(const struct scene *s, const struct plan *p, struct arena *a)
{
    struct arena *own = arena_new(a);
    struct walk_cuts c = {.s = s, .dev = p->dev};
    struct pieces k = {.piece = arena_array(a, s->m->nnode, sizeof *k.piece)};
    c.walk = plan_walk(s, p, own, &c.n);
    if (!c.walk) { /* the devices wait for each other */
        arena_free(own);
        return NULL;
    }
    k.dev = arena_array(a, (size_t)c.n + 1, sizeof *k.dev);
    c.at = arena_array(own, s->m->nnode, sizeof *c.at);
    c.before = arena_alloc(own, s->m->nnode);
    c.after = arena_alloc(own, s->m->nnode);
    nid *first = arena_array(own, (size_t)s->cluster->ndev + 1, sizeof *first);
    for (uint32_t i = 0; i < c.n; i++)
        c.at[c.walk[i]] = i;
    for (uint32_t e = 0; e < s->place->nnet; e++)
        mark_cuts(&c, e, first);
    number_parts(&c, &k, own);
    bool legal = is_legal(&c, &k);
    arena_free(own);
    return legal ? parts_of_pieces(s, &k, a) : NULL;
}
