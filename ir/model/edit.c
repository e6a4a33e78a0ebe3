/* Editing a module: nodes, operands and values (edit.h); edit_end.c then puts the module in order.
 *
 * During an edit the nodes of a graph are a linked list, so that a node is inserted in O(1).  Replacing a value only
 * notes the time and the new value; operands are updated at the end, all at once.  Existing pool entries are never
 * overwritten: lists that change are appended anew, since modules may share pools (passes/functions/inliner.c). */
#include "ir/model/edit_state.h"

#include <assert.h>
#include <string.h>

/* ---- beginning ---------------------------------------------------------------------------------- */

/* Grows edit.slot to the module's number of nodes. */
static void grow_nodes(struct edit *e)
{
    e->slot = vec_grow(e->a, e->slot, &e->capslot, e->m->nnode, sizeof *e->slot);
}

/* Grows edit.value to the module's number of values. */
static void grow_values(struct edit *e)
{
    e->value = vec_grow(e->a, e->value, &e->capvalue, e->m->nval, sizeof *e->value);
}

void edit_grow_graphs(struct edit *e)
{
    e->first = vec_grow(e->a, e->first, &e->capfirst, e->m->ngraph, sizeof *e->first);
    e->last = vec_grow(e->a, e->last, &e->caplast, e->m->ngraph, sizeof *e->last);
    e->border_first =
        vec_grow(e->a, e->border_first, &e->capborder_first, e->m->ngraph, sizeof *e->border_first);
    e->border_last =
        vec_grow(e->a, e->border_last, &e->capborder_last, e->m->ngraph, sizeof *e->border_last);
}

/* Fills edit.read: marks the values that nodes or graph outputs read before the edit. */
static void note_reads(struct edit *e)
{
    const struct module *m = e->m;
    e->read = arena_alloc(e->a, m->nval);
    for (nid n = 1; n < m->nnode; n++)
        for (uint32_t i = 0; i < m->node[n].in.n; i++)
            e->read[m->arg[m->node[n].in.at + i]] = 1;
    for (gid g = 1; g < m->ngraph; g++)
        for (uint32_t i = 0; i < m->graph[g].out.n; i++)
            e->read[m->arg[m->graph[g].out.at + i]] = 1;
}

struct edit *edit_begin(struct module *m, struct arena *a)
{
    struct edit *e = arena_alloc(a, sizeof *e);
    e->m = m;
    e->a = a;
    e->nnode0 = m->nnode;
    e->nval0 = m->nval;
    e->ngraph0 = m->ngraph;
    e->change = vec_grow(a, NULL, &e->capchange, 1, sizeof *e->change);
    e->nchange = 1;
    grow_nodes(e);
    grow_values(e);
    edit_grow_graphs(e);
    for (gid g = 1; g < m->ngraph; g++)
        for (nid n = m->graph[g].first; n < m->graph[g].first + m->graph[g].count; n++)
            edit_link_after(e, g, e->last[g], n);
    note_reads(e);
    return e;
}

/* ---- order -------------------------------------------------------------------------------------- */

void edit_link_after(struct edit *e, gid g, nid at, nid n)
{
    nid next = at != 0 ? e->slot[at].next : e->first[g];
    e->slot[n].prev = at;
    e->slot[n].next = next;
    if (at != 0)
        e->slot[at].next = n;
    else
        e->first[g] = n;
    if (next != 0)
        e->slot[next].prev = n;
    else
        e->last[g] = n;
}

void edit_unlink(struct edit *e, nid n)
{
    const struct edit_slot s = e->slot[n];
    gid g = e->m->node[n].graph;
    if (s.prev != 0)
        e->slot[s.prev].next = s.next;
    else
        e->first[g] = s.next;
    if (s.next != 0)
        e->slot[s.next].prev = s.prev;
    else
        e->last[g] = s.prev;
}

/* ---- names -------------------------------------------------------------------------------------- */

/* Marks the names of all values and nodes of m, and of its functions, as taken. */
static void take_names(struct edit *e, const struct module *m)
{
    for (vid v = 1; v < m->nval; v++)
        if (m->value[v].name != 0)
            map_set(&e->taken, e->a, map_key(EDIT_VALUE, m->value[v].name), 1);
    for (nid n = 1; n < m->nnode; n++)
        if (m->node[n].name != 0)
            map_set(&e->taken, e->a, map_key(EDIT_NODE, m->node[n].name), 1);
    for (uint32_t f = 1; f < m->nfunction; f++)
        /* the recursion ends here, since bodies of functions have no functions */
        take_names(e, m->function[f].body);
}

/* Returns the name without a "_N" at its end, if both the name and the shorter one are taken by values (what ==
 * EDIT_VALUE) or nodes (EDIT_NODE), else the name itself. So a copy of "x_1" is called "x_2", not "x_1_1". */
static sid without_number(const struct edit *e, sid name, uint32_t what)
{
    const char *s = module_str(e->m, name);
    size_t n = strlen(s);
    while (n > 0 && s[n - 1] >= '0' && s[n - 1] <= '9')
        n--;
    if (n < 2 || s[n] == '\0' || s[n - 1] != '_' || map_get(&e->taken, map_key(what, name)) == 0)
        return name;
    sid base = str_id_n(e->m, s, n - 1);
    return map_get(&e->taken, map_key(what, base)) != 0 ? base : name;
}

void edit_any_names(struct edit *e)
{
    e->any_names = true;
}

sid edit_fresh(struct edit *e, sid like, uint32_t what)
{
    struct module *m = e->m;
    if (e->any_names)
        return like;
    if (e->taken.mask == 0)
        take_names(e, m);
    if (like == 0)
        like = str_id(m, what == EDIT_NODE ? "node" : "value");
    like = without_number(e, like, what);
    sid name = like;
    /* e->taken has, for each taken name, the number at which the search for a free name_NUMBER begins; 0: `like`
     * itself is free */
    uint32_t next = map_get(&e->taken, map_key(what, like));
    for (bool taken = next != 0; taken; next++) {
        name = str_id(m, arena_fmt(e->a, "%s_%u", module_str(m, like), next));
        taken = map_get(&e->taken, map_key(what, name)) != 0;
    }
    map_set(&e->taken, e->a, map_key(what, like), next == 0 ? 1 : next);
    if (name != like)
        map_set(&e->taken, e->a, map_key(what, name), 1);
    return name;
}

tid edit_tensor_named(struct edit *e, tid t, sid name)
{
    struct tensor x = e->m->tensor[t];
    if (x.where == TENSOR_SPARSE && x.of[0] != 0)
        /* the values of a sparse tensor are dense */
        x.of[0] = edit_tensor_named(e, x.of[0], name);
    x.name = name;
    tid own = module_add_tensor(e->m);
    e->m->tensor[own] = x;
    return own;
}

sid edit_take_name(struct edit *e, const char *like)
{
    return edit_fresh(e, str_id(e->m, like), EDIT_NODE);
}

void edit_name_node(struct edit *e, nid n, const char *like)
{
    sid name = str_id(e->m, like);
    if (e->m->node[n].name == name && name != 0)
        return;
    e->m->node[n].name = edit_fresh(e, name, EDIT_NODE);
    e->m->node[n].flags &= ~(uint32_t)NODE_UNNAMED;
}

void edit_name_value(struct edit *e, vid v, const char *like)
{
    struct value *x = &e->m->value[v];
    sid name = str_id(e->m, like);
    bool border = x->graph == 1 && (x->flags & (VALUE_INPUT | VALUE_OUTPUT)) != 0;
    if (x->name == name || border)
        return;
    if (x->was == 0)
        x->was = x->name;
    x->name = edit_fresh(e, name, EDIT_VALUE);
    if (x->tensor != 0) /* the tensor has the value's name, too */
        x->tensor = edit_tensor_named(e, x->tensor, x->name);
}

/* ---- nodes -------------------------------------------------------------------------------------- */

nid edit_new_node(struct edit *e, gid g, nid after, const char *op)
{
    assert(g > 0 && g < e->m->ngraph);
    nid n = module_add_node(e->m);
    grow_nodes(e);
    e->m->node[n].graph = g;
    e->m->node[n].op = str_id(e->m, op);
    e->m->node[n].flags = NODE_MADE;
    e->slot[n].is_new = true;
    edit_link_after(e, g, after, n);
    return n;
}

nid edit_add(struct edit *e, gid g, const char *op)
{
    return edit_new_node(e, g, e->last[g], op);
}

nid edit_before(struct edit *e, nid at, const char *op)
{
    return edit_new_node(e, e->m->node[at].graph, e->slot[at].prev, op);
}

nid edit_after(struct edit *e, nid at, const char *op)
{
    return edit_new_node(e, e->m->node[at].graph, at, op);
}

void edit_drop(struct edit *e, nid n)
{
    assert(n > 0 && n < e->m->nnode);
    e->slot[n].gone = true;
}

void edit_move(struct edit *e, nid n, gid g)
{
    struct module *m = e->m;
    const struct slice out = m->node[n].out;
    assert(g > 0 && g < m->ngraph);
    edit_unlink(e, n);
    m->node[n].graph = g;
    edit_link_after(e, g, e->last[g], n);
    for (uint32_t i = 0; i < out.n; i++) {
        vid v = m->arg[out.at + i];
        if (v == 0)
            continue;
        m->value[v].graph = g;
        if (m->value[v].name != 0 && (m->value[v].flags & VALUE_OUTPUT) == 0)
            m->value[v].name = edit_fresh(e, m->value[v].name, EDIT_VALUE);
    }
}

void edit_put_before(struct edit *e, nid n, nid at)
{
    assert(n != at && e->m->node[n].graph == e->m->node[at].graph);
    edit_unlink(e, n);
    edit_link_after(e, e->m->node[at].graph, e->slot[at].prev, n);
}

/* Returns the function of the model with that domain and name and no overload; 0: none. */
static uint32_t function_of(struct edit *e, sid domain, sid op)
{
    const struct module *m = e->m;
    if (e->function.mask == 0)
        for (uint32_t f = m->nfunction; f-- > 1;)
            if (m->function[f].overload == 0)
                map_set(&e->function, e->a, map_key(m->function[f].domain + 1, m->function[f].name),
                        f);
    return map_get(&e->function, map_key(domain + 1, op));
}

void edit_set_operator(struct edit *e, nid n, const char *op, const char *domain, int64_t version)
{
    struct node *x = &e->m->node[n];
    x->op = str_id(e->m, op);
    x->domain = domain != NULL && strcmp(domain, "ai.onnx") != 0 ? str_id(e->m, domain) : 0;
    x->overload = 0;
    x->callee = function_of(e, x->domain, x->op);
    x->flags = (x->flags & ~(uint32_t)NODE_CALL) | NODE_MADE | (x->callee != 0 ? NODE_CALL : 0);
    if (x->domain != 0 && module_opset(e->m, x->domain) < 0)
        module_add_opset(e->m, x->domain, version);
}

void edit_made_from(struct edit *e, nid n, nid from)
{
    struct node *x = &e->m->node[n];
    const struct node *y = &e->m->node[from];
    e->slot[n].from = e->slot[from].is_new ? e->slot[from].from : from;
    x->made_from = y->made_from != 0 ? y->made_from : y->name;
}

/* Gives node n its own copy of its entry of module.about and returns the copy, to be changed. */
static struct about *new_about(struct edit *e, nid n)
{
    struct node *x = &e->m->node[n];
    x->flags |= NODE_MADE; /* the node differs from its message now */
    x->about = module_add_about(e->m, e->m->about[x->about]);
    return &e->m->about[x->about];
}

void edit_set_doc(struct edit *e, nid n, const char *doc)
{
    sid s = str_id(e->m, doc);
    new_about(e, n)->doc = s;
}

void edit_set_meta(struct edit *e, nid n, const char *key, const char *value)
{
    struct module *m = e->m;
    const sid k = str_id(m, key), v = str_id(m, value);
    const struct slice old = m->about[m->node[n].about].meta;
    /* metadata are keys and values in turn; at: the position of the key, or the end of the list */
    uint32_t at = 0;
    while (at < old.n && m->sids[old.at + at] != k)
        at += 2;
    struct slice now = module_add_sids(m, NULL, at < old.n ? old.n : old.n + 2);
    memcpy(m->sids + now.at, m->sids + old.at, old.n * sizeof *m->sids);
    m->sids[now.at + at] = k;
    m->sids[now.at + at + 1] = v;
    new_about(e, n)->meta = now;
}

/* ---- operands and results ----------------------------------------------------------------------- */

/* Returns the first change of value v after time set_at, as an index in edit.change; 0: there is none. */
static uint32_t change_after(const struct edit *e, vid v, uint32_t set_at)
{
    uint32_t i = e->value[v].first_change;
    while (i != 0 && e->change[i].time <= set_at)
        i = e->change[i].next;
    return i;
}

/* Chains of replacements can be long, and each value on them may have readers.  The end of a chain is therefore
 * cached for its values, for operands that were set before the first change, until there is another change. */
vid edit_resolve(struct edit *e, vid v, uint32_t set_at)
{
    struct arena_mark mark = arena_mark(e->a);
    /* [n] values on the chain: the loop below notes the chain's end in their caches */
    vid *passed = NULL;
    uint32_t n = 0, cap = 0, i = change_after(e, v, set_at);
    while (i != 0) {
        /* the operand was set before all changes of v: the cache of v has the answer, or gets it below */
        if (i == e->value[v].first_change) {
            if (e->value[v].resolved_at == e->nchange) {
                v = e->value[v].resolved;
                break;
            }
            passed = vec_grow(e->a, passed, &cap, n + 1, sizeof *passed);
            passed[n++] = v;
        }
        set_at = e->change[i].time;
        v = e->change[i].to;
        i = change_after(e, v, set_at);
    }
    for (uint32_t k = 0; k < n; k++) {
        e->value[passed[k]].resolved = v;
        e->value[passed[k]].resolved_at = e->nchange;
    }
    arena_release(e->a, mark);
    return v;
}

uint32_t edit_nin(const struct edit *e, nid n)
{
    return e->m->node[n].nformal;
}

vid edit_in(struct edit *e, nid n, uint32_t i)
{
    const struct node *x = &e->m->node[n];
    return i < x->nformal ? edit_resolve(e, e->m->arg[x->in.at + i], e->slot[n].set_at) : 0;
}

void edit_operands(struct edit *e, nid n, const vid *v, uint32_t count)
{
    struct slice in = module_add_args(e->m, v, count); /* edit_end() adds captures */
    e->m->node[n].in = in;
    e->m->node[n].nformal = count;
    e->slot[n].set_at = e->time;
}

void edit_set_operand(struct edit *e, nid n, uint32_t i, vid v)
{
    uint32_t count = e->m->node[n].nformal;
    assert(i < count);
    struct slice in = module_add_args(e->m, NULL, count);
    for (uint32_t k = 0; k < count; k++)
        e->m->arg[in.at + k] = k == i ? v : edit_in(e, n, k);
    e->m->node[n].in = in;
    e->slot[n].set_at = e->time;
}

vid edit_new_value(struct edit *e, gid g, sid like, uint32_t flags)
{
    sid name = edit_fresh(e, like, EDIT_VALUE);
    vid v = module_add_value(e->m);
    grow_values(e);
    e->m->value[v] = (struct value){.name = name, .graph = g, .flags = flags};
    return v;
}

/* Returns the list `old` of values with v appended. */
static struct slice append_value(struct module *m, struct slice old, vid v)
{
    /* the last slice of the pool can grow in place */
    if (old.n > 0 && old.at + old.n == m->narg) {
        module_add_args(m, &v, 1);
        return (struct slice){old.at, old.n + 1};
    }
    struct slice out = module_add_args(m, NULL, old.n + 1);
    memcpy(m->arg + out.at, m->arg + old.at, old.n * sizeof *m->arg);
    m->arg[out.at + old.n] = v;
    return out;
}

void edit_omit_result(struct edit *e, nid n)
{
    struct slice out = append_value(e->m, e->m->node[n].out, 0);
    e->m->node[n].out = out;
}

void edit_remove_result(struct edit *e, nid n, vid v)
{
    struct module *m = e->m;
    const struct slice old = m->node[n].out;
    struct slice out = module_add_args(m, m->arg + old.at, old.n);
    for (uint32_t i = 0; i < out.n; i++)
        m->arg[out.at + i] = m->arg[out.at + i] == v ? 0 : m->arg[out.at + i];
    m->node[n].out = out;
}

vid edit_value(struct edit *e, gid g, const char *name, vid like)
{
    vid v = edit_new_value(e, g, str_id(e->m, name), 0);
    e->m->value[v].type = e->m->value[like].type;
    e->value[v].like = like;
    return v;
}

void edit_results(struct edit *e, nid n, const vid *v, uint32_t count)
{
    struct module *m = e->m;
    struct slice out = module_add_args(m, v, count);
    for (uint32_t i = 0; i < m->node[n].out.n; i++) { /* of the earlier results, some may be in v */
        vid old = m->arg[m->node[n].out.at + i];
        if (old == 0 || m->value[old].def != n)
            continue;
        m->value[old].def = 0;
        m->value[old].outno = 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct value *x = &m->value[v[i]];
        if (v[i] == 0)
            continue;
        if (x->def != 0 && x->def != n)
            edit_remove_result(e, x->def, v[i]);
        x->def = n;
        x->outno = i;
    }
    m->node[n].out = out;
}

vid edit_result(struct edit *e, nid n, const char *name, vid like)
{
    struct module *m = e->m;
    sid want = name != NULL ? str_id(m, name) : like != 0 ? m->value[like].name : m->node[n].name;
    vid v = edit_new_value(e, m->node[n].graph, want, 0);
    const struct slice old = m->node[n].out;
    struct slice out = append_value(m, old, v);
    m->node[n].out = out;
    m->value[v].def = n;
    m->value[v].outno = old.n;
    m->value[v].type = m->value[like].type;
    e->value[v].like = like;
    return v;
}

void edit_set_type(struct edit *e, vid v, uint32_t type)
{
    e->m->value[v].type = type;
    e->m->value[v].flags |= VALUE_RETYPED;
}

/* Whether w can become the graph output that v is now (see edit_replace). */
static bool can_be_output(const struct module *m, vid v, vid w)
{
    const uint32_t taken = VALUE_INPUT | VALUE_INIT | VALUE_OUTPUT;
    return (m->value[v].flags & (VALUE_INPUT | VALUE_INIT)) == 0 &&
           (m->value[w].flags & taken) == 0 && m->value[w].graph == m->value[v].graph;
}

/* Makes w the graph output that v is now, with the name of v; v gets a new name.  For edit_replace(), which counts
 * edit.time up afterwards. */
static void replace_output(struct edit *e, vid v, vid w)
{
    struct value *x = &e->m->value[v], *y = &e->m->value[w];
    sid name = x->name;
    x->name = edit_fresh(e, name, EDIT_VALUE);
    y->name = name;
    x->flags &= ~(uint32_t)VALUE_OUTPUT;
    y->flags |= VALUE_OUTPUT;
    e->value[v].new_output = w;
    e->value[v].output_time = e->time + 1;
}

/* Sets the operands of node n to the values that they read now, and exempts them from the next replacement. */
static void freeze_operands(struct edit *e, nid n)
{
    const uint32_t count = e->m->node[n].nformal;
    struct slice in = module_add_args(e->m, NULL, count);
    for (uint32_t i = 0; i < count; i++) {
        vid v = edit_in(e, n, i);
        e->m->arg[in.at + i] = v;
    }
    e->m->node[n].in = in;
    e->slot[n].set_at = e->time + 1;
}

vid edit_output_now(struct edit *e, gid g, vid v, uint32_t set_at)
{
    while (e->value[v].new_output != 0 && e->value[v].output_time > set_at) {
        set_at = e->value[v].output_time;
        v = e->value[v].new_output;
    }
    /* an output of a body may be a value of an outer graph, which is replaced as in operands */
    return e->m->value[v].graph == g ? v : edit_resolve(e, v, set_at);
}

bool edit_replace(struct edit *e, vid v, vid w)
{
    assert(v != 0 && w != 0 && v < e->m->nval && w < e->m->nval);
    bool output = (e->m->value[v].flags & VALUE_OUTPUT) != 0;
    if (v == w)
        return true;
    if (output && !can_be_output(e->m, v, w))
        return false;
    if (output)
        replace_output(e, v, w);
    if (e->m->value[w].def != 0)
        freeze_operands(e, e->m->value[w].def);
    e->change = vec_grow(e->a, e->change, &e->capchange, e->nchange + 1, sizeof *e->change);
    e->change[e->nchange] = (struct edit_change){++e->time, w, 0};
    /* appends the change to the list of v's changes */
    if (e->value[v].first_change == 0)
        e->value[v].first_change = e->nchange;
    else
        e->change[e->value[v].last_change].next = e->nchange;
    e->value[v].last_change = e->nchange++;
    return true;
}

void edit_sweep(struct edit *e)
{
    e->sweep = true;
}
