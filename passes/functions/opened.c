/* Opens calls for planning, and closes calls again whose nodes are all in one part (opened.h).
 *
 * The original model is kept beside the opened one.  To close some calls, inline_calls() runs on the original again and
 * leaves these calls as nodes.  Nodes come in the same order as before, so a walk over both modules side by side
 * finds, for each node of one module, the same node of the other.  Types and costs are copied; a closed call costs
 * what the nodes in its place cost together.  New names can end in another number than before, if names of the
 * model look like names of nodes inside calls. O(nodes + operands + depth of calls * uses of their results). */
#include "passes/functions/opened.h"

#include "ir/base/units.h"
#include "passes/functions/opened_calls.h"

#include <assert.h>

/* ---- opening ---- */

/* Returns the open calls of r->m, made of the sites of r, and adds to r->m the opsets that the new nodes need; NULL: no
 * call was opened.  from: the model before its calls were opened; f: its functions. */
static struct open_calls *take_sites(struct ctx *x, const struct module *from,
                                     const struct functions *f, struct inlined_module *r)
{
    struct open_calls *o = arena_alloc(x->scene.m->mem, sizeof *o);
    uint8_t *entered = arena_alloc(x->use.scratch, (size_t)f->n + 1);
    if (r->nsite == 1)
        return NULL;
    for (uint32_t s = 1; s < r->nsite; s++)
        entered[r->site[s].function] = 1;
    functions_import(&r->m, f, entered, x->use.scratch);
    r->m.rewritten = true;
    *o = (struct open_calls){*from, f, r->site, r->nsite, r->within};
    return o;
}

int64_t opened_make(struct ctx *x, struct inline_how how)
{
    assert(!x->results.opened);
    struct diag quiet = diag_silent();
    struct inlined_module r;
    how.names = how.main_only = true;
    if (inline_calls(x->scene.m, &how, x->scene.m->mem, x->use.scratch, &quiet, &r) != 0)
        return -1;
    struct open_calls *o = take_sites(x, x->scene.m, how.functions, &r);
    if (o == NULL)
        return 0;
    x->results.opened = o;
    *x->scene.m = r.m;
    return o->nsite - 1;
}

/* ---- finding calls that can be closed ---- */

/* What tally_sites() counts over the nodes of a site, including the nodes of calls inside it. */
struct tally {
    uint32_t needed; /* number of nodes that an output of the model depends on */
    /* smallest and largest number of a part that has placed nodes of the site; INT32_MAX, -1: no placed nodes */
    int32_t low, high;
    uint8_t forward, backward; /* 1: the site has placed nodes of that training pass */
};

/* Data for deciding whether a site can be closed. */
struct close_question {
    const struct ctx *x;
    const struct place *p;
    const struct parts *parts;
    struct map has;   /* map_key(part, value) -> 1: the part can read the value (note_parts) */
    struct csr users; /* value -> nodes that read it */
    uint8_t *follows; /* [node] 1: a Shape or Size that must be with the producer of its operand */
};

/* Returns the tally of each site, in a; entry 0: nodes of the main graph. */
static struct tally *tally_sites(const struct close_question *k, struct arena *a)
{
    const struct open_calls *o = k->x->results.opened;
    const struct module *m = k->x->scene.m;
    const struct graph *g = &m->graph[1];
    struct tally *tally = arena_array(a, o->nsite, sizeof *tally);
    for (uint32_t s = 0; s < o->nsite; s++)
        tally[s] = (struct tally){.low = INT32_MAX, .high = -1};
    for (nid n = g->first; n < g->first + g->count; n++) {
        int32_t part = k->parts->part_of[n];
        struct tally *t = &tally[o->within[n]];
        t->needed += k->p->kind[n] != PLACE_NONE;
        if (k->p->kind[n] != PLACE_NODE || k->follows[n])
            continue;
        bool back = m->backward != NULL && m->backward[n] != 0;
        t->backward |= back;
        t->forward |= !back;
        t->low = part < t->low ? part : t->low;
        t->high = part > t->high ? part : t->high;
    }
    for (uint32_t s = o->nsite; s-- > 1;) { /* sites inside a site have larger numbers */
        const struct tally *in = &tally[s];
        struct tally *t = &tally[o->site[s].parent];
        t->needed += in->needed;
        t->backward |= in->backward;
        t->forward |= in->forward;
        t->low = in->low < t->low ? in->low : t->low;
        t->high = in->high > t->high ? in->high : t->high;
    }
    return tally;
}

/* Whether v, a result of the call at site s, can be a result of the closed call.  No copy (PLACE_COPY) behind the
 * site may read v; and if a placed node behind the site reads v, or v is a model output, then the node that makes v
 * must be placed and must not follow its operand. */
static bool can_leave(const struct close_question *k, const struct site *s, vid v)
{
    const struct value *x = &k->x->scene.m->value[v];
    const uint32_t *user = k->users.to + k->users.at[v];
    uint32_t n = k->users.at[v + 1] - k->users.at[v];
    bool leaves = (x->flags & VALUE_OUTPUT) != 0;
    for (uint32_t i = count_below(user, n, s->end); i < n; i++) {
        if (k->p->kind[user[i]] == PLACE_COPY)
            return false;
        leaves = leaves || k->p->kind[user[i]] == PLACE_NODE;
    }
    return !leaves || (k->p->kind[x->def] == PLACE_NODE && !k->follows[x->def]);
}

/* Fills k->has with the values that each part can read without one of its placed nodes making them: its inputs, its
 * weights, and the results of its copies. */
static void note_parts(struct close_question *k, struct arena *a)
{
    const struct module *m = k->x->scene.m;
    for (uint32_t x = 0; x < k->parts->nparts; x++) {
        const struct part *t = &k->parts->part[x];
        for (uint32_t i = 0; i < t->nin; i++)
            map_set(&k->has, a, map_key(x, t->in[i]), 1);
        for (uint32_t i = 0; i < t->nweight; i++)
            map_set(&k->has, a, map_key(x, t->weight[i]), 1);
        for (uint32_t i = 0; i < t->ncopy; i++) {
            const struct slice out = m->node[t->copy[i]].out;
            for (uint32_t j = 0; j < out.n; j++)
                if (m->arg[out.at + j] != 0)
                    map_set(&k->has, a, map_key(x, m->arg[out.at + j]), 1);
        }
    }
}

/* Whether the part has value v: it is in k->has, or a node of the part makes it. */
static bool part_has(const struct close_question *k, int32_t part, vid v)
{
    nid def = k->x->scene.m->value[v].def;
    return map_get(&k->has, map_key((uint32_t)part, v)) != 0 ||
           (def != 0 && k->parts->part_of[def] == part);
}

/* Whether site s with tally t can be closed, as opened_closable() says. */
static bool is_closable(const struct close_question *k, const struct site *s, const struct tally *t)
{
    const vid *arg = k->x->scene.m->arg;
    if (t->needed == 0)
        return true;
    if (t->low != t->high || (t->forward && t->backward))
        return false;
    for (uint32_t i = 0; i < s->in.n; i++) {
        vid v = arg[s->in.at + i];
        if (v != 0 && !part_has(k, t->low, v))
            return false;
    }
    for (uint32_t i = 0; i < s->out.n; i++)
        if (arg[s->out.at + i] != 0 && !can_leave(k, s, arg[s->out.at + i]))
            return false;
    return true;
}

uint8_t *opened_closable(const struct ctx *x, const struct place *p, const struct parts *parts,
                         struct arena *a)
{
    assert(x->results.opened && parts->part_of);
    const struct open_calls *o = x->results.opened;
    struct close_question k = {.x = x, .p = p, .parts = parts};
    uint8_t *can = arena_alloc(a, o->nsite);
    note_parts(&k, a);
    k.users = module_users(x->scene.m, a);
    k.follows = place_follows(x->scene.m, p, a);
    const struct tally *t = tally_sites(&k, a);
    for (uint32_t s = 1; s < o->nsite; s++)
        can[s] = is_closable(&k, &o->site[s], &t[s]);
    return can;
}

/* ---- closing ---- */

/* State of is_still_open(): inline_calls() asks about calls in the order of the sites. */
struct walk {
    const struct open_calls *o;
    const uint8_t *closing; /* [site] 1: the call is to be closed */
    uint32_t next;          /* the site of the next call that was open */
};

/* For inline_how.enters (inliner.h): whether the call was open before and is not to be closed. */
static bool is_still_open(void *user, uint32_t in, nid call, sid name)
{
    struct walk *w = user;
    const struct site *s = &w->o->site[w->next];
    (void)name;
    if (w->next == w->o->nsite || s->call != call || w->o->site[s->parent].function != in)
        return false;
    bool open = w->closing[w->next] == 0;
    w->next = open ? w->next + 1 : s->after;
    return open;
}

/* Returns module `from`, the model before calls were opened, with all types and dimensions of `now`.  Types are only
 * ever added, so indices of types in `from` stay valid. */
static struct module with_types(const struct module *from, const struct module *now)
{
    struct module m = *from;
    m.type = now->type;
    m.ntype = now->ntype;
    m.dim = now->dim;
    m.ndim = now->ndim;
    return m;
}

/* A walk through two modules side by side: `old` with all open calls, `now` with some of them closed. */
struct sides {
    const struct module *old;
    struct module *now;
    nid *node;  /* [node of now] the same node of old */
    vid *value; /* [value of now] the same value of old */
    struct arena *a;
    struct {
        gid old, now;
    } *graph; /* [ngraph] pairs of bodies, whose nodes are paired after those of the main graphs */
    uint32_t ngraph, capgraph;
};

/* Notes that each value in list `now`, a slice of s->now->arg, is the same as the value at its place in list `old`,
 * a slice of s->old->arg that may be longer. */
static void pair_lists(struct sides *s, struct slice old, struct slice now)
{
    assert(old.n >= now.n);
    for (uint32_t i = 0; i < now.n; i++)
        s->value[s->now->arg[now.at + i]] = s->old->arg[old.at + i];
}

/* Adds a pair of bodies to s->graph. */
static void pair_bodies(struct sides *s, gid old, gid now)
{
    s->graph = vec_grow(s->a, s->graph, &s->capgraph, s->ngraph + 1, sizeof *s->graph);
    s->graph[s->ngraph].old = old;
    s->graph[s->ngraph++].now = now;
}

/* Notes that node `old` of s->old is node `now` of s->now; then pairs their results and their bodies, too. */
static void pair_nodes(struct sides *s, nid old, nid now)
{
    assert(old < s->old->nnode && now < s->now->nnode);
    const struct node *p = &s->old->node[old], *q = &s->now->node[now];
    s->node[now] = old;
    pair_lists(s, p->out, q->out);
    for (uint32_t i = 0; i < q->attr.n; i++) {
        const struct attr *a = &s->old->attr[p->attr.at + i], *b = &s->now->attr[q->attr.at + i];
        if (b->ref != 0)
            continue;
        if (b->kind == ATTR_GRAPH)
            pair_bodies(s, a->u.g, b->u.g);
        for (uint32_t k = 0; b->kind == ATTR_GRAPHS && k < b->u.list.n; k++)
            pair_bodies(s, s->old->refs[a->u.list.at + k], s->now->refs[b->u.list.at + k]);
    }
}

/* Pairs the nodes of the main graphs, and of the bodies in them.  Writes to site[node of s->now], for each closed
 * call, its site in o.  closing: [site] 1: the call is closed. */
static void pair_main(struct sides *s, const struct open_calls *o, const uint8_t *closing,
                      uint32_t *site)
{
    const struct graph *g = &s->now->graph[1];
    /* at: node n of s->now in s->old; if n is a closed call, the first node of the call's site */
    nid at = s->old->graph[1].first;
    uint32_t next = 1; /* the first site that does not begin before node `at` */
    for (nid n = g->first; n < g->first + g->count; n++) {
        while (next < o->nsite && o->site[next].first == at && !closing[next])
            next++; /* a call that stays open */
        if (next < o->nsite && o->site[next].first == at) {
            site[n] = next;
            pair_lists(s, o->site[next].out, s->now->node[n].out);
            at = o->site[next].end;
            next = o->site[next].after;
        } else {
            pair_nodes(s, at++, n);
        }
    }
    for (uint32_t i = 0; i < s->ngraph; i++) {
        const struct graph *p = &s->old->graph[s->graph[i].old];
        const struct graph *q = &s->now->graph[s->graph[i].now];
        pair_lists(s, p->in, q->in);
        pair_lists(s, p->init, q->init);
        for (uint32_t k = 0; k < q->count; k++)
            pair_nodes(s, p->first + k, q->first + k);
    }
}

/* Copies costs and types of values, costs and training passes of nodes, and what the costs say of estimated and unknown
 * sizes, from s->old to s->now. */
static void carry_over(const struct sides *s, struct arena *mem)
{
    const struct costs *old = s->old->cost;
    struct costs *c = s->now->cost = costs_new(s->now, mem, old->nclass);
    /* pass open-functions refuses a model with costs, so these costs were made by pcc's cost model, and have
     * overheads */
    assert(old->overhead);
    costs_add_overhead(c, s->now, mem);
    c->estimated = old->estimated;
    c->unsized = old->unsized;
    if (s->old->backward != NULL)
        s->now->backward = arena_alloc(mem, s->now->nnode);
    /* values and nodes without a partner in s->old take entry 0, whose costs are 0 */
    for (vid v = 1; v < s->now->nval; v++) {
        vid from = s->value[v];
        if (from != 0)
            s->now->value[v].type = s->old->value[from].type;
        c->bytes[v] = old->bytes[from];
        c->elems[v] = old->elems[from];
        c->xfer[v] = old->xfer[from];
        if (from != 0 && from == old->first_unsized)
            c->first_unsized = v;
    }
    for (nid n = 1; n < s->now->nnode; n++) {
        nid from = s->node[n];
        c->flops[n] = old->flops[from];
        c->traffic[n] = old->traffic[from];
        c->own[n] = old->own[from];
        for (uint32_t k = 0; k < c->nclass; k++) {
            c->time[k][n] = old->time[k][from];
            c->overhead[k][n] = costs_overhead(old, k, from);
        }
        if (s->old->backward != NULL)
            s->now->backward[n] = s->old->backward[from];
    }
}

/* Gives the closed call n the costs of all nodes of its site k, and their training pass.  p: placement of s->old. */
static void add_up(const struct sides *s, const struct place *p, const struct site *k, nid n)
{
    for (nid i = k->first; i < k->end; i++) {
        costs_add(s->now->cost, n, s->old->cost, i, p->kind[i] == PLACE_NODE);
        if (p->kind[i] == PLACE_NODE && s->old->backward != NULL)
            s->now->backward[n] |= s->old->backward[i];
    }
}

/* Adds to the bytes of each closed call the large constants that nodes inside it compute.  p: the placement of s->old;
 * site: [node of s->now] the site of a closed call, 0 for other nodes. */
static void add_constants(const struct sides *s, const struct place *p, const struct open_calls *o,
                          const uint32_t *site, struct arena *scratch)
{
    /* [site] the closed call, a node of s->now, that the site is in; 0: none */
    nid *call = arena_array(scratch, o->nsite, sizeof *call);
    struct costs *c = s->now->cost;
    for (nid n = 1; n < s->now->nnode; n++)
        call[site[n]] = n;
    call[0] = 0;
    for (uint32_t k = 1; k < o->nsite; k++)
        call[k] = call[k] != 0 ? call[k] : call[o->site[k].parent];
    for (uint32_t w = 0; w < p->nweight; w++) {
        nid def = s->old->value[p->weight[w]].def;
        nid n = def != 0 ? call[o->within[def]] : 0;
        if (n != 0)
            c->own[n] = sat_add(c->own[n], p->weight_bytes[w]);
    }
}

void opened_close(struct ctx *x, const struct place *p, const uint8_t *closing,
                  struct closed_module *out)
{
    assert(x->results.opened);
    const struct open_calls *o = x->results.opened;
    struct module from = with_types(&o->from, x->scene.m);
    struct walk walk = {.o = o, .closing = closing, .next = 1};
    struct inline_how how = {.functions = o->functions, .names = true, .main_only = true};
    how.enters = is_still_open;
    how.user = &walk;
    struct diag quiet = diag_silent();
    struct inlined_module r;
    /* cannot fail: it makes fewer new names than when the calls were opened */
    inline_calls(&from, &how, x->scene.m->mem, x->use.scratch, &quiet, &r);
    out->opened = take_sites(x, &o->from, o->functions, &r);
    out->m = r.m;
    out->node = arena_array(x->scene.m->mem, r.m.nnode, sizeof *out->node);
    out->site = arena_array(x->scene.m->mem, r.m.nnode, sizeof *out->site);
    struct sides s = {.old = x->scene.m, .now = &out->m, .node = out->node, .a = x->use.scratch};
    s.value = arena_array(x->use.scratch, r.m.nval, sizeof *s.value);
    for (vid v = 1; v < from.nval; v++)
        s.value[v] = v;
    pair_main(&s, o, closing, out->site);
    carry_over(&s, x->scene.m->mem);
    for (nid n = 1; n < out->m.nnode; n++)
        if (out->site[n] != 0)
            add_up(&s, p, &o->site[out->site[n]], n);
    add_constants(&s, p, o, out->site, x->use.scratch);
}
