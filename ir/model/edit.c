/* Editing a module: nodes, values, attributes and weights (edit.h); edit_end.c puts the module in order afterwards.
 *
 * The nodes of a graph are a list while it is edited, so that a node comes before or behind another one in O(1).  A
 * value is replaced by noting when and by what; operands are looked at once, at the end.  Nothing that the module had
 * is written over: lists that change are made anew, since modules may share pools (passes/functions/inliner.c). */
#include "ir/model/edit_state.h"

#include "ir/base/strings.h"

#include <assert.h>
#include <string.h>

enum { NAME_OF_VALUE = 1, NAME_OF_NODE = 2 };

/* ---- beginning ---------------------------------------------------------------------------------- */

static void grow_nodes(struct edit *e)
{
    e->slot = vec_grow(e->a, e->slot, &e->capslot, e->m->nnode, sizeof *e->slot);
}

static void grow_values(struct edit *e)
{
    e->value = vec_grow(e->a, e->value, &e->capvalue, e->m->nval, sizeof *e->value);
}

static void grow_graphs(struct edit *e)
{
    e->first = vec_grow(e->a, e->first, &e->capfirst, e->m->ngraph, sizeof *e->first);
    e->last = vec_grow(e->a, e->last, &e->caplast, e->m->ngraph, sizeof *e->last);
    e->come = vec_grow(e->a, e->come, &e->capcome, e->m->ngraph, sizeof *e->come);
    e->latest = vec_grow(e->a, e->latest, &e->caplatest, e->m->ngraph, sizeof *e->latest);
}

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
    e->list = vec_grow(a, NULL, &e->caplist, 1, sizeof *e->list);
    e->nlist = 1;
    grow_nodes(e);
    grow_values(e);
    grow_graphs(e);
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
    *(at != 0 ? &e->slot[at].next : &e->first[g]) = n;
    *(next != 0 ? &e->slot[next].prev : &e->last[g]) = n;
}

void edit_unlink(struct edit *e, nid n)
{
    const struct edit_slot s = e->slot[n];
    gid g = e->m->node[n].graph;
    *(s.prev != 0 ? &e->slot[s.prev].next : &e->first[g]) = s.next;
    *(s.next != 0 ? &e->slot[s.next].prev : &e->last[g]) = s.prev;
}

/* ---- names -------------------------------------------------------------------------------------- */

static void take_names(struct edit *e, const struct module *m)
{
    for (vid v = 1; v < m->nval; v++)
        if (m->value[v].name != 0)
            map_set(&e->taken, e->a, map_key(NAME_OF_VALUE, m->value[v].name), 1);
    for (nid n = 1; n < m->nnode; n++)
        if (m->node[n].name != 0)
            map_set(&e->taken, e->a, map_key(NAME_OF_NODE, m->node[n].name), 1);
    for (uint32_t f = 1; f < m->nfunction; f++)
        take_names(e, m->function[f].body); /* which have no functions */
}

/* A taken name without the number behind it, if that is taken, too: names do not grow from copy to copy. */
static sid without_number(const struct edit *e, sid name, uint32_t what)
{
    const char *s = str(e->m, name);
    size_t n = strlen(s);
    while (n > 0 && s[n - 1] >= '0' && s[n - 1] <= '9')
        n--;
    if (n < 2 || s[n] == '\0' || s[n - 1] != '_' || map_get(&e->taken, map_key(what, name)) == 0)
        return name;
    sid base = str_id_n(e->m, s, n - 1);
    return map_get(&e->taken, map_key(what, base)) != 0 ? base : name;
}

sid edit_fresh(struct edit *e, sid like, uint32_t what)
{
    struct module *m = e->m;
    if (e->taken.mask == 0)
        take_names(e, m);
    if (like == 0)
        like = str_id(m, what == NAME_OF_NODE ? "node" : "value");
    like = without_number(e, like, what);
    sid name = like;
    uint32_t next = map_get(&e->taken, map_key(what, like));
    for (bool taken = next != 0; taken; next++) {
        name = str_id(m, arena_fmt(e->a, "%s_%u", str(m, like), next));
        taken = map_get(&e->taken, map_key(what, name)) != 0;
    }
    map_set(&e->taken, e->a, map_key(what, like), next + (next == 0));
    if (name != like)
        map_set(&e->taken, e->a, map_key(what, name), 1);
    return name;
}

/* A copy of a tensor under a name: others may have the tensor itself.  The values of a sparse one have the name, too. */
tid edit_tensor_named(struct edit *e, tid t, sid name)
{
    struct tensor x = e->m->tensor[t];
    if (x.where == TENSOR_SPARSE && x.of[0] != 0)
        x.of[0] = edit_tensor_named(e, x.of[0], name); /* which is not sparse */
    x.name = name;
    tid own = module_add_tensor(e->m);
    e->m->tensor[own] = x;
    return own;
}

void edit_name_node(struct edit *e, nid n, const char *like)
{
    sid name = str_id(e->m, like);
    if (e->m->node[n].name == name && name != 0)
        return;
    e->m->node[n].name = edit_fresh(e, name, NAME_OF_NODE);
    e->m->node[n].flags &= ~(uint32_t)NODE_UNNAMED;
}

void edit_name_value(struct edit *e, vid v, const char *like)
{
    struct value *x = &e->m->value[v];
    sid name = str_id(e->m, like);
    bool border = x->graph == 1 && (x->flags & (VALUE_INPUT | VALUE_OUTPUT)) != 0;
    if (x->name == name || border)
        return;
    x->was = x->was != 0 ? x->was : x->name;
    x->name = edit_fresh(e, name, NAME_OF_VALUE);
    if (x->tensor != 0) /* it has the name, too */
        x->tensor = edit_tensor_named(e, x->tensor, x->name);
}

/* ---- nodes -------------------------------------------------------------------------------------- */

static nid new_node(struct edit *e, gid g, nid after, const char *op)
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
    return new_node(e, g, e->last[g], op);
}

nid edit_before(struct edit *e, nid at, const char *op)
{
    return new_node(e, e->m->node[at].graph, e->slot[at].prev, op);
}

nid edit_after(struct edit *e, nid at, const char *op)
{
    return new_node(e, e->m->node[at].graph, at, op);
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
            m->value[v].name = edit_fresh(e, m->value[v].name, NAME_OF_VALUE);
    }
}

/* The function of those names, 0: none. */
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

/* What is said about node n, in an entry of its own. */
static struct about *own_about(struct edit *e, nid n)
{
    struct node *x = &e->m->node[n];
    x->flags |= NODE_MADE; /* its message is only a pattern now */
    x->about = module_add_about(e->m, e->m->about[x->about]);
    return &e->m->about[x->about];
}

void edit_set_doc(struct edit *e, nid n, const char *doc)
{
    sid s = str_id(e->m, doc);
    own_about(e, n)->doc = s;
}

void edit_set_meta(struct edit *e, nid n, const char *key, const char *value)
{
    struct module *m = e->m;
    const sid k = str_id(m, key), v = str_id(m, value);
    const struct slice old = m->about[m->node[n].about].meta;
    uint32_t at = 0;
    while (at < old.n && m->sids[old.at + at] != k)
        at += 2;
    struct slice now = module_add_sids(m, NULL, at < old.n ? old.n : old.n + 2);
    memcpy(m->sids + now.at, m->sids + old.at, old.n * sizeof *m->sids);
    m->sids[now.at + at] = k;
    m->sids[now.at + at + 1] = v;
    own_about(e, n)->meta = now;
}

/* ---- operands and results ----------------------------------------------------------------------- */

/* The change that a reader of v meets that was set at that time; 0: none. */
static uint32_t change_after(const struct edit *e, vid v, uint32_t set_at)
{
    uint32_t i = e->value[v].change;
    while (i != 0 && e->list[i].time <= set_at)
        i = e->list[i].next;
    return i;
}

/* Chains can be long, and have readers at each link: what a reader from before all changes of a value reads in the end
 * is kept for all values on the way, until there is another change. */
vid edit_resolve(struct edit *e, vid v, uint32_t set_at)
{
    struct arena_mark mark = arena_mark(e->a);
    vid *walk = NULL;
    uint32_t n = 0, cap = 0;
    for (uint32_t i; (i = change_after(e, v, set_at)) != 0;) {
        if (i == e->value[v].change) {
            if (e->value[v].known_at == e->nlist) {
                v = e->value[v].known;
                break;
            }
            walk = vec_grow(e->a, walk, &cap, n + 1, sizeof *walk);
            walk[n++] = v;
        }
        set_at = e->list[i].time;
        v = e->list[i].to;
    }
    for (uint32_t k = 0; k < n; k++) {
        e->value[walk[k]].known = v;
        e->value[walk[k]].known_at = e->nlist;
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
    struct slice in =
        module_add_args(e->m, v, count); /* what its bodies capture comes at the end */
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

/* A new value of a graph with a name like that. */
vid edit_new_value(struct edit *e, gid g, sid like, uint32_t flags)
{
    sid name = edit_fresh(e, like, NAME_OF_VALUE);
    vid v = module_add_value(e->m);
    grow_values(e);
    e->m->value[v] = (struct value){.name = name, .graph = g, .flags = flags};
    return v;
}

/* A list with one more value. */
static struct slice add_result(struct module *m, struct slice old, vid v)
{
    if (old.n > 0 && old.at + old.n == m->narg) { /* the last one of its pool grows */
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
    struct slice out = add_result(e->m, e->m->node[n].out, 0);
    e->m->node[n].out = out;
}

vid edit_result(struct edit *e, nid n, const char *name, vid like)
{
    struct module *m = e->m;
    sid want = name != NULL ? str_id(m, name) : like != 0 ? m->value[like].name : m->node[n].name;
    vid v = edit_new_value(e, m->node[n].graph, want, 0);
    const struct slice old = m->node[n].out;
    struct slice out = add_result(m, old, v);
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

/* Whether w can be the output that v is. */
static bool may_stand(const struct module *m, vid v, vid w)
{
    const uint32_t taken = VALUE_INPUT | VALUE_INIT | VALUE_OUTPUT;
    return (m->value[v].flags & (VALUE_INPUT | VALUE_INIT)) == 0 &&
           (m->value[w].flags & taken) == 0 && m->value[w].graph == m->value[v].graph;
}

/* Makes w the output that v is. */
static void stand(struct edit *e, vid v, vid w)
{
    struct value *x = &e->m->value[v], *y = &e->m->value[w];
    sid name = x->name;
    x->name = edit_fresh(e, name, NAME_OF_VALUE);
    y->name = name;
    x->flags &= ~(uint32_t)VALUE_OUTPUT;
    y->flags |= VALUE_OUTPUT;
    e->value[v].stands = w;
    e->value[v].stood = e->time + 1;
}

/* The node goes on reading what it reads now. */
static void keep_operands(struct edit *e, nid n)
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
    while (e->value[v].stands != 0 && e->value[v].stood > set_at) {
        set_at = e->value[v].stood;
        v = e->value[v].stands;
    }
    return e->m->value[v].graph == g ? v : edit_resolve(e, v, set_at);
}

bool edit_replace(struct edit *e, vid v, vid w)
{
    assert(v != 0 && w != 0 && v < e->m->nval && w < e->m->nval);
    bool output = (e->m->value[v].flags & VALUE_OUTPUT) != 0;
    if (v == w)
        return true;
    if (output && !may_stand(e->m, v, w))
        return false;
    if (output)
        stand(e, v, w);
    if (e->m->value[w].def != 0)
        keep_operands(e, e->m->value[w].def);
    e->list = vec_grow(e->a, e->list, &e->caplist, e->nlist + 1, sizeof *e->list);
    e->list[e->nlist] = (struct edit_change){++e->time, w, 0};
    *(e->value[v].change == 0 ? &e->value[v].change : &e->list[e->value[v].latest].next) = e->nlist;
    e->value[v].latest = e->nlist++;
    return true;
}

void edit_sweep(struct edit *e)
{
    e->sweep = true;
}

/* ---- attributes --------------------------------------------------------------------------------- */

uint32_t edit_nbody(const struct attr *a)
{
    return a->ref != 0 ? 0 : a->kind == ATTR_GRAPH ? 1 : a->kind == ATTR_GRAPHS ? a->u.list.n : 0;
}

gid edit_body(const struct module *m, const struct attr *a, uint32_t i)
{
    return a->kind == ATTR_GRAPH ? a->u.g : m->refs[a->u.list.at + i];
}

/* The attributes of a node anew, without the one of that name, with room for one more at the end if `add`: in place of
 * the old one, if there was one; its place. */
static uint32_t change_attrs(struct edit *e, nid n, sid name, bool add)
{
    struct module *m = e->m;
    const struct slice old = m->node[n].attr;
    uint32_t at = UINT32_MAX, k = 0;
    for (uint32_t i = 0; i < old.n && at == UINT32_MAX; i++)
        at = m->attr[old.at + i].name == name ? i : at;
    uint32_t count = old.n + (add && at == UINT32_MAX) - (!add && at != UINT32_MAX);
    struct slice now = module_add_attrs(m, NULL, count);
    for (uint32_t i = 0; i < old.n; i++)
        if (add || i != at)
            m->attr[now.at + k++] = m->attr[old.at + i];
    m->node[n].attr = now;
    return now.at + (at != UINT32_MAX ? at : old.n);
}

void edit_set_attr(struct edit *e, nid n, struct attr a)
{
    assert(a.name != 0);
    uint32_t at = change_attrs(e, n, a.name, true);
    e->m->attr[at] = a;
}

void edit_drop_attr(struct edit *e, nid n, const char *name)
{
    if (node_attr(e->m, n, name) != NULL)
        change_attrs(e, n, str_id(e->m, name), false);
}

void edit_set_int(struct edit *e, nid n, const char *name, int64_t v)
{
    edit_set_attr(e, n, (struct attr){.name = str_id(e->m, name), .kind = ATTR_INT, .u.i = v});
}

void edit_set_float(struct edit *e, nid n, const char *name, float v)
{
    edit_set_attr(e, n, (struct attr){.name = str_id(e->m, name), .kind = ATTR_FLOAT, .u.f = v});
}

void edit_set_string(struct edit *e, nid n, const char *name, const char *v)
{
    struct attr a = {.name = str_id(e->m, name), .kind = ATTR_STRING};
    a.u.s = str_id(e->m, v);
    edit_set_attr(e, n, a);
}

void edit_set_ints(struct edit *e, nid n, const char *name, const int64_t *v, uint32_t count)
{
    struct attr a = {.name = str_id(e->m, name), .kind = ATTR_INTS};
    a.u.list = module_add_ints(e->m, v, count);
    edit_set_attr(e, n, a);
}

void edit_set_tensor(struct edit *e, nid n, const char *name, tid t)
{
    edit_set_attr(e, n, (struct attr){.name = str_id(e->m, name), .kind = ATTR_TENSOR, .u.t = t});
}

/* ---- graphs ------------------------------------------------------------------------------------- */

static gid new_graph(struct edit *e, nid owner, sid name)
{
    gid g = module_add_graph(e->m);
    grow_graphs(e);
    e->m->graph[g].owner = owner;
    e->m->graph[g].name = name;
    return g;
}

gid edit_set_body(struct edit *e, nid n, const char *name)
{
    gid g = new_graph(e, n, str_id(e->m, name));
    edit_set_attr(e, n, (struct attr){.name = str_id(e->m, name), .kind = ATTR_GRAPH, .u.g = g});
    return g;
}

gid edit_add_body(struct edit *e, nid n, const char *name)
{
    struct module *m = e->m;
    const struct attr *old = node_attr(m, n, name);
    struct attr a = {.name = str_id(m, name), .kind = ATTR_GRAPHS};
    const struct slice list = old != NULL && old->kind == ATTR_GRAPHS ? old->u.list : a.u.list;
    gid g = new_graph(e, n, a.name);
    a.u.list = module_add_refs(m, NULL, list.n + 1);
    memcpy(m->refs + a.u.list.at, m->refs + list.at, list.n * sizeof *m->refs);
    m->refs[a.u.list.at + list.n] = g;
    edit_set_attr(e, n, a);
    return g;
}

/* Notes that v comes to the end of a list. */
void edit_append(struct edit *e, gid g, vid v, int list)
{
    const uint32_t at = e->nborder++;
    e->border = vec_grow(e->a, e->border, &e->capborder, e->nborder, sizeof *e->border);
    e->border[at] = (struct edit_border){.graph = g, .value = v, .set_at = e->time};
    e->border[at].list = list;
    *(e->come[g] == 0 ? &e->come[g] : &e->border[e->latest[g] - 1].next) = at + 1;
    e->latest[g] = at + 1;
}

vid edit_input(struct edit *e, gid g, const char *name, uint32_t type)
{
    vid v = edit_new_value(e, g, str_id(e->m, name), VALUE_INPUT);
    e->m->value[v].type = type;
    edit_append(e, g, v, BORDER_IN);
    return v;
}

void edit_output(struct edit *e, gid g, vid v)
{
    edit_append(e, g, v, BORDER_OUT);
    if (e->m->value[v].graph == g)
        e->m->value[v].flags |= VALUE_OUTPUT;
}

void edit_import(struct edit *e, const char *domain, int64_t version)
{
    sid d = domain != NULL && strcmp(domain, "ai.onnx") != 0 ? str_id(e->m, domain) : 0;
    if (module_opset(e->m, d) < 0)
        module_add_opset(e->m, d, version);
}

/* ---- copies of nodes ---------------------------------------------------------------------------- */

struct pair {
    uint32_t from, to;
};

/* A copy under way: values, nodes and bodies of the original, and theirs. */
struct copying {
    struct edit *e;
    struct map value;
    struct pair *node, *body;
    uint32_t nnode, capnode, nbody, capbody;
};

static vid copied_value(const struct copying *c, vid v)
{
    vid w = map_get(&c->value, v);
    return v != 0 && w != 0 ? w : v;
}

/* A new value in place of v, in graph g.  Inputs and outputs of bodies keep their names: some operators find them by name
 * (com.microsoft::BeamSearch). */
static vid copy_value(struct copying *c, vid v, gid g)
{
    struct module *m = c->e->m;
    if (v == 0)
        return 0;
    const uint32_t kept = VALUE_INPUT | VALUE_INIT | VALUE_LOST | VALUE_TYPED | VALUE_RETYPED;
    const struct value x = m->value[v];
    bool lost = (x.flags & VALUE_LOST) != 0;
    vid w = edit_new_value(c->e, g, x.name, x.flags & kept);
    bool border = g != x.graph && (x.flags & (VALUE_INPUT | VALUE_OUTPUT)) != 0;
    m->value[w].name = lost ? 0 : border ? x.name : m->value[w].name;
    m->value[w].type = x.type;
    c->e->value[w].like = v;
    if (x.tensor != 0) {
        tid t = edit_tensor_named(c->e, x.tensor, m->value[w].name);
        m->value[w].tensor = t;
    }
    map_set(&c->value, c->e->a, v, w);
    return w;
}

/* What list `which` of a body has, for the same list of its copy. */
static void copy_border(struct copying *c, struct pair body, vid v, int which, uint32_t set_at)
{
    struct edit *e = c->e;
    if (which == BORDER_OUT)
        edit_output(e, body.to, copied_value(c, edit_output_now(e, body.from, v, set_at)));
    else
        edit_append(e, body.to,
               map_get(&c->value, v) != 0 ? copied_value(c, v) : copy_value(c, v, body.to), which);
}

/* A list of graph `from` for its copy `to`: copies of inputs and initializers, or the outputs that have come of it. */
static void copy_list(struct copying *c, struct pair body, struct slice list, int which)
{
    struct edit *e = c->e;
    for (uint32_t i = 0; i < list.n; i++)
        copy_border(c, body, e->m->arg[list.at + i], which, 0);
    for (uint32_t i = e->come[body.from]; i != 0; i = e->border[i - 1].next)
        if ((int)e->border[i - 1].list == which)
            copy_border(c, body, e->border[i - 1].value, which, e->border[i - 1].set_at);
}

static gid copy_body(struct copying *c, gid from, nid owner)
{
    const struct graph x = c->e->m->graph[from];
    gid g = new_graph(c->e, owner, x.name);
    c->e->m->graph[g].about = x.about;
    c->e->m->graph[g].src = x.src;
    c->body = vec_grow(c->e->a, c->body, &c->capbody, c->nbody + 1, sizeof *c->body);
    c->body[c->nbody++] = (struct pair){from, g};
    return g;
}

/* The attributes of node n for its copy, whose bodies are still empty. */
static struct slice copy_attrs(struct copying *c, nid n, nid copy)
{
    struct module *m = c->e->m;
    const struct slice old = m->node[n].attr;
    struct slice now = module_add_attrs(m, m->attr + old.at, old.n);
    for (uint32_t i = 0; i < now.n; i++) {
        struct attr a = m->attr[now.at + i];
        uint32_t bodies = edit_nbody(&a);
        if (bodies == 0)
            continue;
        if (a.kind == ATTR_GRAPH) {
            a.u.g = copy_body(c, a.u.g, copy);
        } else {
            struct slice list = module_add_refs(m, NULL, bodies);
            for (uint32_t k = 0; k < bodies; k++) {
                gid g = copy_body(c, m->refs[a.u.list.at + k], copy);
                m->refs[list.at + k] = g;
            }
            a.u.list = list;
        }
        m->attr[now.at + i] = a;
    }
    return now;
}

/* A copy of node n in graph g behind `after`, with results; operands come when all values are there. */
static nid copy_node(struct copying *c, nid n, gid g, nid after)
{
    struct edit *e = c->e;
    struct module *m = e->m;
    nid k = new_node(e, g, after, node_op(m, n));
    const struct slice old = m->node[n].out;
    struct slice out = module_add_args(m, NULL, old.n);
    for (uint32_t i = 0; i < old.n; i++) {
        vid v = copy_value(c, m->arg[old.at + i], g);
        m->arg[out.at + i] = v;
        if (v != 0) {
            m->value[v].def = k;
            m->value[v].outno = i;
        }
    }
    struct node x = m->node[n];
    x.graph = g;
    x.out = out;
    x.attr = copy_attrs(c, n, k);
    x.name = x.name != 0 ? edit_fresh(e, x.name, NAME_OF_NODE) : 0; /* at the end, as the original */
    x.flags = (x.flags & ~(uint32_t)NODE_UNNAMED) | NODE_MADE;
    m->node[k] = x;
    edit_made_from(e, k, n);
    e->slot[k].copy = !e->slot[n].is_new || e->slot[n].copy;
    c->node = vec_grow(e->a, c->node, &c->capnode, c->nnode + 1, sizeof *c->node);
    c->node[c->nnode++] = (struct pair){n, k};
    return k;
}

static void copy_operands(struct copying *c, struct pair p)
{
    struct edit *e = c->e;
    struct module *m = e->m;
    struct slice in = module_add_args(m, NULL, m->node[p.from].nformal);
    for (uint32_t i = 0; i < in.n; i++) {
        vid v = copied_value(c, edit_in(e, p.from, i));
        m->arg[in.at + i] = v;
    }
    m->node[p.to].in = in;
    e->slot[p.to].set_at = e->time;
}

nid edit_copy(struct edit *e, nid n)
{
    struct module *m = e->m;
    struct copying c = {.e = e};
    nid k = copy_node(&c, n, m->node[n].graph, n);
    for (uint32_t i = 0; i < c.nbody; i++) {
        const struct pair body = c.body[i];
        copy_list(&c, body, m->graph[body.from].in, BORDER_IN);
        copy_list(&c, body, m->graph[body.from].init, BORDER_INIT);
        for (nid at = e->first[body.from]; at != 0; at = e->slot[at].next)
            if (!e->slot[at].gone)
                copy_node(&c, at, body.to, e->last[body.to]);
    }
    for (uint32_t i = 0; i < c.nnode; i++)
        copy_operands(&c, c.node[i]);
    for (uint32_t i = 0; i < c.nbody; i++)
        copy_list(&c, c.body[i], m->graph[c.body[i].from].out, BORDER_OUT);
    return k;
}
