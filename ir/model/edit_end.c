/* The end of an edit (edit.h): the module becomes whole again.
 *
 *  1. Dropped nodes take their bodies along; nodes and initializers that lost all readers go, after edit_sweep().
 *  2. Replacements are applied to operands and outputs.
 *  3. Captures are worked out from what bodies read.
 *  4. Each graph gets an order: that of its list if it is one, else the nearest one by a heap over the places in it.
 *     Nodes on a circle keep their places, and the verifier says so.
 *  5. Nodes and graphs are numbered anew, and all that is kept by node is moved.
 * O(nodes + values + operands * depth of bodies); a graph whose order has to be found: times log nodes. */
#include "ir/base/heap.h"
#include "ir/model/edit_state.h"

#include <assert.h>
#include <string.h>

struct end {
    struct edit *e;
    struct module *m;
    struct arena *a;
    bool *dead;         /* [graph] the body of a dropped node */
    nid *order;         /* live nodes, graph by graph, in their new order */
    uint32_t *at;       /* [graph + 1] position of the first node of the graph */
    nid *now;           /* [node] new number of the node */
    gid *graph_now;     /* [graph] likewise */
    uint32_t *uses;     /* [value] reads by live nodes and graphs */
    uint32_t *position; /* [node] in order */
    uint32_t ngraph_now;
};

/* ---- 1. dropping nodes and values ---------------------------------------------------------------- */

/* Nodes that were dropped, whose bodies are still to go. */
struct todo {
    nid *n;
    uint32_t count, cap;
};

static void push(struct end *x, struct todo *t, nid n)
{
    t->n = vec_grow(x->a, t->n, &t->cap, t->count + 1, sizeof *t->n);
    t->n[t->count++] = n;
}

/* Graphs that no attribute of a live node refers to are dead, and so are their nodes. */
static void drop_graphs(struct end *x)
{
    const struct module *m = x->m;
    gid *list = arena_array(x->a, m->ngraph, sizeof *list);
    uint32_t count = 1;
    memset(x->dead, 1, m->ngraph * sizeof *x->dead);
    x->dead[1] = false;
    list[0] = 1;
    for (uint32_t i = 0; i < count; i++)
        for (nid n = x->e->first[list[i]]; n != 0; n = x->e->slot[n].next)
            for (uint32_t k = 0; k < m->node[n].attr.n && !x->e->slot[n].gone; k++) {
                const struct attr *a = &m->attr[m->node[n].attr.at + k];
                for (uint32_t b = 0; b < edit_nbody(a); b++) {
                    gid g = edit_body(m, a, b);
                    if (g == 0 || g >= m->ngraph || !x->dead[g])
                        continue;
                    x->dead[g] = false;
                    list[count++] = g;
                }
            }
    for (gid g = 1; g < m->ngraph; g++)
        for (nid n = x->dead[g] ? x->e->first[g] : 0; n != 0; n = x->e->slot[n].next)
            x->e->slot[n].gone = true;
}

/* Counts one read of v more, or one less (by: 1 or UINT32_MAX); what is no longer read then may let its maker go. */
static void count_read(struct end *x, vid v, uint32_t by, struct todo *t)
{
    nid def = x->m->value[v].def;
    x->uses[v] += by;
    if (t != NULL && v != 0 && x->uses[v] == 0 && def != 0 && !x->e->slot[def].gone)
        push(x, t, def);
}

/* The same for the formal operands of a node. */
static void count_reads(struct end *x, nid n, uint32_t by, struct todo *t)
{
    for (uint32_t i = 0; i < x->m->node[n].nformal; i++)
        count_read(x, edit_in(x->e, n, i), by, t);
}

/* The same for the outputs of a graph. */
static void count_outputs(struct end *x, gid g, uint32_t by, struct todo *t)
{
    const struct edit *e = x->e;
    const struct slice out = x->m->graph[g].out;
    for (uint32_t i = 0; i < out.n; i++)
        count_read(x, edit_output_now(x->e, g, x->m->arg[out.at + i], 0), by, t);
    for (uint32_t i = e->come[g]; i != 0; i = e->border[i - 1].next)
        if (e->border[i - 1].list == BORDER_OUT)
            count_read(x, edit_output_now(x->e, g, e->border[i - 1].value, e->border[i - 1].set_at),
                       by, t);
}

/* The nodes in the bodies of n go, too; what is idle then may follow. */
static void drop_bodies(struct end *x, nid n, struct todo *gone, struct todo *idle)
{
    const struct module *m = x->m;
    const struct slice s = m->node[n].attr;
    for (uint32_t i = 0; i < s.n; i++) {
        const struct attr *a = &m->attr[s.at + i];
        for (uint32_t k = 0; k < edit_nbody(a); k++) {
            gid g = edit_body(m, a, k);
            if (g == 0 || g >= m->ngraph || m->graph[g].owner != n || x->dead[g])
                continue;
            x->dead[g] = true;
            count_outputs(x, g, UINT32_MAX, idle);
            for (nid b = x->e->first[g]; b != 0; b = x->e->slot[b].next)
                if (!x->e->slot[b].gone) {
                    x->e->slot[b].gone = true;
                    push(x, gone, b);
                }
        }
    }
}

static void count_uses(struct end *x)
{
    const struct module *m = x->m;
    x->uses = arena_array(x->a, m->nval, sizeof *x->uses);
    for (nid n = 1; n < m->nnode; n++)
        if (!x->e->slot[n].gone)
            count_reads(x, n, 1, NULL);
    for (gid g = 1; g < m->ngraph; g++)
        if (!x->dead[g])
            count_outputs(x, g, 1, NULL);
}

/* Whether a value was read when the edit began, and is not any more. */
static bool is_forsaken(const struct end *x, vid v)
{
    return v < x->e->nval0 && x->e->read[v] != 0 && x->uses[v] == 0;
}

/* Whether something read a result of the node, and nothing does any more. */
static bool is_idle(const struct end *x, nid n)
{
    const struct slice out = x->m->node[n].out;
    bool forsaken = false;
    for (uint32_t i = 0; i < out.n; i++) {
        vid v = x->m->arg[out.at + i];
        if (v != 0 && x->uses[v] != 0)
            return false;
        forsaken = forsaken || is_forsaken(x, v);
    }
    return forsaken;
}

static void sweep_nodes(struct end *x)
{
    struct todo t = {0}, gone = {0};
    for (nid n = x->m->nnode - 1; n > 0; n--)
        push(x, &t, n);
    while (t.count > 0) {
        nid n = t.n[--t.count];
        if (x->e->slot[n].gone || !is_idle(x, n))
            continue;
        x->e->slot[n].gone = true;
        gone.count = 0;
        push(x, &gone, n);
        for (uint32_t i = 0; i < gone.count; i++) {
            count_reads(x, gone.n[i], UINT32_MAX, &t);
            drop_bodies(x, gone.n[i], &gone, &t);
        }
    }
}

/* ---- 2. lists of graphs --------------------------------------------------------------------------- */

/* A list of a graph with what comes to its end, without initializers that go. */
static struct slice list_now(struct end *x, gid g, struct slice old, enum graph_list which)
{
    struct edit *e = x->e;
    struct module *m = x->m;
    uint32_t n = 0, cap = 0, kept = 0;
    vid *list = vec_grow(x->a, NULL, &cap, old.n + 1, sizeof *list);
    for (uint32_t i = 0; i < old.n; i++) {
        vid v = m->arg[old.at + i];
        list[n++] = which == BORDER_OUT ? edit_output_now(e, g, v, 0) : v;
    }
    for (uint32_t i = e->come[g]; i != 0; i = e->border[i - 1].next) {
        const struct edit_border b = e->border[i - 1];
        if (b.list != which)
            continue;
        list = vec_grow(x->a, list, &cap, n + 1, sizeof *list);
        list[n++] = which == BORDER_OUT ? edit_output_now(e, g, b.value, b.set_at) : b.value;
    }
    for (uint32_t i = 0; i < n; i++) {
        bool goes = which == BORDER_INIT && e->sweep && is_forsaken(x, list[i]) &&
                    (m->value[list[i]].flags & VALUE_INPUT) == 0;
        if (goes)
            m->value[list[i]] = (struct value){.graph = 1, .flags = VALUE_LOST};
        else
            list[kept++] = list[i];
    }
    if (kept == old.n && (kept == 0 || memcmp(list, m->arg + old.at, kept * sizeof *list) == 0))
        return old;
    return module_add_args(m, list, kept);
}

static void make_lists(struct end *x)
{
    struct module *m = x->m;
    for (gid g = 1; g < m->ngraph; g++) {
        if (x->dead[g])
            continue;
        struct slice in = list_now(x, g, m->graph[g].in, BORDER_IN);
        struct slice init = list_now(x, g, m->graph[g].init, BORDER_INIT);
        struct slice out = list_now(x, g, m->graph[g].out, BORDER_OUT);
        m->graph[g].in = in;
        m->graph[g].init = init;
        m->graph[g].out = out;
    }
}

/* Marks outputs anew: a value may have become one, or is none any more. */
static void mark_outputs(struct end *x)
{
    struct module *m = x->m;
    for (vid v = 1; v < m->nval; v++)
        m->value[v].flags &= ~(uint32_t)VALUE_OUTPUT;
    for (gid g = 1; g < m->ngraph; g++)
        for (uint32_t i = 0; i < m->graph[g].out.n && !x->dead[g]; i++) {
            vid v = m->arg[m->graph[g].out.at + i];
            if (m->value[v].graph == g)
                m->value[v].flags |= VALUE_OUTPUT;
        }
}

/* ---- 3. captures ---------------------------------------------------------------------------------- */

struct captures {
    struct map seen; /* (owner, value) */
    uint32_t *owner, *value;
    uint32_t n, capowner, capvalue;
};

/* Graph g reads v: the owners between g and the graph of v capture it. */
static void capture(struct end *x, struct captures *c, gid g, vid v)
{
    const struct module *m = x->m;
    gid home = m->value[v].graph;
    for (; g != home && m->graph[g].owner != 0; g = m->node[m->graph[g].owner].graph) {
        nid owner = m->graph[g].owner;
        if (map_get(&c->seen, map_key(owner, v)) != 0)
            return; /* then the outer bodies have the capture, too */
        map_set(&c->seen, x->a, map_key(owner, v), 1);
        c->owner = vec_grow(x->a, c->owner, &c->capowner, c->n + 1, sizeof *c->owner);
        c->value = vec_grow(x->a, c->value, &c->capvalue, c->n + 1, sizeof *c->value);
        c->owner[c->n] = owner;
        c->value[c->n++] = v;
    }
}

static struct csr find_captures(struct end *x)
{
    struct edit *e = x->e;
    const struct module *m = x->m;
    struct captures c = {0};
    for (gid g = 1; g < m->ngraph; g++) {
        for (nid n = x->dead[g] ? 0 : e->first[g]; n != 0; n = e->slot[n].next)
            for (uint32_t i = 0; i < m->node[n].nformal && !e->slot[n].gone; i++) {
                vid v = edit_in(e, n, i);
                if (v != 0 && m->value[v].graph != g)
                    capture(x, &c, g, v);
            }
        for (uint32_t i = 0; i < m->graph[g].out.n && !x->dead[g]; i++) {
            vid v = m->arg[m->graph[g].out.at + i];
            if (v != 0 && m->value[v].graph != g)
                capture(x, &c, g, v);
        }
    }
    return csr_build(x->a, m->nnode, c.n, c.owner, c.value);
}

/* The operands of node n as they are now: the old list if nothing changed. */
static struct slice operands_now(struct end *x, nid n, const struct csr *captured)
{
    struct module *m = x->m;
    const struct node *p = &m->node[n];
    uint32_t formal = p->nformal, count = formal + (captured->at[n + 1] - captured->at[n]);
    bool same = count == p->in.n;
    for (uint32_t i = 0; i < count && same; i++)
        same = m->arg[p->in.at + i] ==
               (i < formal ? edit_in(x->e, n, i) : captured->to[captured->at[n] + i - formal]);
    if (same)
        return p->in;
    vid *list = arena_array(x->a, (size_t)count + 1, sizeof *list);
    for (uint32_t i = 0; i < count; i++)
        list[i] = i < formal ? edit_in(x->e, n, i) : captured->to[captured->at[n] + i - formal];
    return module_add_args(m, list, count);
}

static void make_operands(struct end *x)
{
    const struct csr captured = find_captures(x);
    for (nid n = 1; n < x->m->nnode; n++) {
        if (x->e->slot[n].gone)
            continue;
        struct slice in = operands_now(x, n, &captured);
        x->m->node[n].in = in;
        x->e->slot[n].set_at = UINT32_MAX; /* nothing is replaced in them any more */
    }
}

/* ---- 4. order ------------------------------------------------------------------------------------- */

/* The node of graph g that makes operand i of n; 0: none does. */
static nid maker_in(const struct end *x, gid g, nid n, uint32_t i)
{
    vid v = x->m->arg[x->m->node[n].in.at + i];
    nid def = v != 0 ? x->m->value[v].def : 0;
    return def != 0 && x->m->node[def].graph == g && !x->e->slot[def].gone ? def : 0;
}

static bool is_order(const struct end *x, gid g)
{
    for (uint32_t k = x->at[g]; k < x->at[g + 1]; k++)
        for (uint32_t i = 0; i < x->m->node[x->order[k]].in.n; i++) {
            nid def = maker_in(x, g, x->order[k], i);
            if (def != 0 && x->position[def] >= k)
                return false;
        }
    return true;
}

/* Sorts the nodes of graph g topologically: of the ready nodes always the first one in the list. */
static void sort_graph(struct end *x, gid g)
{
    struct arena_mark mark = arena_mark(x->a);
    uint32_t from = x->at[g], n = x->at[g + 1] - from, edges = 0, done = 0;
    uint32_t *wait = arena_array(x->a, (size_t)n + 1, sizeof *wait);
    nid *out = arena_array(x->a, (size_t)n + 1, sizeof *out);
    for (uint32_t k = 0; k < n; k++)
        edges += x->m->node[x->order[from + k]].in.n;
    uint32_t *row = arena_array(x->a, (size_t)edges + 1, sizeof *row),
             *to = arena_array(x->a, (size_t)edges + 1, sizeof *to);
    edges = 0;
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t i = 0; i < x->m->node[x->order[from + k]].in.n; i++) {
            nid def = maker_in(x, g, x->order[from + k], i);
            if (def == 0)
                continue;
            row[edges] = x->position[def] - from;
            to[edges++] = k;
            wait[k]++;
        }
    struct csr readers = csr_build(x->a, n, edges, row, to);
    struct heap ready = {.a = x->a};
    for (uint32_t k = 0; k < n; k++)
        if (wait[k] == 0)
            heap_push(&ready, k, 0, k);
    while (ready.n > 0) {
        uint32_t k = heap_pop(&ready).item;
        out[done++] = x->order[from + k];
        for (uint32_t i = readers.at[k]; i < readers.at[k + 1]; i++)
            if (--wait[readers.to[i]] == 0)
                heap_push(&ready, readers.to[i], 0, readers.to[i]);
    }
    for (uint32_t k = 0; k < n; k++) /* on a circle, or behind one */
        if (wait[k] != 0)
            out[done++] = x->order[from + k];
    memcpy(x->order + from, out, n * sizeof *out);
    arena_release(x->a, mark);
}

static void find_order(struct end *x)
{
    const struct edit *e = x->e;
    const struct module *m = x->m;
    uint32_t k = 0;
    x->order = arena_array(x->a, m->nnode, sizeof *x->order);
    x->at = arena_array(x->a, (size_t)m->ngraph + 1, sizeof *x->at);
    x->position = arena_array(x->a, m->nnode, sizeof *x->position);
    for (gid g = 1; g < m->ngraph; g++) {
        x->at[g] = k;
        for (nid n = x->dead[g] ? 0 : e->first[g]; n != 0; n = e->slot[n].next)
            if (!e->slot[n].gone) {
                x->position[n] = k;
                x->order[k++] = n;
            }
        x->at[g + 1] = k;
        if (!is_order(x, g))
            sort_graph(x, g);
    }
}

/* ---- 5. numbers ----------------------------------------------------------------------------------- */

/* Numbers graph g, after all graphs around g. */
static void number_graph(struct end *x, gid g, gid *next)
{
    const struct module *m = x->m;
    while (x->graph_now[g] == 0) {
        gid at = g, owner = g;
        while ((owner = m->graph[at].owner != 0 ? m->node[m->graph[at].owner].graph : 0) != 0 &&
               x->graph_now[owner] == 0)
            at = owner;
        x->graph_now[at] = (*next)++;
    }
}

static void number_all(struct end *x)
{
    const struct module *m = x->m;
    gid next = 1;
    x->now = arena_array(x->a, m->nnode, sizeof *x->now);
    x->graph_now = arena_array(x->a, m->ngraph, sizeof *x->graph_now);
    for (gid g = 1; g < m->ngraph; g++)
        if (!x->dead[g])
            number_graph(x, g, &next);
    for (uint32_t k = 0; k < x->at[m->ngraph]; k++)
        x->now[x->order[k]] = k + 1;
    x->ngraph_now = next;
}

/* Attributes that refer to graphs, with the graphs' new numbers. */
static void renumber_bodies(struct end *x, nid n)
{
    struct module *m = x->m;
    const struct slice s = m->node[n].attr;
    bool any = false;
    for (uint32_t i = 0; i < s.n; i++)
        any = any || edit_nbody(&m->attr[s.at + i]) > 0;
    if (!any)
        return;
    struct slice now = module_add_attrs(m, m->attr + s.at, s.n);
    for (uint32_t i = 0; i < now.n; i++) {
        struct attr a = m->attr[now.at + i];
        if (edit_nbody(&a) == 0)
            continue;
        if (a.kind == ATTR_GRAPH) {
            a.u.g = x->graph_now[a.u.g];
        } else {
            struct slice list = module_add_refs(m, m->refs + a.u.list.at, a.u.list.n);
            for (uint32_t k = 0; k < list.n; k++)
                m->refs[list.at + k] = x->graph_now[m->refs[list.at + k]];
            a.u.list = list;
        }
        m->attr[now.at + i] = a;
    }
    m->node[n].attr = now;
}

/* "MatMul", or "conv1/MatMul" of what was made from conv1. */
static void name_node(struct end *x, nid n)
{
    struct module *m = x->m;
    const struct node *p = &m->node[n];
    if (p->name != 0)
        return;
    const char *like = p->made_from != 0 ? arena_fmt(x->a, "%s/%s", module_str(m, p->made_from),
                                                     module_str(m, p->op))
                                         : module_str(m, p->op);
    edit_name_node(x->e, n, like);
}

static void move_nodes(struct end *x)
{
    struct module *m = x->m;
    const uint32_t live = x->at[m->ngraph];
    bool moved = false;
    for (gid g = 1; g < m->ngraph; g++)
        moved = moved || x->graph_now[g] != g;
    for (uint32_t k = 0; k < live; k++) {
        name_node(x, x->order[k]);
        if (moved)
            renumber_bodies(x, x->order[k]);
    }
    struct node *now = arena_array(m->mem, (size_t)live + 1, sizeof *now);
    for (uint32_t k = 0; k < live; k++) {
        now[k + 1] = m->node[x->order[k]];
        now[k + 1].graph = x->graph_now[now[k + 1].graph];
    }
    m->node = now;
}

static void move_values(struct end *x)
{
    struct module *m = x->m;
    for (vid v = 1; v < m->nval; v++) {
        struct value *p = &m->value[v];
        bool goes =
            x->dead[p->graph] || (p->def != 0 && x->e->slot[p->def].gone && x->uses[v] == 0);
        if (goes)
            *p = (struct value){.graph = 1, .flags = VALUE_LOST};
        p->def = x->now[p->def];
        p->outno = p->def != 0 ? p->outno : 0;
        p->graph = x->graph_now[p->graph];
    }
}

static void move_graphs(struct end *x)
{
    struct module *m = x->m;
    struct graph *now = arena_array(m->mem, m->ngraph, sizeof *now);
    for (gid g = 1; g < m->ngraph; g++) {
        gid to = x->graph_now[g];
        if (to == 0)
            continue;
        now[to] = m->graph[g];
        now[to].owner = x->now[now[to].owner];
        now[to].first = x->at[g] + 1;
        now[to].count = x->at[g + 1] - x->at[g];
    }
    m->graph = now;
    m->capgraph = m->ngraph;
    m->ngraph = x->ngraph_now;
}

/* ---- what is kept by node and value ---------------------------------------------------------------- */

/* The node that a fact of the k-th node in order comes from: itself, or what it was made from; 0: none. */
static nid fact_of(const struct end *x, uint32_t k, bool copies)
{
    const struct edit_slot *s = &x->e->slot[x->order[k]];
    return !s->is_new ? x->order[k] : copies && !s->copy ? 0 : s->from;
}

static uint32_t *move_facts(const struct end *x, const uint32_t *old)
{
    if (old == NULL)
        return NULL;
    const uint32_t live = x->at[x->m->ngraph];
    uint32_t *now = arena_array(x->m->mem, (size_t)live + 1, sizeof *now);
    for (uint32_t k = 0; k < live; k++)
        now[k + 1] = old[fact_of(x, k, false)];
    return now;
}

static int64_t *move_numbers(const struct end *x, const int64_t *old)
{
    if (old == NULL)
        return NULL;
    const uint32_t live = x->at[x->m->ngraph];
    int64_t *now = arena_array(x->m->mem, (size_t)live + 1, sizeof *now);
    for (uint32_t k = 0; k < live; k++)
        now[k + 1] = old[fact_of(x, k, true)];
    return now;
}

/* Grows an array of sizes by value: a new value gets the size of its model value (edit_value.like), or `none`. */
static int64_t *grow_numbers(const struct end *x, const int64_t *old, int64_t none)
{
    if (old == NULL)
        return NULL;
    int64_t *now = arena_array(x->m->mem, x->m->nval, sizeof *now);
    memcpy(now, old, x->e->nval0 * sizeof *now);
    for (vid v = x->e->nval0; v < x->m->nval; v++)
        now[v] = x->e->value[v].like != 0 ? now[x->e->value[v].like] : none;
    return now;
}

static void move_costs(const struct end *x)
{
    struct module *m = x->m;
    if (m->cost == NULL)
        return;
    struct costs *k = arena_alloc(m->mem, sizeof *k);
    *k = *m->cost;
    k->time =
        m->cost->time != NULL ? arena_array(m->mem, (size_t)k->nclass + 1, sizeof *k->time) : NULL;
    for (uint32_t c = 0; c < k->nclass && k->time != NULL; c++)
        k->time[c] = move_numbers(x, m->cost->time[c]);
    k->measured = move_numbers(x, m->cost->measured);
    k->flops = move_numbers(x, m->cost->flops);
    k->traffic = move_numbers(x, m->cost->traffic);
    k->params = move_numbers(x, m->cost->params);
    k->own = move_numbers(x, m->cost->own);
    k->bytes = grow_numbers(x, m->cost->bytes, 0);
    k->elems = grow_numbers(x, m->cost->elems, -1);
    k->xfer = grow_numbers(x, m->cost->xfer, -1);
    m->cost = k;
}

static void move_tables(const struct end *x)
{
    struct module *m = x->m;
    const uint32_t live = x->at[m->ngraph];
    m->color = move_facts(x, m->color);
    m->layer = move_facts(x, m->layer);
    m->device_ann = move_facts(x, m->device_ann);
    m->slot_ann = move_facts(x, m->slot_ann);
    if (m->backward != NULL) {
        uint8_t *now = arena_alloc(m->mem, (size_t)live + 1);
        for (uint32_t k = 0; k < live; k++)
            now[k + 1] = m->backward[fact_of(x, k, false)];
        m->backward = now;
    }
    move_costs(x);
}

const nid *edit_end(struct edit *e)
{
    struct module *m = e->m;
    struct end x = {.e = e, .m = m, .a = e->a};
    x.dead = arena_array(e->a, m->ngraph, sizeof *x.dead);
    drop_graphs(&x);
    count_uses(&x);
    if (e->sweep)
        sweep_nodes(&x);
    make_lists(&x);
    mark_outputs(&x);
    make_operands(&x);
    find_order(&x);
    number_all(&x);
    move_tables(&x);
    const uint32_t live = x.at[m->ngraph];
    move_nodes(&x);
    move_values(&x);
    move_graphs(&x);
    m->nnode = m->capnode = live + 1;
    m->rewritten = true;
    m->edits++;
    return x.now;
}
