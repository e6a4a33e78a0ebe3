/* Replaces calls of functions by the functions' nodes (inliner.h).
 *
 * The nodes of every graph are written anew, in order, with an explicit stack: a node is copied; for a
 * call, the function's body is entered with an environment that says which values its inputs and outputs
 * are, which attributes the call gave, and what its names are put under (call/inner).  The bodies of an
 * If, Loop or Scan inside become graphs of their own, with the same environment, on a list of graphs still
 * to be written.  What a function returns without having computed it gets an Identity.
 *
 * Values of the original keep their numbers, so that what is learned here about them is true there.  Of a
 * function, the pools (lists, tensors, types) are taken over once, by shifting indices; names of
 * dimensions in its types are private and count as unknown.
 * O(the result) time and memory, expected (hashing of names). */
#include "passes/functions/inliner.h"

#include <string.h>

enum { MOST_NAMES = 256 << 20 }; /* bytes: names grow with the depth of calls */

/* Where the entries of a function's pools begin in the result: what is added to an index of the function. */
struct shift {
    bool done;
    uint32_t ints, floats, sids, type, tensor, give, about;
    int64_t opset; /* of ai.onnx */
};

/* What the values and names of a function stand for in one call of it; function 0: the model itself. */
struct env {
    const struct module *from;
    uint32_t function;
    vid *value;      /* [value of from] in the result; 0: omitted, or not yet known */
    struct map give; /* name -> attribute of the result: what the call gives, else the default */
    sid prefix;
    nid origin; /* origin of its nodes: the call in the original; 0: each node's own */
    int64_t opset;
    uint32_t site; /* of the call; 0: the model itself */
    sid from_call; /* name of the call in the original; 0: the model itself */
};

/* A graph to be written. */
struct job {
    gid from, to;
    struct env *env;
};

/* A place in a graph that is being written. */
struct frame {
    struct env *env;
    nid at, end;
    /* of the call: results of the call that no node of the function makes directly: leave_frame() adds an Identity */
    struct slice out;
    /* whether it is the main graph of a function, so that a site ends with it */
    bool call;
};

struct inliner {
    const struct module *src;
    const struct functions *f;
    const struct inline_how *how;
    struct inlined *x;
    struct module *m; /* &x->m */
    struct arena *a;  /* until the end */
    struct map taken; /* (space, name) that are taken; (node, value) captures that a node has */
    uint64_t name_bytes;
    struct shift *shift; /* [function] */
    struct job *job;
    uint32_t njob, capjob;
    struct frame *stack;
    uint32_t depth, capstack;
    gid graph; /* the graph that is being written */
};

/* ---- names ---- */

enum { SPACE_VALUE = 1, SPACE_NODE = 2 };

static void take_names(struct inliner *w)
{
    for (vid v = 1; w->how->names && v < w->src->nval; v++)
        map_set(&w->taken, w->a, map_key(SPACE_VALUE, w->src->value[v].name), 1);
    for (nid n = 1; w->how->names && n < w->src->nnode; n++)
        map_set(&w->taken, w->a, map_key(SPACE_NODE, w->src->node[n].name), 1);
}

/* "prefix/inner"; outside of calls, or without names, `inner` itself. */
static sid plain_name(struct inliner *w, const struct env *e, sid inner)
{
    if (e->function == 0 || !w->how->names || inner == 0 || w->name_bytes > MOST_NAMES)
        return inner;
    return str_id(w->m, arena_fmt(w->a, "%s/%s", str(w->m, e->prefix), str(w->m, inner)));
}

/* plain_name, with _1, _2, ... behind it if that name is taken; takes it. */
static sid make_name(struct inliner *w, const struct env *e, sid inner, uint32_t space)
{
    sid plain = plain_name(w, e, inner), name = plain;
    if (e->function == 0 || !w->how->names || inner == 0 || w->name_bytes > MOST_NAMES)
        return plain;
    const char *text = str(w->m, plain);
    w->name_bytes += strlen(text);
    /* the number to try next; 0: the plain name is free */
    uint32_t next = map_get(&w->taken, map_key(space, plain));
    for (bool taken = next != 0; taken; next++) {
        name = str_id(w->m, arena_fmt(w->a, "%s_%u", text, next));
        taken = map_get(&w->taken, map_key(space, name)) != 0;
    }
    map_set(&w->taken, w->a, map_key(space, plain), next + (next == 0));
    if (name != plain)
        map_set(&w->taken, w->a, map_key(space, name), 1);
    return name;
}

/* ---- pools ---- */

static void shift_types(struct inliner *w, const struct module *b, struct shift *s)
{
    s->type = w->m->ntype - 1;
    for (uint32_t t = 1; t < b->ntype; t++) {
        struct type x = b->type[t];
        struct slice d = {0, x.rank > 0 ? (uint32_t)x.rank : 0};
        if (d.n > 0)
            d = module_add_dims(w->m, b->dim + x.dim, d.n);
        for (uint32_t i = 0; i < d.n; i++) {
            if (w->m->dim[d.at + i].sym != 0)
                w->m->dim[d.at + i] = dim_unknown();
        }
        x.dim = d.at;
        x.inner = x.inner != 0 ? x.inner + s->type : 0;
        module_add_type(w->m, x);
    }
}

static void shift_abouts(struct inliner *w, const struct module *b, struct shift *s)
{
    s->about = w->m->nabout - 1;
    for (uint32_t i = 1; i < b->nabout; i++) {
        struct about x = b->about[i];
        x.meta.at += s->sids;
        module_add_about(w->m, x);
    }
}

/* Index i of a pool whose entries follow `by` others; 0 stays 0. */
static uint32_t shifted(uint32_t i, uint32_t by)
{
    return i != 0 ? i + by : 0;
}

static void shift_tensors(struct inliner *w, const struct module *b, struct shift *s)
{
    s->tensor = w->m->ntensor - 1;
    for (tid t = 1; t < b->ntensor; t++) {
        struct tensor x = b->tensor[t];
        x.dim += s->ints;
        x.off += x.where == TENSOR_STRINGS ? s->sids : 0;
        x.of[0] = shifted(x.of[0], s->tensor);
        x.of[1] = shifted(x.of[1], s->tensor);
        x.range.at += s->ints;
        x.about = shifted(x.about, s->about);
        tid n = module_add_tensor(w->m);
        w->m->tensor[n] = x;
    }
}

static struct attr shift_attr(const struct shift *s, struct attr a)
{
    a.about = shifted(a.about, s->about);
    switch ((enum attr_kind)a.kind) {
    case ATTR_FLOATS:
        a.u.list.at += s->floats;
        break;
    case ATTR_INTS:
        a.u.list.at += s->ints;
        break;
    case ATTR_STRINGS:
        a.u.list.at += s->sids;
        break;
    case ATTR_TENSOR:
    case ATTR_SPARSE:
        a.u.t += s->tensor;
        break;
    case ATTR_TYPE:
        a.u.type = shifted(a.u.type, s->type);
        break;
    default: /* lists of tensors, types and graphs: shift_attr_list and take_attr copy them */
        break;
    }
    return a;
}

static struct attr shift_attr_list(struct inliner *w, const struct module *b, const struct shift *s,
                                   struct attr a)
{
    if (a.ref != 0)
        return a;
    if (a.kind != ATTR_TENSORS && a.kind != ATTR_SPARSES && a.kind != ATTR_TYPES)
        return shift_attr(s, a);
    struct slice from = a.u.list;
    a.about = shifted(a.about, s->about);
    a.u.list = module_add_refs(w->m, b->refs + from.at, from.n);
    for (uint32_t i = 0; i < from.n; i++) {
        uint32_t *ref = &w->m->refs[a.u.list.at + i];
        *ref = shifted(*ref, a.kind == ATTR_TYPES ? s->type : s->tensor);
    }
    return a;
}

/* Copies the pools of a function into the result when it is first called. */
static const struct shift *take_pools(struct inliner *w, uint32_t f)
{
    struct shift *s = &w->shift[f];
    const struct function *x = &w->src->function[f];
    const struct module *b = x->body;
    if (s->done)
        return s;
    s->done = true;
    s->opset = module_opset(b, 0);
    s->ints = module_add_ints(w->m, b->ints + 1, b->nints - 1).at - 1;
    s->floats = module_add_floats(w->m, b->floats + 1, b->nfloats - 1).at - 1;
    s->sids = module_add_sids(w->m, b->sids + 1, b->nsids - 1).at - 1;
    shift_types(w, b, s);
    shift_abouts(w, b, s);
    shift_tensors(w, b, s);
    s->give = w->m->nattr;
    module_add_attrs(w->m, b->attr + x->give.at, x->give.n);
    for (uint32_t i = 0; i < x->give.n; i++)
        w->m->attr[s->give + i] = shift_attr_list(w, b, s, b->attr[x->give.at + i]);
    return s;
}

/* ---- values ---- */

static vid value_in(const struct env *e, vid v)
{
    return e->function == 0 ? v : e->value[v];
}

/* Adds value `from` of the function to the graph being written, under a name of its own. */
static vid new_value(struct inliner *w, const struct env *e, vid from)
{
    struct value x = e->from->value[from];
    const struct shift *s = &w->shift[e->function];
    bool inner = x.graph != 1;
    x.name = make_name(w, e, x.name, SPACE_VALUE);
    x.graph = w->graph;
    x.type = x.type != 0 ? x.type + s->type : 0;
    x.flags &= inner ? (uint32_t)(VALUE_INPUT | VALUE_OUTPUT | VALUE_INIT | VALUE_LOST)
                     : (uint32_t)VALUE_LOST;
    x.def = 0;
    if (x.tensor != 0) { /* a tensor of its own, since it has another name */
        tid t = module_add_tensor(w->m);
        w->m->tensor[t] = w->m->tensor[x.tensor + s->tensor];
        w->m->tensor[t].name = x.name;
        x.tensor = t;
    }
    vid v = module_add_value(w->m);
    w->m->value[v] = x;
    e->value[from] = v;
    return v;
}

/* The value of the result for x, a result of a call; its definition is set later. */
static vid result_value(struct inliner *w, const struct env *e, vid x)
{
    if (x == 0 || (e->from->value[x].flags & VALUE_LOST) != 0)
        return 0;
    return e->function == 0 ? x : e->value[x] != 0 ? e->value[x] : new_value(w, e, x);
}

/* ---- nodes ---- */

static nid add_node(struct inliner *w, const struct env *e, struct node n, nid from)
{
    struct inlined *x = w->x;
    nid id = module_add_node(w->m);
    n.graph = w->graph;
    w->m->node[id] = n;
    x->origin = vec_grow(w->m->mem, x->origin, &x->caporigin, id + 1, sizeof *x->origin);
    x->opset = vec_grow(w->m->mem, x->opset, &x->capopset, id + 1, sizeof *x->opset);
    x->within = vec_grow(w->m->mem, x->within, &x->capwithin, id + 1, sizeof *x->within);
    x->origin[id] = e->origin != 0 ? e->origin : from;
    x->opset[id] = e->opset;
    x->within[id] = e->site;
    return id;
}

static gid add_body(struct inliner *w, struct env *e, gid from, nid owner)
{
    gid to = module_add_graph(w->m);
    w->m->graph[to].name = e->from->graph[from].name;
    w->m->graph[to].about = shifted(e->from->graph[from].about, w->shift[e->function].about);
    w->m->graph[to].src = e->from->graph[from].src;
    w->m->graph[to].owner = owner;
    w->job = vec_grow(w->a, w->job, &w->capjob, w->njob + 1, sizeof *w->job);
    w->job[w->njob++] = (struct job){from, to, e};
    return to;
}

/* Adds the attributes of `list` to e->give; names that are there already stay. */
static void add_given(struct inliner *w, struct env *e, struct slice list)
{
    for (uint32_t i = list.at; i < list.at + list.n; i++) {
        sid name = w->m->attr[i].name;
        if (name != 0 && (e->give.mask == 0 || map_get(&e->give, name) == 0))
            map_set(&e->give, w->a, name, i);
    }
}

/* Writes to *out attribute a of a function's node as an attribute of node n (0: of a call that is entered); false:
 * it is left out. */
static bool take_attr(struct inliner *w, struct env *e, const struct attr *a, nid n,
                      struct attr *out)
{
    const struct module *b = e->from;
    *out = *a;
    if (a->ref != 0) {
        uint32_t g = e->give.mask != 0 ? map_get(&e->give, a->ref) : 0;
        if (g == 0)
            return false; /* the call does not give it, and it has no default */
        *out = w->m->attr[g];
        out->name = a->name;
        return true;
    }
    if (a->kind == ATTR_GRAPH) {
        out->u.g = add_body(w, e, a->u.g, n);
    } else if (a->kind == ATTR_GRAPHS) {
        out->u.list = module_add_refs(w->m, b->refs + a->u.list.at, a->u.list.n);
        for (uint32_t i = 0; i < a->u.list.n; i++) {
            gid g = add_body(w, e, b->refs[a->u.list.at + i], n);
            w->m->refs[out->u.list.at + i] = g;
        }
    } else {
        *out = shift_attr_list(w, b, &w->shift[e->function], *a);
    }
    return true;
}

static struct slice take_attrs(struct inliner *w, struct env *e, struct slice from, nid n)
{
    struct slice to = {w->m->nattr, 0};
    if (e->function == 0)
        return from;
    for (uint32_t i = 0; i < from.n; i++) {
        struct attr a;
        if (take_attr(w, e, &e->from->attr[from.at + i], n, &a)) {
            module_add_attrs(w->m, &a, 1);
            to.n++;
        }
    }
    return to;
}

/* The bodies of a node of the model stay as they are: only their owner changes. */
static void keep_bodies(struct inliner *w, const struct node *n, nid id)
{
    for (uint32_t i = 0; i < n->attr.n; i++) {
        const struct attr *a = &w->m->attr[n->attr.at + i];
        if (a->ref == 0 && a->kind == ATTR_GRAPH)
            w->m->graph[a->u.g].owner = id;
        for (uint32_t k = 0; a->ref == 0 && a->kind == ATTR_GRAPHS && k < a->u.list.n; k++)
            w->m->graph[w->m->refs[a->u.list.at + k]].owner = id;
    }
}

/* Copies the operands of n, captures once each. */
static struct slice take_operands(struct inliner *w, struct env *e, const struct node *n, nid id)
{
    struct slice to = {w->m->narg, 0};
    for (uint32_t i = 0; i < n->in.n; i++) {
        vid v = value_in(e, e->from->arg[n->in.at + i]);
        if (i >= n->nformal) {
            if (v == 0 || map_get(&w->taken, map_key(id | 1u << 31, v)) != 0)
                continue;
            map_set(&w->taken, w->a, map_key(id | 1u << 31, v), 1);
        }
        module_add_args(w->m, &v, 1);
        to.n++;
    }
    return to;
}

static struct slice take_results(struct inliner *w, struct env *e, const struct node *n, nid id)
{
    struct slice to = {w->m->narg, 0};
    for (uint32_t i = 0; i < n->out.n; i++) {
        vid x = e->from->arg[n->out.at + i], v = 0;
        if (x != 0)
            v = e->function == 0 ? x : e->value[x] != 0 ? e->value[x] : new_value(w, e, x);
        if (v != 0) {
            struct value *y = &w->m->value[v];
            uint32_t type = e->from->value[x].type;
            y->def = id;
            y->outno = i;
            if (y->type == 0 && type != 0)
                y->type = e->function == 0 ? type : type + w->shift[e->function].type;
        }
        module_add_args(w->m, &v, 1);
        to.n++;
    }
    return to;
}

static void copy_node(struct inliner *w, struct env *e, nid from)
{
    struct node n = e->from->node[from];
    if (e->function == 0) {
        nid id = add_node(w, e, n, from);
        keep_bodies(w, &n, id);
        for (uint32_t i = 0; i < n.out.n; i++) {
            vid v = w->m->arg[n.out.at + i];
            if (v != 0)
                w->m->value[v].def = id;
        }
        return;
    }
    n.name = make_name(w, e, n.name, SPACE_NODE);
    n.about = shifted(n.about, w->shift[e->function].about);
    n.made_from = e->from_call;
    n.flags |= NODE_MADE;
    nid id = add_node(w, e, n, from);
    struct slice in = take_operands(w, e, &n, id), out = take_results(w, e, &n, id);
    struct slice attr = take_attrs(w, e, n.attr, id);
    w->m->node[id].in = in;
    w->m->node[id].out = out;
    w->m->node[id].attr = attr;
}

/* ---- calls ---- */

/* Whether the call passes on a value that its caller was not given itself. */
static bool passes_nothing(const struct env *e, nid call)
{
    const struct node *n = &e->from->node[call];
    for (uint32_t i = 0; i < n->nformal; i++) {
        if (value_in(e, e->from->arg[n->in.at + i]) == 0)
            return true;
    }
    return false;
}

static bool is_entered(struct inliner *w, const struct env *e, nid n)
{
    uint32_t f = e->from->node[n].callee;
    if (f == 0 || (e->from->node[n].flags & NODE_LOST) != 0 || w->f->fate[f] != FATE_FREE ||
        (w->how->main_only && w->graph != 1) || (w->f->returns[f] != 0 && passes_nothing(e, n)) ||
        call_obstacle(w->src, w->f, e->from, n) != NULL)
        return false;
    return w->how->enters == NULL ||
           w->how->enters(w->how->user, e->function, n, plain_name(w, e, e->from->node[n].name));
}

static void push_frame(struct inliner *w, struct env *e, gid g, struct slice out, bool call)
{
    const struct graph *x = &e->from->graph[g];
    w->stack = vec_grow(w->a, w->stack, &w->capstack, w->depth + 1, sizeof *w->stack);
    w->stack[w->depth++] = (struct frame){e, x->first, x->first + x->count, out, call};
}

/* Adds a site for the call, with the lists of what it is given and returns; returns its number. */
static uint32_t add_site(struct inliner *w, const struct env *e, nid call, sid name)
{
    const struct node *n = &e->from->node[call];
    struct inlined *x = w->x;
    struct site s = {.name = name, .function = n->callee, .parent = e->site, .call = call};
    s.first = w->m->nnode;
    s.in = (struct slice){w->m->narg, n->nformal};
    for (uint32_t i = 0; i < n->nformal; i++) {
        vid v = value_in(e, e->from->arg[n->in.at + i]);
        module_add_args(w->m, &v, 1);
    }
    s.out = (struct slice){w->m->narg, n->out.n};
    for (uint32_t i = 0; i < n->out.n; i++) {
        vid v = result_value(w, e, e->from->arg[n->out.at + i]);
        module_add_args(w->m, &v, 1);
    }
    x->site = vec_grow(w->m->mem, x->site, &x->capsite, x->nsite + 1, sizeof *x->site);
    x->site[x->nsite] = s;
    return x->nsite++;
}

static void enter_call(struct inliner *w, struct env *e, nid call)
{
    const struct node *n = &e->from->node[call];
    struct env *in = arena_alloc(w->a, sizeof *in);
    const struct module *b = w->src->function[n->callee].body;
    const struct graph *g = &b->graph[1];
    *in = (struct env){.from = b, .function = n->callee};
    in->prefix = make_name(w, e, n->name, SPACE_NODE);
    in->origin = e->origin != 0 ? e->origin : call;
    in->from_call = e->from_call != 0 ? e->from_call : n->name;
    in->site = add_site(w, e, call, in->prefix);
    in->value = arena_array(w->a, b->nval, sizeof *in->value);
    in->opset = take_pools(w, n->callee)->opset;
    add_given(w, in, take_attrs(w, e, n->attr, 0));
    add_given(w, in, (struct slice){w->shift[n->callee].give, w->src->function[n->callee].give.n});
    for (uint32_t i = 0; i < n->nformal; i++)
        in->value[b->arg[g->in.at + i]] = value_in(e, e->from->arg[n->in.at + i]);
    struct slice out = {w->m->narg, n->out.n};
    for (uint32_t i = 0; i < n->out.n; i++) {
        vid r = w->m->arg[w->x->site[in->site].out.at + i];
        vid y = b->arg[g->out.at + i];
        if (r != 0 && b->value[y].def != 0 && in->value[y] == 0) {
            in->value[y] = r;
            r = 0; /* the node that makes it in the function will define it */
        }
        module_add_args(w->m, &r, 1);
    }
    push_frame(w, in, 1, out, true);
}

/* Ends a frame: adds an Identity for each result of the call that is some other value of the function, and closes
 * the site. */
static void leave_frame(struct inliner *w, const struct frame *t)
{
    struct env *e = t->env;
    const struct module *b = e->from;
    for (uint32_t i = 0; i < t->out.n; i++) {
        vid r = w->m->arg[t->out.at + i];
        if (r == 0)
            continue;
        vid y = value_in(e, b->arg[b->graph[1].out.at + i]);
        sid name = make_name(w, e, str_id(w->m, "Identity"), SPACE_NODE);
        struct node n = {.name = name, .op = str_id(w->m, "Identity"), .nformal = 1};
        n.flags = NODE_MADE;
        n.made_from = e->from_call;
        n.in = module_add_args(w->m, &y, 1);
        n.out = module_add_args(w->m, &r, 1);
        nid id = add_node(w, e, n, 0);
        w->m->value[r].def = id;
        w->m->value[r].outno = 0;
    }
    if (t->call) {
        w->x->site[e->site].end = w->m->nnode;
        w->x->site[e->site].after = w->x->nsite;
    }
}

/* ---- graphs ---- */

static void write_body_lists(struct inliner *w, const struct job *j)
{
    const struct graph *from = &j->env->from->graph[j->from];
    const struct slice list[2] = {from->in, from->init};
    struct slice to[2];
    for (int k = 0; k < 2; k++) {
        to[k] = (struct slice){w->m->narg, list[k].n};
        for (uint32_t i = 0; i < list[k].n; i++) {
            vid x = j->env->from->arg[list[k].at + i], v = j->env->value[x];
            v = v != 0 ? v : new_value(w, j->env, x);
            module_add_args(w->m, &v, 1);
        }
    }
    w->m->graph[j->to].in = to[0];
    w->m->graph[j->to].init = to[1];
}

static void write_body_outputs(struct inliner *w, const struct job *j)
{
    const struct slice from = j->env->from->graph[j->from].out;
    struct slice to = {w->m->narg, from.n};
    for (uint32_t i = 0; i < from.n; i++) {
        vid v = value_in(j->env, j->env->from->arg[from.at + i]);
        module_add_args(w->m, &v, 1);
    }
    w->m->graph[j->to].out = to;
}

static void write_graph(struct inliner *w, struct job j)
{
    w->graph = j.to;
    w->m->graph[j.to].first = w->m->nnode;
    if (j.env->function != 0)
        write_body_lists(w, &j);
    push_frame(w, j.env, j.from, (struct slice){0, 0}, false);
    while (w->depth > 0) {
        struct frame *t = &w->stack[w->depth - 1];
        if (t->at == t->end) {
            leave_frame(w, t);
            w->depth--;
            continue;
        }
        nid n = t->at++;
        if (is_entered(w, t->env, n))
            enter_call(w, t->env, n); /* may move the stack: t is stale */
        else
            copy_node(w, t->env, n);
    }
    w->m->graph[j.to].count = w->m->nnode - w->m->graph[j.to].first;
    if (j.env->function != 0)
        write_body_outputs(w, &j);
}

/* ---- the whole ---- */

static uint32_t *remap(const struct inlined *x, const uint32_t *old)
{
    if (old == NULL)
        return NULL;
    uint32_t *now = arena_array(x->m.mem, x->m.nnode, sizeof *now);
    for (nid n = 1; n < x->m.nnode; n++)
        now[n] = old[x->origin[n]];
    return now;
}

static void remap_facts(struct inlined *x, const struct module *m)
{
    x->m.color = remap(x, m->color);
    x->m.layer = remap(x, m->layer);
    x->m.device_ann = remap(x, m->device_ann);
    x->m.slot_ann = remap(x, m->slot_ann);
    if (m->backward == NULL)
        return;
    x->m.backward = arena_alloc(x->m.mem, x->m.nnode);
    for (nid n = 1; n < x->m.nnode; n++)
        x->m.backward[n] = m->backward[x->origin[n]];
}

/* Begins the result: it shares with m what is only read; what may be changed (values, graphs) is copied, and pools
 * grow in new memory. */
static void begin_result(struct inlined *x, const struct module *m, struct arena *mem)
{
    *x = (struct inlined){.m = *m, .nnode0 = m->nnode, .ngraph0 = m->ngraph};
    x->m.mem = mem;
    x->m.capval = x->m.capgraph = x->m.capnode = 0;
    x->m.captype = m->ntype;
    x->m.captensor = m->ntensor;
    x->m.capopset = m->nopset;
    x->m.capdim = m->ndim;
    x->m.capattr = m->nattr;
    x->m.caparg = m->narg;
    x->m.capints = m->nints;
    x->m.capfloats = m->nfloats;
    x->m.capsids = m->nsids;
    x->m.caprefs = m->nrefs;
    x->m.capabout = m->nabout;
    x->m.value = vec_grow(mem, NULL, &x->m.capval, m->nval, sizeof *m->value);
    x->m.graph = vec_grow(mem, NULL, &x->m.capgraph, m->ngraph, sizeof *m->graph);
    memcpy(x->m.value, m->value, m->nval * sizeof *m->value);
    memcpy(x->m.graph, m->graph, m->ngraph * sizeof *m->graph);
    x->m.node = vec_grow(mem, NULL, &x->m.capnode, m->nnode, sizeof *m->node);
    x->m.nnode = 1;
    x->origin = vec_grow(mem, NULL, &x->caporigin, m->nnode, sizeof *x->origin);
    x->opset = vec_grow(mem, NULL, &x->capopset, m->nnode, sizeof *x->opset);
    x->within = vec_grow(mem, NULL, &x->capwithin, m->nnode, sizeof *x->within);
    x->site = vec_grow(mem, NULL, &x->capsite, 1, sizeof *x->site);
    x->nsite = 1;
}

int inline_calls(const struct module *m, const struct inline_how *how, struct arena *mem,
                 struct arena *scratch, struct diag *d, struct inlined *out)
{
    struct inliner w = {
        .src = m, .f = how->functions, .how = how, .x = out, .m = &out->m, .a = scratch};
    struct env model = {.from = m, .opset = module_opset(m, 0)};
    begin_result(out, m, mem);
    out->names = how->names;
    take_names(&w);
    w.shift = arena_array(scratch, (size_t)m->nfunction + 1, sizeof *w.shift);
    for (gid g = 1; g < m->ngraph; g++)
        write_graph(&w, (struct job){g, g, &model});
    for (uint32_t i = 0; i < w.njob; i++)
        write_graph(&w, w.job[i]);
    remap_facts(out, m);
    if (w.name_bytes > MOST_NAMES)
        return diag_error(
            d,
            "%s: the names of inlined nodes take more than %d MiB: functions call each "
            "other too deep, or have names that are too long",
            str(m, m->path), MOST_NAMES >> 20);
    return 0;
}
