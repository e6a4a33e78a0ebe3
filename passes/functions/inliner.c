/* Replaces calls of functions by the functions' nodes (inliner.h).
 *
 * A copy of the model, called the new module here, is edited (ir/model/edit.h); it shares what does not change.  A walk
 * over its graphs, with an explicit stack, puts the nodes of the function before each call that is to be replaced,
 * and drops the call; this is called entering the call. Each entered call has an environment (struct env): the
 * values that the function's inputs and outputs stand for, the attributes that the call gives, and the prefix of
 * new names (call/inner).  Bodies of If, Loop and Scan in the function become new graphs with the same environment,
 * which are put on a list and filled later.  If a function returns a value that none of its nodes makes, such as an
 * input, an Identity is added.
 *
 * Values of the original keep their numbers, so what is found about a value in the new module holds for the value
 * with that number in the original. The walk meets nodes in their final order, so it knows their final numbers.
 * O(size of the new module) time and memory, expected (hashing of names). */
#include "passes/functions/inliner.h"

#include "ir/model/edit.h"

#include <assert.h>
#include <string.h>

enum { MOST_NAMES = 256 << 20 }; /* bytes of all new names: they grow with the depth of calls */

/* A function of the original in the new module: its body as a source of copies.  Filled when the function is first
 * called. */
struct copied_function {
    struct edit_source *source; /* its body; NULL: not called yet */
    struct slice give;          /* defaults of its attributes, in module.attr of the new module */
    int64_t opset;              /* version of ai.onnx that the function's body imports; -1: none */
};

/* Environment of one entered call: what the function's values, attributes and names are in the new module.  One
 * environment, with function 0, stands for the model itself. */
struct env {
    const struct module *from; /* body of the function; the original model */
    uint32_t function;         /* index of the function; 0: the model */
    vid *value; /* [value of from] value of the new module; 0: omitted, or not yet known */
    /* attribute name -> index in module.attr of the new module: what the call gives, else the default */
    struct map give;
    sid prefix; /* put before names of the function */
    /* the origin (inlined_module.origin) of the function's nodes: the call in the original; 0, for the model: each
     * node itself */
    nid origin;
    /* the call in the new module before which the function's nodes go; 0: at the end of the graph */
    nid before;
    int64_t opset; /* version of ai.onnx that `from` imports; -1: none */
    uint32_t site; /* site of the call; 0: the model itself */
};

/* A graph to be filled: graph `to` of the new module gets the nodes of graph `from` of env->from. */
struct job {
    gid from, to;
    struct env *env;
};

/* A graph on the stack of the walk: nodes at .. end - 1 of env->from are still to be visited. */
struct frame {
    struct env *env;
    nid at, end;
    /* in module.arg: results of the call for which leave_frame() adds an Identity, since no node of the function makes
     * them; 0: a node makes the result */
    struct slice out;
    bool call; /* the graph is a function's main graph, so the end of the frame ends a site */
};

/* State of one inline_calls(). */
struct inliner {
    const struct module *src;  /* the original */
    const struct functions *f; /* how->functions */
    const struct inline_how *how;
    struct inlined_module *x;       /* the result of inline_calls() */
    struct module *m;               /* the new module, &x->m */
    struct edit *e;                 /* the edit of m */
    struct arena *a;                /* memory until inline_calls() ends */
    uint64_t name_bytes;            /* sum of the bytes of all names made so far */
    struct copied_function *copied; /* [function] */
    struct job *job;                /* [njob] bodies to be filled */
    uint32_t njob, capjob;
    struct frame *stack; /* [depth] */
    uint32_t depth, capstack;
    gid graph; /* the graph of m that is being filled */
    nid next;  /* final number in m of the next node that the walk meets */
};

/* ---- names ---- */

/* Returns the new name for `inner`, a name in e->from: "prefix/inner".  In the model, if new names are not wanted, or
 * if names already take too many bytes: `inner` itself. */
static const char *make_name(struct inliner *w, const struct env *e, sid inner)
{
    const char *name = module_str(w->m, inner);
    if (e->function == 0 || !w->how->names || inner == 0 || w->name_bytes > MOST_NAMES)
        return name;
    w->name_bytes += strlen(name) + str_size(w->m, e->prefix);
    return arena_fmt(w->a, "%s/%s", module_str(w->m, e->prefix), name);
}

/* ---- values ---- */

/* Returns the copy of function f in the new module; makes it at the first call. */
static const struct copied_function *copy_function(struct inliner *w, uint32_t f)
{
    struct copied_function *g = &w->copied[f];
    const struct function *x = &w->src->function[f];
    if (g->source)
        return g;
    g->opset = module_opset(x->body, 0);
    g->source = edit_source(w->e, x->body);
    g->give = module_add_attrs(w->m, x->body->attr + x->give.at, x->give.n);
    for (uint32_t i = 0; i < x->give.n; i++) {
        struct attr a = edit_source_attr(g->source, x->body->attr[x->give.at + i]);
        w->m->attr[g->give.at + i] = a;
    }
    return g;
}

/* Returns the value of the new module for value v of e->from; 0: omitted, or not yet known. */
static vid value_in(const struct env *e, vid v)
{
    return e->function == 0 ? v : e->value[v];
}

/* Adds value `from` of the function to the graph being filled, under a name of its own; notes it in e->value and
 * returns it.  Inputs and initializers of bodies stay what they are; inputs of the function itself become plain
 * values. */
static vid new_value(struct inliner *w, const struct env *e, vid from)
{
    const struct value *x = &e->from->value[from];
    const struct edit_source *s = w->copied[e->function].source;
    const uint32_t kept = x->graph != 1 ? VALUE_INPUT | VALUE_INIT | VALUE_LOST : VALUE_LOST;
    vid v = edit_value(w->e, w->graph, make_name(w, e, x->name), 0);
    struct value *y = &w->m->value[v];
    y->type = edit_source_type(s, x->type);
    y->flags = x->flags & kept;
    if ((y->flags & VALUE_LOST) != 0)
        y->name = 0;
    /* a tensor of its own, since the value has a new name */
    if (x->tensor != 0 && (y->flags & VALUE_INIT) != 0) {
        tid t = module_add_tensor(w->m);
        w->m->tensor[t] = w->m->tensor[edit_source_tensor(s, x->tensor)];
        w->m->tensor[t].name = w->m->value[v].name;
        w->m->value[v].tensor = t;
    }
    e->value[from] = v;
    return v;
}

/* Returns the value of the new module for x, a result of a call in e->from; adds the value if the new module does
 * not have it yet; the node that makes it is set later.  0: the result is omitted or lost. */
static vid result_value(struct inliner *w, const struct env *e, vid x)
{
    if (x == 0 || (e->from->value[x].flags & VALUE_LOST) != 0)
        return 0;
    return e->function == 0 ? x : e->value[x] != 0 ? e->value[x] : new_value(w, e, x);
}

/* ---- nodes ---- */

/* Notes origin, opset and site of the next node of the new module.  from: that node in the original, if the node is
 * one of the model. */
static void note_node(struct inliner *w, const struct env *e, nid from)
{
    struct inlined_module *x = w->x;
    nid id = w->next++;
    x->origin = vec_grow(w->m->mem, x->origin, &x->caporigin, id + 1, sizeof *x->origin);
    x->opset = vec_grow(w->m->mem, x->opset, &x->capopset, id + 1, sizeof *x->opset);
    x->within = vec_grow(w->m->mem, x->within, &x->capwithin, id + 1, sizeof *x->within);
    x->origin[id] = e->origin != 0 ? e->origin : from;
    x->opset[id] = e->opset;
    x->within[id] = e->site;
}

/* Adds a node with operator op where the nodes of the call go (in a body: at the end of the graph being filled) and
 * returns it.  like: its name in the function. */
static nid add_node(struct inliner *w, const struct env *e, const char *op, sid like)
{
    nid id = e->before != 0 && w->m->node[e->before].graph == w->graph
                 ? edit_before(w->e, e->before, op)
                 : edit_add(w->e, w->graph, op);
    edit_made_from(w->e, id, e->origin);
    edit_name_node(w->e, id, make_name(w, e, like));
    note_node(w, e, 0);
    return id;
}

/* Adds an empty body to node `owner` for graph `from` of e->from, to be filled later, and returns it. */
static gid add_body(struct inliner *w, struct env *e, gid from, nid owner)
{
    const struct graph *x = &e->from->graph[from];
    gid to = edit_graph(w->e, owner, x->name);
    w->m->graph[to].src = x->src;
    w->m->graph[to].about = edit_source_about(w->copied[e->function].source, x->about);
    w->job = vec_grow(w->a, w->job, &w->capjob, w->njob + 1, sizeof *w->job);
    w->job[w->njob++] = (struct job){from, to, e};
    return to;
}

/* Adds the attributes of `list`, in module.attr of the new module, to e->give, unless their names are there already. */
static void add_given(struct inliner *w, struct env *e, struct slice list)
{
    for (uint32_t i = list.at; i < list.at + list.n; i++) {
        sid name = w->m->attr[i].name;
        if (name != 0 && map_get(&e->give, name) == 0)
            map_set(&e->give, w->a, name, i);
    }
}

/* Writes to *out attribute a of a node of e->from as an attribute of node n of the new module (0: of a call that is
 * entered).  Returns false if the attribute is left out, since the attribute refers to an attribute that the call
 * does not give. */
static bool take_attr(struct inliner *w, struct env *e, const struct attr *a, nid n,
                      struct attr *out)
{
    const struct module *b = e->from;
    uint32_t g = a->ref != 0 ? map_get(&e->give, a->ref) : 0;
    if (a->ref != 0) {
        *out = w->m->attr[g];
        out->name = a->name;
        /* without an entry the call does not give the attribute, and the function has no default for it */
        return g != 0;
    }
    *out = edit_source_attr(w->copied[e->function].source, *a);
    if (a->kind == ATTR_GRAPH)
        out->u.g = add_body(w, e, a->u.g, n);
    if (a->kind != ATTR_GRAPHS)
        return true;
    out->u.list = module_add_refs(w->m, b->refs + a->u.list.at, a->u.list.n);
    for (uint32_t i = 0; i < a->u.list.n; i++) {
        gid to = add_body(w, e, b->refs[a->u.list.at + i], n);
        w->m->refs[out->u.list.at + i] = to;
    }
    return true;
}

/* Adds the attributes `from` of a node of e->from to the new module, one behind the other, for node n as in
 * take_attr(); returns them.  Outside of functions (e->function is 0) returns `from`: the new module has the
 * attributes of the model at the same indices. */
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

/* Returns the first n operands (with `results`: results) in `list` of a function's node as values of the new module, in
 * w->a.  Results that the new module does not have yet are added; results without a type get the function's. */
static vid *take_values(struct inliner *w, struct env *e, struct slice list, uint32_t n,
                        bool results)
{
    vid *out = arena_array(w->a, (size_t)n + 1, sizeof *out);
    for (uint32_t i = 0; i < n; i++) {
        vid x = e->from->arg[list.at + i];
        out[i] = value_in(e, x);
        if (!results || x == 0)
            continue;
        out[i] = out[i] != 0 ? out[i] : new_value(w, e, x);
        struct value *y = &w->m->value[out[i]];
        if (y->type == 0)
            y->type = edit_source_type(w->copied[e->function].source, e->from->value[x].type);
    }
    return out;
}

/* Adds node `from` of e->from to the new module; a node of the model is there already and is only noted. */
static void take_node(struct inliner *w, struct env *e, nid from)
{
    const struct node *n = &e->from->node[from];
    if (e->function == 0) {
        note_node(w, e, from);
        return;
    }
    nid id = add_node(w, e, module_str(w->m, n->op), n->name);
    edit_take_node(w->e, id, w->copied[e->function].source, from);
    edit_operands(w->e, id, take_values(w, e, n->in, n->nformal, /*results=*/false), n->nformal);
    edit_results(w->e, id, take_values(w, e, n->out, n->out.n, /*results=*/true), n->out.n);
    struct slice attr = take_attrs(w, e, n->attr, id);
    w->m->node[id].attr = attr;
}

/* ---- calls ---- */

/* Whether an operand of the call is omitted, or is an input of the calling function that was omitted in its call. */
static bool omits_operand(const struct env *e, nid call)
{
    const struct node *n = &e->from->node[call];
    for (uint32_t i = 0; i < n->nformal; i++) {
        if (value_in(e, e->from->arg[n->in.at + i]) == 0)
            return true;
    }
    return false;
}

/* Whether node n of e->from is a call that is to be entered. */
static bool is_entered(struct inliner *w, const struct env *e, nid n)
{
    uint32_t f = e->from->node[n].callee;
    if (f == 0 || (e->from->node[n].flags & NODE_LOST) != 0 || w->f->fate[f] != FATE_FREE ||
        (w->how->main_only && w->graph != 1) || (w->f->returns[f] != 0 && omits_operand(e, n)) ||
        call_obstacle(w->src, w->f, e->from, n) != NULL)
        return false;
    if (w->how->enters == NULL)
        return true;
    sid name = str_id(w->m, make_name(w, e, e->from->node[n].name));
    return w->how->enters(w->how->user, e->function, n, name);
}

/* Pushes graph g of e->from onto the stack of the walk.  out, call: see struct frame. */
static void push_frame(struct inliner *w, struct env *e, gid g, struct slice out, bool call)
{
    const struct graph *x = &e->from->graph[g];
    w->stack = vec_grow(w->a, w->stack, &w->capstack, w->depth + 1, sizeof *w->stack);
    w->stack[w->depth++] = (struct frame){e, x->first, x->first + x->count, out, call};
}

/* Adds a site for the call, whose nodes get names below `name`, and returns its number.  Results of the call that the
 * new module does not have yet are added. */
static uint32_t add_site(struct inliner *w, const struct env *e, nid call, sid name)
{
    const struct node *n = &e->from->node[call];
    struct inlined_module *x = w->x;
    struct site s = {.name = name, .function = n->callee, .parent = e->site, .call = call};
    s.first = w->next;
    s.in = (struct slice){w->m->narg, n->nformal};
    for (uint32_t i = 0; i < n->nformal; i++) {
        vid v = value_in(e, e->from->arg[n->in.at + i]);
        module_add_args(w->m, &v, 1);
    }
    s.out = module_add_args(w->m, NULL, n->out.n);
    for (uint32_t i = 0; i < n->out.n; i++) {
        vid v = result_value(w, e, e->from->arg[n->out.at + i]);
        w->m->arg[s.out.at + i] = v;
    }
    x->site = vec_grow(w->m->mem, x->site, &x->capsite, x->nsite + 1, sizeof *x->site);
    x->site[x->nsite] = s;
    return x->nsite++;
}

/* Returns the prefix of names inside the call: the call's new name, made different from the names of all other
 * nodes and calls. */
static sid make_prefix(struct inliner *w, const struct env *e, nid call)
{
    sid name = e->from->node[call].name;
    return e->function == 0 || !w->how->names ? name : edit_take_name(w->e, make_name(w, e, name));
}

/* Begins to replace a call of e->from: makes the call's site and environment, drops the call from the new module
 * (which has the model's own calls as nodes), and pushes the function's main graph. */
static void enter_call(struct inliner *w, struct env *e, nid call)
{
    const struct node *n = &e->from->node[call];
    struct env *in = arena_alloc(w->a, sizeof *in);
    const struct module *b = w->src->function[n->callee].body;
    const struct graph *g = &b->graph[1];
    *in = (struct env){.from = b, .function = n->callee};
    in->prefix = make_prefix(w, e, call);
    in->origin = e->origin != 0 ? e->origin : call;
    in->before = e->function == 0 ? call : e->before;
    in->site = add_site(w, e, call, in->prefix);
    in->value = arena_array(w->a, b->nval, sizeof *in->value);
    in->opset = copy_function(w, n->callee)->opset;
    add_given(w, in, take_attrs(w, e, n->attr, 0));
    add_given(w, in, w->copied[n->callee].give);
    for (uint32_t i = 0; i < n->nformal; i++)
        in->value[b->arg[g->in.at + i]] = value_in(e, e->from->arg[n->in.at + i]);
    struct slice out = module_add_args(w->m, NULL, n->out.n);
    for (uint32_t i = 0; i < n->out.n; i++) {
        vid r = w->m->arg[w->x->site[in->site].out.at + i];
        vid y = b->arg[g->out.at + i];
        if (r != 0 && b->value[y].def != 0 && in->value[y] == 0) {
            in->value[y] = r;
            r = 0; /* a node of the function makes r, so no Identity is needed */
        }
        w->m->arg[out.at + i] = r;
    }
    if (e->function == 0)
        edit_drop(w->e, call);
    push_frame(w, in, 1, out, /*call=*/true);
}

/* Ends frame t.  If it is a function's main graph, adds an Identity for each result of the call that no node of the
 * function makes (an input of the function, or the same value as another result), and ends the site. */
static void leave_frame(struct inliner *w, const struct frame *t)
{
    struct env *e = t->env;
    const struct module *b = e->from;
    for (uint32_t i = 0; i < t->out.n; i++) {
        vid r = w->m->arg[t->out.at + i];
        if (r == 0)
            continue;
        vid y = value_in(e, b->arg[b->graph[1].out.at + i]);
        nid id = add_node(w, e, "Identity", str_id(w->m, "Identity"));
        edit_operands(w->e, id, &y, 1);
        edit_results(w->e, id, &r, 1);
    }
    if (t->call) {
        w->x->site[e->site].end = w->next;
        w->x->site[e->site].after = w->x->nsite;
    }
}

/* ---- graphs ---- */

/* Gives the new body j->to its inputs and initializers. */
static void fill_lists(struct inliner *w, const struct job *j)
{
    const struct graph *from = &j->env->from->graph[j->from];
    const struct slice list[2] = {from->in, from->init};
    struct slice to[2];
    for (int k = 0; k < 2; k++) {
        to[k] = module_add_args(w->m, NULL, list[k].n);
        for (uint32_t i = 0; i < list[k].n; i++) {
            vid x = j->env->from->arg[list[k].at + i], v = j->env->value[x];
            v = v != 0 ? v : new_value(w, j->env, x);
            w->m->arg[to[k].at + i] = v;
        }
    }
    w->m->graph[j->to].in = to[0];
    w->m->graph[j->to].init = to[1];
}

/* Gives the new body j->to its outputs. */
static void fill_outputs(struct inliner *w, const struct job *j)
{
    const struct slice from = j->env->from->graph[j->from].out;
    for (uint32_t i = 0; i < from.n; i++)
        edit_output(w->e, j->to, value_in(j->env, j->env->from->arg[from.at + i]));
}

/* Walks through graph j.from and the functions called in it, and adds their nodes to graph j.to. */
static void fill_graph(struct inliner *w, struct job j)
{
    w->graph = j.to;
    if (j.env->function != 0)
        fill_lists(w, &j);
    push_frame(w, j.env, j.from, (struct slice){0, 0}, /*call=*/false);
    while (w->depth > 0) {
        struct frame *t = &w->stack[w->depth - 1];
        if (t->at == t->end) {
            const struct frame done = *t;
            leave_frame(w, &done);
            w->depth--;
            continue;
        }
        nid n = t->at++;
        if (is_entered(w, t->env, n))
            enter_call(w, t->env, n); /* this call may move the stack, and then t is invalid */
        else
            take_node(w, t->env, n);
    }
    if (j.env->function != 0)
        fill_outputs(w, &j);
}

/* ---- the whole ---- */

int inline_calls(const struct module *m, const struct inline_how *how, struct arena *mem,
                 struct arena *scratch, struct diag *d, struct inlined_module *out)
{
    struct inliner w = {.src = m,
                        .f = how->functions,
                        .how = how,
                        .x = out,
                        .m = &out->m,
                        .a = arena_new(scratch),
                        .next = 1};
    struct env model = {.from = m, .opset = module_opset(m, 0)};
    *out =
        (struct inlined_module){.m = module_fork(m, mem), .nnode0 = m->nnode, .ngraph0 = m->ngraph};
    out->names = how->names;
    out->site = vec_grow(mem, NULL, &out->capsite, 1, sizeof *out->site);
    out->nsite = 1;
    w.e = edit_begin(&out->m, w.a);
    if (!how->names)
        edit_any_names(w.e);
    w.copied = arena_array(w.a, (size_t)m->nfunction + 1, sizeof *w.copied);
    for (gid g = 1; g < m->ngraph; g++)
        fill_graph(&w, (struct job){g, g, &model});
    for (uint32_t i = 0; i < w.njob; i++)
        fill_graph(&w, w.job[i]);
    edit_end(w.e);
    assert(w.next == out->m.nnode);
    arena_free(w.a);
    if (w.name_bytes > MOST_NAMES)
        return diag_error(
            d,
            "%s: the names of inlined nodes take more than %d MiB: functions call each "
            "other too deep, or have names that are too long",
            module_str(m, m->path), MOST_NAMES >> 20);
    return 0;
}
