/* Parts that end where transfers are (parts.h).
 *
 * On each device, in the order of the plan, a new part begins before the first node that reads a value of another
 * device or of the host, and behind a node whose result is read elsewhere.  So a part has nothing more to wait for
 * once it runs, and gives its results when they are made: the parts take a sample as long as the nodes do, unless a
 * node waits within a part: where transfers block computing, or for those of the moment at which a node that takes no
 * time could start.
 *
 * Parts are numbered by their first nodes in an order in which all nodes can run.  That is legal for parts, too: only
 * the first node of one reads from others, only the last one is read by others.  Nodes that must be in one part
 * (atoms.h) are not cut apart, with all that stands between them on the device; where parts wait for each other then,
 * there is no such cut.  O((nodes + pins) log nodes). */
#include "ir/plan/order.h"
#include "ir/plan/parts.h"

struct walk_cuts {
    const struct scene *s;
    const int32_t *dev;
    const nid *walk;
    uint32_t n;
    uint32_t *at;            /* [node] its place on the walk */
    uint8_t *before, *after; /* [node] a part begins there; ends there */
};

static bool is_placed(const struct walk_cuts *c, nid n)
{
    return n && c->s->place->kind[n] == PLACE_NODE;
}

/* Marks where net e comes in and goes out.  first[dev]: scratch, all 0, and left so. */
static void cut_net(struct walk_cuts *c, uint32_t e, nid *first)
{
    const struct place *p = c->s->place;
    const nid *pin = p->net_pin.to + p->net_pin.at[e];
    uint32_t n = p->net_pin.at[e + 1] - p->net_pin.at[e];
    nid def = c->s->m->value[p->net_value[e]].def;
    bool made = is_placed(c, def);
    if (!made && !p->net_host[e])
        return; /* state: already on its device */
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

/* [node] the last node of its atom on the walk; itself where it is alone. */
static const nid *atom_ends(const struct walk_cuts *c, struct arena *a)
{
    const struct place *p = c->s->place;
    nid *last = arena_array(a, c->s->m->nnode, sizeof *last); /* [first node of an atom] */
    nid *end = arena_array(a, c->s->m->nnode, sizeof *end);
    for (uint32_t i = 0; i < c->n; i++)
        last[p->atom ? p->atom[c->walk[i]] : c->walk[i]] = c->walk[i];
    for (uint32_t i = 0; i < c->n; i++)
        end[c->walk[i]] = last[p->atom ? p->atom[c->walk[i]] : c->walk[i]];
    return end;
}

/* The open part of a device: the next node of the device may join it. */
struct open_part {
    uint32_t part; /* + 1; 0: none yet */
    /* a result of the part is read on another device: further nodes join only if `held` demands it */
    bool ended;
    /* nodes up to this place on the walk must join: the last node of an atom is there */
    uint32_t held;
};

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

/* Whether no part reads from a later one. */
static bool is_legal(const struct walk_cuts *c, const struct pieces *k)
{
    const struct place *p = c->s->place;
    for (uint32_t e = 0; e < p->nnet; e++) {
        nid def = c->s->m->value[p->net_value[e]].def;
        for (uint32_t i = p->net_pin.at[e]; is_placed(c, def) && i < p->net_pin.at[e + 1]; i++)
            if (k->piece[p->net_pin.to[i]] < k->piece[def])
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
    k.dev = arena_array(a, (size_t)c.n + 1, sizeof *k.dev);
    c.at = arena_array(own, s->m->nnode, sizeof *c.at);
    c.before = arena_alloc(own, s->m->nnode);
    c.after = arena_alloc(own, s->m->nnode);
    nid *first = arena_array(own, (size_t)s->cluster->ndev + 1, sizeof *first);
    for (uint32_t i = 0; c.walk && i < c.n; i++)
        c.at[c.walk[i]] = i;
    for (uint32_t e = 0; c.walk && e < s->place->nnet; e++)
        cut_net(&c, e, first);
    if (c.walk)
        number_parts(&c, &k, own);
    bool legal = c.walk && is_legal(&c, &k);
    arena_free(own);
    return legal ? parts_of_pieces(s, &k, a) : NULL;
}
