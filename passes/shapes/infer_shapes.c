/* The pass infer-shapes finds a type for every value.
 *
 * Values start with their types in the file (value_info, inputs, outputs, initializers).  The walk visits the nodes
 * in topological order and applies the rule of each operator (rules.c; similar operators share a rule).  Rules also
 * follow the elements of small integer tensors.  Inferred types are merged with the types known so far
 * (infer_core.c).  When the walk reaches the owner of bodies, it visits the bodies first (explicit stack).  Calls of
 * the model's functions are replaced by the functions' nodes in a copy of the module that is used only here
 * (opened_calls.h).  If types are still unknown, the schemas of the operators may give them (infer_types.c); then all
 * nodes are visited again.  What cannot be proven stays unknown.
 *
 * Then the names in dimensions of inputs are bound to numbers (bind_dims.c).  If there are any, a second run in bound
 * mode (infer.h) gives the types for planning.  Names of other values are bound, and a third run is made, only if
 * sizes are still unknown.
 * O(nodes + operands) rule calls; each O(rank), or O(64) where elements are followed. */
#include "passes/shapes/infer_shapes.h"

#include "passes/functions/opened_calls.h"
#include "passes/shapes/demands.h"
#include "passes/shapes/infer_bodies.h"

#include "ir/base/strings.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    /* bodies nested deeper than this are visited once, without types for their inputs */
    NEST_LIMIT = 4,
    SCHEMA_ROUNDS = 3 /* at most this many more runs, each after schemas have given new types */
};

/* --- the table --- */

/* Rows that were found in the table of rules. */
struct rule_cache {
    /* [domain][sid of operator] index of the operator's row in the domain's table + 2; 0: not looked up; 1: the table
     * has no row */
    uint16_t *row[RULE_DOMAINS];
};

/* Returns the entry of struct rule_cache for operator op: the index of its row in the domain's table + 2, or 1. */
static uint16_t find_rule(const char *op, const struct rule_domain *domain)
{
    const struct shape_rule *row = bsearch(&op, domain->rule, domain->n, sizeof *row, str_order);
    return row ? (uint16_t)(row - domain->rule + 2) : 1;
}

/* Returns an empty cache for the operators of m. */
static struct rule_cache rule_cache_new(const struct module *m, struct arena *mem)
{
    struct rule_cache cache;
    sid max = 0;
    for (nid n = 1; n < m->nnode; n++)
        max = larger_u32(m->node[n].op, max);
    for (int k = 0; k < RULE_DOMAINS; k++)
        cache.row[k] = arena_array(mem, (size_t)max + 1, sizeof *cache.row[k]);
    return cache;
}

/* Sets the version of the default domain by which rules go. */
static void set_opset(struct infer *f, int64_t version)
{
    /* version < 0: the model imports no version, so the newest counts */
    f->opset = version < 0 ? INT64_MAX : version;
}

void infer_at(struct infer *f, nid n)
{
    if (f->versions != NULL)
        set_opset(f, f->versions[n]);
}

/* Calls the rule of node n's operator, if there is one.  domain: [RULE_DOMAINS] the ids of the domains' names. */
static void apply_rule(struct infer *f, struct rule_cache *cache, nid n, const sid *domain)
{
    const struct node *x = &f->m->node[n];
    uint32_t k = 0;
    while (k < RULE_DOMAINS && domain[k] != x->domain)
        k++;
    if (k == RULE_DOMAINS || (x->flags & (NODE_CALL | NODE_LOST)) != 0)
        return;
    /* *row: 0: not looked up yet; 1: the operator has no rule; else 2 + the index of its row */
    uint16_t *row = &cache->row[k][x->op];
    if (*row == 0)
        *row = find_rule(module_str(f->m, x->op), &rule_domain[k]);
    if (*row == 1)
        return;
    const struct shape_rule *r = &rule_domain[k].rule[*row - 2];
    r->fn(f, n, r->arg);
}

/* --- the walk --- */

/* Gives the values in body g the types and elements that they had before the run, for another visit. */
static void reset_body(struct infer *f, gid g)
{
    assert(g > 1 && g < f->m->ngraph);
    const struct module *m = f->m;
    for (uint32_t i = 0; i < m->graph[g].in.n; i++) {
        vid v = m->arg[m->graph[g].in.at + i];
        f->type[v] = f->start[v];
    }
    for (nid n = m->graph[g].first; n < m->graph[g].first + m->graph[g].count; n++) {
        f->visited[n] = 0;
        for (uint32_t i = 0; i < m->node[n].out.n; i++) {
            vid v = m->arg[m->node[n].out.at + i];
            f->type[v] = f->start[v];
            f->data[v] = NULL;
        }
    }
}

/* A graph on the stack of the walk: its nodes next .. end - 1 are still to be visited. */
struct frame {
    gid g;
    nid next, end;
};

/* The stack of the walk: the main graph, then bodies, each inside the one before. */
struct walk {
    struct frame *at; /* [n] graphs under way, the innermost one last */
    uint32_t n, cap;
};

/* Begins the visit of graph g: pushes a frame with all of its nodes to be visited. */
static void push_graph(struct infer *f, struct walk *w, gid g)
{
    assert(g > 0 && g < f->m->ngraph);
    const struct graph *x = &f->m->graph[g];
    w->at = vec_grow(f->mem, w->at, &w->cap, w->n + 1, sizeof *w->at);
    w->at[w->n++] = (struct frame){g, x->first, x->first + x->count};
}

/* Pushes the bodies of n if they need their first visit, or another one since a carried value has changed.  Returns
 * whether it pushed any. */
static bool visit_bodies(struct infer *f, struct walk *w, nid n)
{
    if (f->first_body == NULL || f->first_body[n] == 0)
        return false;
    infer_at(f, n);
    if (f->visited[n] == 0) {
        f->visited[n] = 1;
    } else if (w->n > NEST_LIMIT || !leave_bodies(f, n)) {
        return false;
    }
    for (gid g = f->first_body[n]; g != 0; g = f->next_body[g]) {
        reset_body(f, g);
        if (w->n <= NEST_LIMIT)
            enter_body(f, n, g);
        push_graph(f, w, g);
    }
    return true;
}

/* Visits all nodes of the main graph and, before their owners, of bodies; stops early if the clock says so. */
static void walk_graphs(struct infer *f)
{
    struct rule_cache cache = rule_cache_new(f->m, f->mem);
    sid domain[RULE_DOMAINS] = {0}; /* domain[0] is ai.onnx, whose name is empty */
    for (int k = 1; k < RULE_DOMAINS; k++)
        domain[k] = str_id(f->m, rule_domain[k].name);
    struct walk w = {0};
    push_graph(f, &w, 1);
    while (w.n > 0) {
        struct frame *top = &w.at[w.n - 1];
        if (top->next == top->end) {
            w.n--;
            continue;
        }
        nid n = top->next;
        if (diag_stopped(f->m->diag))
            return;
        if (visit_bodies(f, &w, n)) /* may move w.at, so that `top` is invalid */
            continue;
        w.at[w.n - 1].next++;
        infer_at(f, n);
        apply_rule(f, &cache, n, domain);
    }
}

/* --- a run --- */

/* Sets first_body and next_body, and makes the other tables for bodies; does nothing if there are no bodies. */
static void index_bodies(struct infer *f)
{
    const struct module *m = f->m;
    if (m->ngraph <= 2)
        return;
    f->first_body = arena_array(f->mem, m->nnode, sizeof *f->first_body);
    f->next_body = arena_array(f->mem, m->ngraph, sizeof *f->next_body);
    f->carried = arena_array(f->mem, m->ngraph, sizeof(struct body_state *));
    f->visited = arena_array(f->mem, m->nnode, 1);
    for (gid g = m->ngraph - 1; g > 1; g--) {
        nid owner = m->graph[g].owner;
        if (owner != 0) {
            f->next_body[g] = f->first_body[owner];
            f->first_body[owner] = g;
        }
    }
}

/* Names found by add_input_name(). */
struct name_list {
    struct infer *f;
    sid *list; /* [n] ids of the names, in the order found */
    uint32_t n, cap;
};

/* For dim_names(): appends a name to the list `user`. */
static void add_input_name(void *user, const char *name)
{
    struct name_list *k = user;
    k->list = vec_grow(k->f->mem, k->list, &k->cap, k->n + 1, sizeof *k->list);
    k->list[k->n++] = str_id(k->f->m, name);
}

/* Orders ids by number. */
static int compare_ids(const void *a, const void *b)
{
    sid x = *(const sid *)a, y = *(const sid *)b;
    return x < y ? -1 : x > y;
}

/* Sets f->input_names and f->ninput_names. */
static void collect_input_names(struct infer *f)
{
    struct module *m = f->m;
    struct name_list k = {.f = f};
    for (uint32_t i = 0; i < m->graph[1].in.n; i++) {
        const struct type *t = &m->type[f->start[m->arg[m->graph[1].in.at + i]]];
        if (t->kind != TYPE_TENSOR)
            continue;
        for (int d = 0; d < t->rank; d++)
            dim_names(m, m->dim[t->dim + (uint32_t)d], add_input_name, &k);
    }
    if (k.n > 0)
        qsort(k.list, k.n, sizeof *k.list, compare_ids);
    f->input_names = k.list;
    f->ninput_names = k.n;
}

const char *open_dim_name(struct arena *mem, uint32_t input, uint32_t axis)
{
    return arena_fmt(mem, "_unnamed.%u.%u", input, axis);
}

/* Gives each dimension of a model input that has neither value nor name its guessed size, in pure mode a name. */
static void fill_inputs(struct infer *f)
{
    struct module *m = f->m;
    for (uint32_t i = 0; i < m->graph[1].in.n; i++) {
        struct shape s;
        vid v = m->arg[m->graph[1].in.at + i];
        bool changed = false;
        if ((m->value[v].flags & VALUE_INIT) != 0 || !shape_of(f, v, &s))
            continue;
        for (int k = 0; k < s.rank; k++) {
            if (dim_known(s.d[k]))
                continue;
            s.d[k] = dim_parse(m, open_dim_name(f->mem, i, (uint32_t)k));
            s.d[k] = f->pure ? s.d[k] : dim_num(dim_value(f->values, s.d[k]));
            changed = true;
        }
        if (changed)
            f->type[v] = f->start[v] = module_add_tensor_type(m, s.elem, s.rank, s.d);
    }
}

/* Returns the type with every name of a dimension replaced by its value; in pure mode, by an unknown dimension.
 * map: [type] what this function returned for each smaller type. */
static uint32_t bound_type(struct infer *f, uint32_t type, const uint32_t *map)
{
    assert(type < f->m->ntype);
    struct shape s;
    struct type t = f->m->type[type];
    bool names = false;
    /* a container; inner types come before the types that hold them */
    if ((t.kind == TYPE_SEQ || t.kind == TYPE_OPT || t.kind == TYPE_MAP) && t.inner < type &&
        map[t.inner] != t.inner) {
        t.inner = map[t.inner];
        return module_add_type(f->m, t);
    }
    if (t.kind != TYPE_TENSOR || t.rank < 0 || t.rank > SHAPE_RANK)
        return type;
    s.elem = t.elem;
    s.rank = t.rank;
    for (int i = 0; i < t.rank; i++) {
        struct dim d = f->m->dim[t.dim + (uint32_t)i];
        names = names || d.sym != 0;
        s.d[i] = d.sym == 0 ? d : f->pure ? dim_unknown() : dim_num(dim_value(f->values, d));
    }
    return names ? module_add_tensor_type(f->m, s.elem, s.rank, s.d) : type;
}

/* Sets f->type and f->start to the types in the file; in bound mode with names of dimensions replaced by their values;
 * in pure mode without names, except for the types of the model's inputs. */
static void start_types(struct infer *f)
{
    struct module *m = f->m;
    f->type = arena_array(f->mem, m->nval, sizeof *f->type);
    f->start = arena_array(f->mem, m->nval, sizeof *f->start);
    uint32_t ntype = m->ntype, *map = arena_array(f->mem, ntype, sizeof *map);
    for (uint32_t t = 1; t < ntype; t++)
        map[t] = f->bound || f->pure ? bound_type(f, t, map) : t;
    for (vid v = 1; v < m->nval; v++)
        f->type[v] = f->start[v] = map[m->value[v].type];
    for (uint32_t i = 0; i < m->graph[1].in.n && f->pure; i++) {
        vid v = m->arg[m->graph[1].in.at + i];
        f->type[v] = f->start[v] = m->value[v].type;
    }
}

/* Visits all graphs again, starting with the types in f->start. */
static void run_again(struct infer *f)
{
    const struct module *m = f->m;
    memcpy(f->type, f->start, m->nval * sizeof *f->type);
    memset(f->data, 0, m->nval * sizeof *f->data);
    if (f->visited != NULL) {
        memset(f->visited, 0, m->nnode);
        memset(f->carried, 0, m->ngraph * sizeof *f->carried);
    }
    walk_graphs(f);
}

/* Warns that tensor t was needed, but its file is missing. */
static void warn_missing(const struct module *m, tid t, struct diag *d)
{
    const struct tensor *x = &m->tensor[t];
    while (x->where == TENSOR_SLICE)
        x = &m->tensor[x->of[0]];
    diag_warning(d, WARN_MISSING_VALUES,
                 "%s: tensor '%s' is wanted for shapes, but its file '%s' is not there: what it "
                 "says of them is not known",
                 module_str(m, m->path), module_str(m, m->tensor[t].name),
                 module_str(m, m->file[x->file].path));
}

/* How infer_module() is to run. */
struct infer_ask {
    struct diag *diag;         /* where conflicts are reported; NULL: nowhere */
    struct dim_values *values; /* the bindings, for bound mode; NULL: symbolic mode */
    bool pure;                 /* infer.pure */
    const int64_t *versions;   /* infer.versions */
};

/* Runs inference over all graphs of m, again while schemas give new types (at most SCHEMA_ROUNDS times), and returns
 * the state, in mem. */
static struct infer *infer_module(struct module *m, struct arena *mem, struct infer_ask ask)
{
    struct infer *f = arena_alloc(mem, sizeof *f);
    *f = (struct infer){.m = m,
                        .mem = mem,
                        .diag = ask.diag,
                        .bound = ask.values != NULL,
                        .values = ask.values,
                        .pure = ask.pure,
                        .versions = ask.versions};
    set_opset(f, module_opset(m, 0));
    start_types(f);
    f->data = arena_array(mem, m->nval, sizeof *f->data);
    if (f->bound || f->pure)
        fill_inputs(f);
    index_bodies(f);
    collect_input_names(f);
    walk_graphs(f);
    if (f->missing && ask.diag)
        warn_missing(m, f->missing, ask.diag);
    uint32_t conflicts = f->conflicts;
    f->diag = NULL; /* conflicts were reported by the first run */
    for (int i = 0; types_from_schemas(f) && i < SCHEMA_ROUNDS; i++)
        run_again(f);
    if (conflicts > CONFLICTS_SHOWN && ask.diag != NULL)
        diag_warning(ask.diag, WARN_SHAPE_CONFLICT,
                     "%u more shapes in the file differ from what the operands give",
                     conflicts - CONFLICTS_SHOWN);
    return f;
}

/* Does what infer_module() does, on a copy of the module in which the functions' nodes stand in place of calls where
 * possible.  That copy is the result's m; new types are added to `m`, too. */
static struct infer *infer_inlined(struct module *m, struct arena *mem, struct infer_ask ask)
{
    struct inlined_module *e = calls_expand(m, /*names=*/false, mem);
    if (e == NULL)
        return infer_module(m, mem, ask);
    ask.versions = e->opset;
    struct infer *f = infer_module(&e->m, mem, ask);
    calls_adopt_types(m, e);
    return f;
}

uint32_t *infer_types(struct module *m, struct arena *mem, struct diag *diag,
                      struct dim_values *values)
{
    return infer_inlined(m, mem, (struct infer_ask){.diag = diag, .values = values})->type;
}

struct infer *infer_values(struct module *m, struct arena *mem)
{
    return infer_module(m, mem, (struct infer_ask){0});
}

/* Runs inference in symbolic mode, without messages, over all graphs with calls replaced, with the names of the
 * model's inputs alone: types in the file of values inside the model are ignored, so that all names follow from the
 * operands.  A dimension of an input without a name is called open_dim_name().  The state lives in mem. */
static struct infer *infer_from_inputs(struct module *m, struct arena *mem)
{
    return infer_inlined(m, mem, (struct infer_ask){.pure = true});
}

/* --- the pass --- */

/* Whether an input of the model has a dimension that is no number. */
static bool has_open_input(const struct module *m)
{
    for (uint32_t i = 0; i < m->graph[1].in.n; i++) {
        const struct type *t = &m->type[m->value[m->arg[m->graph[1].in.at + i]].type];
        for (int k = 0; t->kind == TYPE_TENSOR && k < t->rank; k++)
            if (m->dim[t->dim + (uint32_t)k].value < 0)
                return true;
    }
    return false;
}

/* Whether a dimension of the model has a name, or a dimension of an input is unknown: then bound mode gives other
 * types. */
static bool has_names(const struct module *m)
{
    for (uint32_t i = 0; i < m->ndim; i++) {
        if (m->dim[i].sym != 0)
            return true;
    }
    return has_open_input(m);
}

uint32_t *planning_types(struct ctx *x)
{
    struct module *m = x->scene.m;
    uint32_t *type;
    if (has_names(m)) {
        type = infer_types(m, x->use.scratch, /*diag=*/NULL, dim_values_new(x, x->use.scratch));
    } else {
        type = arena_array(x->use.scratch, m->nval, sizeof *type);
        for (vid v = 1; v < m->nval; v++)
            type[v] = m->value[v].type;
    }
    return type;
}

uint32_t *planning_types_inside(struct ctx *x, struct inlined_module *e)
{
    struct dim_values *values = has_names(x->scene.m) ? dim_values_new(x, x->use.scratch) : NULL;
    struct infer_ask ask = {.values = values, .versions = e->opset};
    return infer_module(&e->m, x->use.scratch, ask)->type;
}

/* Returns the number of nodes of the main graph with a result of unknown size that a node reads or the model returns.
 * type: [value] its type. */
static int64_t count_unknown(struct ctx *x, const uint32_t *type)
{
    const struct module *m = x->scene.m;
    uint8_t *read = arena_array(x->use.scratch, m->nval, 1);
    int64_t unknown = 0;
    for (nid n = 1; n < m->nnode; n++) {
        for (uint32_t i = 0; i < m->node[n].in.n; i++)
            read[m->arg[m->node[n].in.at + i]] = 1;
    }
    for (nid n = m->graph[1].first; n < m->graph[1].first + m->graph[1].count; n++) {
        bool open = false;
        for (uint32_t i = 0; i < m->node[n].out.n; i++) {
            vid v = m->arg[m->node[n].out.at + i];
            uint8_t kind = m->type[type[v]].kind;
            bool needed = v != 0 && (read[v] != 0 || (m->value[v].flags & VALUE_OUTPUT) != 0);
            open = open || (needed && (kind == TYPE_NONE || kind == TYPE_TENSOR) &&
                            type_elems(m, type[v]) < 0);
        }
        unknown += open && (m->node[n].flags & NODE_LOST) == 0;
    }
    return unknown;
}

/* Returns what nodes demand of sizes if a size must be guessed (bind_wants()); else NULL.  f: the state of a run in
 * symbolic mode, which serves again unless f->hides; NULL: there is no such state. */
static const struct demands *find_demands(struct ctx *x, struct infer *f)
{
    bool nameless;
    if (!bind_wants(x, &nameless))
        return NULL;
    bool serves = f != NULL && !f->hides && !nameless;
    return demands_find(serves ? f : infer_from_inputs(x->scene.m, x->use.scratch));
}

/* Binds the names of dimensions for planning: the names of inputs, then those of other values whose size is still
 * unknown. f: as for find_demands().  Sets x->results.shapes_unknown. */
static void bind_dims(struct ctx *x, struct infer *f)
{
    struct sizes *k = bind_input_dims(x, find_demands(x, f));
    uint32_t *type = planning_types(x);
    if (bind_open_dims(x, k, type))
        type = planning_types(x);
    x->results.inferred = true;
    x->results.shapes_unknown = count_unknown(x, type);
}

bool guess_smaller(struct ctx *x)
{
    if (!bind_smaller(x))
        return false;
    bind_dims(x, NULL);
    return true;
}

/* pass.run: infers the types of all values, and sets the sizes for which the model is planned.  Returns 0, or -1
 * after an error. */
static int run_infer(struct ctx *x, const void *opts)
{
    struct module *m = x->scene.m;
    (void)opts;
    /* a profiled graph has sizes instead of shapes */
    if (m->cost != NULL && (m->src == NULL || m->patterns)) {
        x->results.inferred = true;
        return 0;
    }
    struct clock clock = ctx_clock(x);
    clock_at_least(&clock, CLOCK_READING);
    uint32_t errors = m->diag->errors;
    /* where a search has ended early, as the user wants, what it has chosen still becomes a plan */
    if (!x->results.inferred && x->results.sharding == NULL)
        m->diag->clock = &clock;
    struct infer *f = infer_inlined(m, x->use.scratch, (struct infer_ask){.diag = x->use.diag});
    for (vid v = 1; v < m->nval && m->diag->errors == errors; v++)
        m->value[v].type = f->type[v];
    if (m->diag->errors == errors) {
        bind_warn_unused(x);
        bind_dims(x, f);
    }
    m->diag->clock = NULL;
    return m->diag->errors == errors ? 0 : -1;
}

const struct pass pass_infer_shapes = {
    .name = "infer-shapes",
    .help = "types and symbolic shapes of all values; binds dimensions for planning",
    .run = run_infer,
};
