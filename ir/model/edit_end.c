/* Ends an edit (edit_end() of edit.h): makes the module consistent again.
 *
 *  1. The bodies of dropped nodes are dropped.  After edit_sweep(), nodes and initializers that lost all readers are
 *     dropped, too.
 *  2. Replacements of values are applied to the outputs of graphs, and to operands.
 *  3. The captures of bodies are found from the values that the bodies read.
 *  4. Each graph gets an order: that of its list if the list is topological, else the topological order in which the
 *     first ready node of the list always comes next.  Nodes on a cycle keep their order; module_verify() reports
 *     cycles.
 *  5. Nodes and graphs get new numbers, and everything that is stored by node is moved.
 * O(nodes + values + operands * depth of bodies), and times log nodes for a graph whose order has to be found. */
#include "ir/base/heap.h"
#include "ir/model/edit_state.h"

#include <string.h>

/* State of edit_end(). */
struct end {
    struct edit *e;
    struct module *m;
    struct arena *a; /* scratch memory */
    bool *dead;      /* [graph] 1: no live node has the graph as a body */
    nid *order;      /* the nodes that are not dropped, graph by graph, in their new order */
    /* [graph] index in `order` of the graph's first node; [ngraph]: number of nodes that stay */
    uint32_t *at;
    nid *now;            /* [node] new number; 0: dropped */
    gid *graph_now;      /* [graph] new number; 0: dropped */
    uint32_t *uses;      /* [value] number of reads by live nodes and as an output of live graphs */
    uint32_t *position;  /* [node] place of the node in its graph's list, counted as in `order` */
    uint32_t ngraph_now; /* number of graphs at the end, with entry 0 */
};

/* ---- 1. dropping nodes and values ---------------------------------------------------------------- */

/* A stack of nodes that are still to be handled. */
struct todo {
    nid *n; /* [count] the nodes */
    uint32_t count, cap;
};

/* Adds node n to the stack t. */
static void push_node(struct end *x, struct todo *t, nid n)
{
    t->n = vec_grow(x->a, t->n, &t->cap, t->count + 1, sizeof *t->n);
    t->n[t->count++] = n;
}

/* How far next_body() is: the next body is number `body` of attribute `attr`. */
struct body_walk {
    uint32_t attr, body;
};

/* Returns the next body of node n, and moves *at behind it; 0: there are no more. */
static gid next_body(const struct module *m, nid n, struct body_walk *at)
{
    const struct slice s = m->node[n].attr;
    for (; at->attr < s.n; *at = (struct body_walk){at->attr + 1, 0}) {
        const struct attr *a = &m->attr[s.at + at->attr];
        while (at->body < edit_nbody(a)) {
            gid g = edit_body(m, a, at->body++);
            if (g != 0 && g < m->ngraph)
                return g;
        }
    }
    return 0;
}

/* Marks the bodies of node n, which stays, as not dead.  Appends the bodies that were marked as
 * dead until now to live[], a list of graphs with *count entries. */
static void keep_bodies(struct end *x, nid n, gid *live, uint32_t *count)
{
    struct body_walk at = {0, 0};
    for (gid g = next_body(x->m, n, &at); g != 0; g = next_body(x->m, n, &at)) {
        if (x->dead[g])
            live[(*count)++] = g;
        x->dead[g] = false;
    }
}

/* Marks as dead all graphs but the main graph, the bodies of its live nodes, the bodies of live nodes in these, and so
 * on.  Drops the nodes of dead graphs. */
static void drop_graphs(struct end *x)
{
    const struct module *m = x->m;
    gid *live = arena_array(x->a, m->ngraph, sizeof *live);
    uint32_t count = 1;
    memset(x->dead, 1, m->ngraph * sizeof *x->dead);
    x->dead[1] = false;
    live[0] = 1;
    for (uint32_t i = 0; i < count; i++)
        for (nid n = x->e->first[live[i]]; n != 0; n = x->e->slot[n].next)
            if (!x->e->slot[n].gone)
                keep_bodies(x, n, live, &count);
    for (gid g = 1; g < m->ngraph; g++)
        for (nid n = x->dead[g] ? x->e->first[g] : 0; n != 0; n = x->e->slot[n].next)
            x->e->slot[n].gone = true;
}

/* Adds `by` (1, or UINT32_MAX for -1) to the number of reads of v.  If no reads are left, pushes the node that makes
 * v onto t, since it may now be unused; t == NULL: pushes nothing. */
static void change_reads(struct end *x, vid v, uint32_t by, struct todo *t)
{
    nid def = x->m->value[v].def;
    x->uses[v] += by;
    if (t != NULL && x->uses[v] == 0 && def != 0 && !x->e->slot[def].gone)
        push_node(x, t, def);
}

/* Calls change_reads() with `by` and t for the formal operands of node n. */
static void change_operand_reads(struct end *x, nid n, uint32_t by, struct todo *t)
{
    for (uint32_t i = 0; i < x->m->node[n].nformal; i++)
        change_reads(x, edit_in(x->e, n, i), by, t);
}

/* Calls change_reads() with `by` and t for the outputs of graph g. */
static void change_output_reads(struct end *x, gid g, uint32_t by, struct todo *t)
{
    const struct edit *e = x->e;
    const struct slice out = x->m->graph[g].out;
    for (uint32_t i = 0; i < out.n; i++)
        if (!e->value[x->m->arg[out.at + i]].withdrawn)
            change_reads(x, edit_output_now(x->e, g, x->m->arg[out.at + i], 0), by, t);
    for (uint32_t i = e->border_first[g]; i != 0; i = e->border[i - 1].next)
        if (e->border[i - 1].list == BORDER_OUT)
            change_reads(x,
                         edit_output_now(x->e, g, e->border[i - 1].value, e->border[i - 1].set_at),
                         by, t);
}

/* Drops the bodies that the dropped node n still owns: marks them as dead, takes back the reads of their outputs, drops
 * their nodes and pushes these nodes onto `gone`. Pushes nodes that may now be unused onto `unused`. */
static void drop_bodies(struct end *x, nid n, struct todo *gone, struct todo *unused)
{
    struct body_walk at = {0, 0};
    for (gid g = next_body(x->m, n, &at); g != 0; g = next_body(x->m, n, &at)) {
        if (x->m->graph[g].owner != n || x->dead[g])
            continue;
        x->dead[g] = true;
        /* adding UINT32_MAX takes 1 from each count of reads: unsigned numbers wrap around */
        change_output_reads(x, g, UINT32_MAX, unused);
        for (nid b = x->e->first[g]; b != 0; b = x->e->slot[b].next)
            if (!x->e->slot[b].gone) {
                x->e->slot[b].gone = true;
                push_node(x, gone, b);
            }
    }
}

/* Sets x->uses: counts for each value how often live nodes and outputs of live graphs read it. */
static void count_uses(struct end *x)
{
    const struct module *m = x->m;
    x->uses = arena_array(x->a, m->nval, sizeof *x->uses);
    for (nid n = 1; n < m->nnode; n++)
        if (!x->e->slot[n].gone)
            change_operand_reads(x, n, /*by=*/1, /*t=*/NULL);
    for (gid g = 1; g < m->ngraph; g++)
        if (!x->dead[g])
            change_output_reads(x, g, /*by=*/1, /*t=*/NULL);
}

/* Whether value v had readers when the edit began and has none now. */
static bool lost_readers(const struct end *x, vid v)
{
    return v < x->e->nval0 && x->e->read[v] != 0 && x->uses[v] == 0;
}

/* Whether no result of node n has a reader now, and at least one had a reader when the edit began. */
static bool is_unused(const struct end *x, nid n)
{
    const struct slice out = x->m->node[n].out;
    bool lost = false;
    for (uint32_t i = 0; i < out.n; i++) {
        vid v = x->m->arg[out.at + i];
        if (v != 0 && x->uses[v] != 0)
            return false;
        lost = lost || lost_readers(x, v);
    }
    return lost;
}

/* Drops all nodes that are unused, with their bodies, until no such node is left. */
static void sweep_nodes(struct end *x)
{
    struct todo t = {0}, gone = {0};
    for (nid n = x->m->nnode - 1; n > 0; n--)
        push_node(x, &t, n);
    while (t.count > 0) {
        nid n = t.n[--t.count];
        if (x->e->slot[n].gone || !is_unused(x, n))
            continue;
        x->e->slot[n].gone = true;
        /* gone: the node and the nodes of its bodies, which drop_bodies() adds; nodes that make operands of these
         * nodes, and so lose a reader, are looked at again */
        gone.count = 0;
        push_node(x, &gone, n);
        for (uint32_t i = 0; i < gone.count; i++) {
            change_operand_reads(x, gone.n[i], UINT32_MAX, &t);
            drop_bodies(x, gone.n[i], &gone, &t);
        }
    }
}

/* ---- 2. lists of graphs --------------------------------------------------------------------------- */

/* Returns the list `which` of graph g as it is after the edit; old: the list before. The values that replaced outputs
 * stand in their places, withdrawn inputs and outputs are left out, and values that the edit appends follow. After
 * edit_sweep(), leaves out initializers that lost their readers, and makes them lost values (VALUE_LOST). */
static struct slice build_list(struct end *x, gid g, struct slice old, enum graph_list which)
{
    struct edit *e = x->e;
    struct module *m = x->m;
    uint32_t n = 0, cap = 0, kept = 0;
    vid *list = vec_grow(x->a, NULL, &cap, old.n + 1, sizeof *list);
    for (uint32_t i = 0; i < old.n; i++) {
        vid v = m->arg[old.at + i];
        if (which != BORDER_INIT && e->value[v].withdrawn)
            continue;
        list[n++] = which == BORDER_OUT ? edit_output_now(e, g, v, 0) : v;
    }
    for (uint32_t i = e->border_first[g]; i != 0; i = e->border[i - 1].next) {
        const struct edit_border b = e->border[i - 1];
        if (b.list != which)
            continue;
        list = vec_grow(x->a, list, &cap, n + 1, sizeof *list);
        list[n++] = which == BORDER_OUT ? edit_output_now(e, g, b.value, b.set_at) : b.value;
    }
    /* drops initializers that lost their readers, in place */
    for (uint32_t i = 0; i < n; i++) {
        bool goes = which == BORDER_INIT && e->sweep && lost_readers(x, list[i]) &&
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

/* Rebuilds the inputs, initializers and outputs of all live graphs. */
static void make_lists(struct end *x)
{
    struct module *m = x->m;
    for (gid g = 1; g < m->ngraph; g++) {
        if (x->dead[g])
            continue;
        struct graph *p = &m->graph[g];
        p->in = build_list(x, g, p->in, BORDER_IN);
        p->init = build_list(x, g, p->init, BORDER_INIT);
        p->out = build_list(x, g, p->out, BORDER_OUT);
    }
}

/* Sets the flag VALUE_OUTPUT of all values anew. */
static void mark_outputs(struct end *x)
{
    struct module *m = x->m;
    for (vid v = 1; v < m->nval; v++)
        m->value[v].flags &= ~(uint32_t)VALUE_OUTPUT;
    for (gid g = 1; g < m->ngraph; g++)
        for (uint32_t i = 0; i < m->graph[g].out.n && !x->dead[g]; i++) {
            vid v = m->arg[m->graph[g].out.at + i];
            /* an output of a body may be a value of an outer graph, which is no output there */
            if (m->value[v].graph == g)
                m->value[v].flags |= VALUE_OUTPUT;
        }
}

/* ---- 3. captures ---------------------------------------------------------------------------------- */

/* The captures found so far: node owner[i] captures value[i]. */
struct captures {
    struct map seen;         /* (owner, value) -> 1: the pair is in the list */
    uint32_t *owner, *value; /* [n] the pairs */
    uint32_t n, capowner, capvalue;
};

/* Notes that graph g reads v: the owner of each graph from g outwards to the graph of v captures v. */
static void add_captures(struct end *x, struct captures *c, gid g, vid v)
{
    const struct module *m = x->m;
    gid home = m->value[v].graph;
    for (; g != home && m->graph[g].owner != 0; g = m->node[m->graph[g].owner].graph) {
        nid owner = m->graph[g].owner;
        if (map_get(&c->seen, map_key(owner, v)) != 0)
            return; /* then the owners further out capture v already */
        map_set(&c->seen, x->a, map_key(owner, v), 1);
        c->owner = vec_grow(x->a, c->owner, &c->capowner, c->n + 1, sizeof *c->owner);
        c->value = vec_grow(x->a, c->value, &c->capvalue, c->n + 1, sizeof *c->value);
        c->owner[c->n] = owner;
        c->value[c->n++] = v;
    }
}

/* Returns rows: row n has the values that node n captures for its bodies. */
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
                    add_captures(x, &c, g, v);
            }
        for (uint32_t i = 0; i < m->graph[g].out.n && !x->dead[g]; i++) {
            vid v = m->arg[m->graph[g].out.at + i];
            if (v != 0 && m->value[v].graph != g)
                add_captures(x, &c, g, v);
        }
    }
    return csr_build(x->a, m->nnode, c.n, c.owner, c.value);
}

/* Returns operand i of node n as it is now: the formal operands come first, then the captures. */
static vid operand_now(const struct end *x, nid n, uint32_t i, const struct csr *captured)
{
    uint32_t formal = x->m->node[n].nformal;
    return i < formal ? edit_in(x->e, n, i) : captured->to[captured->at[n] + i - formal];
}

/* Returns the current operands of node n with its captures: the old list if it has not changed. */
static struct slice operands_now(struct end *x, nid n, const struct csr *captured)
{
    struct module *m = x->m;
    const struct node *p = &m->node[n];
    uint32_t count = p->nformal + (captured->at[n + 1] - captured->at[n]);
    bool same = count == p->in.n;
    for (uint32_t i = 0; i < count && same; i++)
        same = m->arg[p->in.at + i] == operand_now(x, n, i, captured);
    if (same)
        return p->in;
    vid *list = arena_array(x->a, (size_t)count + 1, sizeof *list);
    for (uint32_t i = 0; i < count; i++)
        list[i] = operand_now(x, n, i, captured);
    return module_add_args(m, list, count);
}

/* Rebuilds the operands of all nodes that stay. */
static void make_operands(struct end *x)
{
    const struct csr captured = find_captures(x);
    for (nid n = 1; n < x->m->nnode; n++) {
        if (x->e->slot[n].gone)
            continue;
        struct slice in = operands_now(x, n, &captured);
        x->m->node[n].in = in;
        /* all replacements of values are in the operands now: edit_in() must not apply them again */
        x->e->slot[n].set_at = UINT32_MAX;
    }
}

/* ---- 4. order ------------------------------------------------------------------------------------- */

/* Returns the node of graph g that makes operand i of node n; 0: no node of g makes it. */
static nid maker_in(const struct end *x, gid g, nid n, uint32_t i)
{
    vid v = x->m->arg[x->m->node[n].in.at + i];
    nid def = v != 0 ? x->m->value[v].def : 0;
    return def != 0 && x->m->node[def].graph == g && !x->e->slot[def].gone ? def : 0;
}

/* Whether the list of graph g's nodes is in topological order. */
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

/* Sorts the nodes of graph g topologically: the next node is always the first one in the list whose operands have all
 * been made. */
static void sort_graph(struct end *x, gid g)
{
    struct arena_mark mark = arena_mark(x->a);
    uint32_t from = x->at[g], n = x->at[g + 1] - from, done = 0;
    uint32_t *wait = arena_array(x->a, (size_t)n + 1, sizeof *wait);
    nid *out = arena_array(x->a, (size_t)n + 1, sizeof *out);
    struct pairs reads = pairs_new(x->a, n);
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t i = 0; i < x->m->node[x->order[from + k]].in.n; i++) {
            nid def = maker_in(x, g, x->order[from + k], i);
            if (def == 0)
                continue;
            pairs_add(&reads, x->position[def] - from, k);
            wait[k]++;
        }
    struct csr readers = pairs_rows(&reads, n);
    struct heap ready = {.a = x->a};
    for (uint32_t k = 0; k < n; k++)
        if (wait[k] == 0)
            heap_push(&ready, k, 0, k);
    while (ready.n > 0) {
        uint32_t k = heap_pop(&ready).item;
        out[done++] = x->order[from + k];
        for_row (r, readers, k)
            if (--wait[r] == 0)
                heap_push(&ready, r, 0, r);
    }
    for (uint32_t k = 0; k < n; k++) /* nodes on a cycle or behind one */
        if (wait[k] != 0)
            out[done++] = x->order[from + k];
    memcpy(x->order + from, out, n * sizeof *out);
    arena_release(x->a, mark);
}

/* Orders the nodes that stay, graph by graph: fills x->order and x->at.  x->position gets the places that the nodes
 * have in the lists of the edit. */
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

/* Gives graph g, and before it the graphs around it, the next new numbers, unless they have numbers. */
static void number_graph(struct end *x, gid g, gid *next)
{
    const struct module *m = x->m;
    while (x->graph_now[g] == 0) {
        /* at: the outermost graph around g (or g itself) that has no number yet */
        gid at = g;
        for (nid owner = m->graph[g].owner; owner != 0; owner = m->graph[at].owner) {
            if (x->graph_now[m->node[owner].graph] != 0)
                break;
            at = m->node[owner].graph;
        }
        x->graph_now[at] = (*next)++;
    }
}

/* Gives new numbers to all graphs and nodes that stay. */
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

/* Replaces the graphs in the attributes of node n by their new numbers. */
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

/* Gives node n a name if it has none: its operator, as in "MatMul", or "conv1/MatMul" if it was made from node
 * conv1. */
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

/* Names the nodes that stay, gives their bodies the new numbers, and puts the nodes into a new array, in their new
 * order. */
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

/* Updates definition and graph of all values to the new numbers.  Values of dead graphs, and values without readers
 * that no node makes any more, become lost; such a value that is still read stays, for module_verify() to report. */
static void move_values(struct end *x)
{
    struct module *m = x->m;
    for (vid v = 1; v < m->nval; v++) {
        struct value *p = &m->value[v];
        bool unmade =
            p->def != 0 ? x->e->slot[p->def].gone : (p->flags & (VALUE_INPUT | VALUE_INIT)) == 0;
        if (x->dead[p->graph] || (unmade && x->uses[v] == 0))
            *p = (struct value){.graph = 1, .flags = VALUE_LOST};
        p->def = x->now[p->def];
        if (p->def == 0)
            p->outno = 0;
        p->graph = x->graph_now[p->graph];
    }
}

/* Puts the live graphs into a new array, by their new numbers. */
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

/* Returns the old number of the node whose facts (layer, cost) the k-th node in the new order gets:
 * of the node itself or, if it is new, of the node from which it was made; 0: it gets none.
 * copies: a new node gets facts only if it is a copy. */
static nid fact_of(const struct end *x, uint32_t k, bool copies)
{
    const struct edit_slot *s = &x->e->slot[x->order[k]];
    return !s->is_new ? x->order[k] : copies && !s->copy ? 0 : s->from;
}

/* Returns the facts of `old`, such as layers, as a new table by the new numbers of the nodes.  old:
 * [node, old number] its fact; NULL: NULL is returned. */
static uint32_t *move_facts(const struct end *x, const uint32_t *old)
{
    if (old == NULL)
        return NULL;
    const uint32_t live = x->at[x->m->ngraph];
    uint32_t *now = arena_array(x->m->mem, (size_t)live + 1, sizeof *now);
    for (uint32_t k = 0; k < live; k++)
        now[k + 1] = old[fact_of(x, k, /*copies=*/false)];
    return now;
}

/* Returns the costs of `old` as a new table by the new numbers of the nodes; of new nodes, only
 * copies get costs, others 0.  old: [node, old number] its cost; NULL: NULL is returned. */
static int64_t *move_numbers(const struct end *x, const int64_t *old)
{
    if (old == NULL)
        return NULL;
    const uint32_t live = x->at[x->m->ngraph];
    int64_t *now = arena_array(x->m->mem, (size_t)live + 1, sizeof *now);
    for (uint32_t k = 0; k < live; k++)
        now[k + 1] = old[fact_of(x, k, /*copies=*/true)];
    return now;
}

/* Returns a copy of the table `old`, [value] its size, that has the new values, too: a new value
 * has the size of the value that it was made like (edit_value.like), or `none` if there is no such
 * value.  old NULL: returns NULL. */
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

/* Returns the table old, [class][node] times, for the new numbers; NULL for NULL. */
static int64_t **move_times(const struct end *x, int64_t *const *old, uint32_t nclass)
{
    if (old == NULL)
        return NULL;
    int64_t **now = arena_array(x->m->mem, (size_t)nclass + 1, sizeof *now);
    for (uint32_t c = 0; c < nclass; c++)
        now[c] = move_numbers(x, old[c]);
    return now;
}

/* Moves all tables in module.cost to the new numbers. */
static void move_costs(const struct end *x)
{
    struct module *m = x->m;
    if (m->cost == NULL)
        return;
    struct costs *k = arena_copy(m->mem, m->cost, sizeof *k);
    k->time = move_times(x, m->cost->time, k->nclass);
    k->overhead = move_times(x, m->cost->overhead, k->nclass);
    k->measured = move_numbers(x, m->cost->measured);
    k->flops = move_numbers(x, m->cost->flops);
    k->traffic = move_numbers(x, m->cost->traffic);
    k->params = move_numbers(x, m->cost->params);
    k->own = move_numbers(x, m->cost->own);
    k->bytes = grow_numbers(x, m->cost->bytes, /*none=*/0);
    k->elems = grow_numbers(x, m->cost->elems, /*none=*/-1);
    k->xfer = grow_numbers(x, m->cost->xfer, /*none=*/-1);
    m->cost = k;
}

/* Moves all tables of the module that are indexed by node or value to the new numbers. */
static void move_tables(const struct end *x)
{
    struct module *m = x->m;
    const uint32_t live = x->at[m->ngraph];
    m->color = move_facts(x, m->color);
    m->layer = move_facts(x, m->layer);
    m->device_ann = move_facts(x, m->device_ann);
    m->shard_ann = move_facts(x, m->shard_ann);
    m->slot_ann = move_facts(x, m->slot_ann);
    m->scope = move_facts(x, m->scope);
    if (m->backward != NULL) {
        uint8_t *now = arena_alloc(m->mem, (size_t)live + 1);
        for (uint32_t k = 0; k < live; k++)
            now[k + 1] = m->backward[fact_of(x, k, /*copies=*/false)];
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
    const uint32_t live = x.at[m->ngraph]; /* move_graphs() changes m->ngraph */
    move_nodes(&x);
    move_values(&x);
    move_graphs(&x);
    m->nnode = m->capnode = live + 1;
    m->rewritten = true;
    m->edits++;
    return x.now;
}
