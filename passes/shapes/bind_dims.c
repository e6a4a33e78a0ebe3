/* Binds names of symbolic dimensions to numbers (bind_dims.h).  A pass over the types of the values in question
 * collects the distinct expressions and parses each of them once.  Names are kept in the order of first use, so
 * guesses come in a fixed order.  O(dimensions + distinct expressions), and what size_guess.h takes. */
#include "passes/shapes/bind_dims.h"

#include "ir/model/batch.h"
#include "passes/shapes/size_guess.h"

#include <assert.h>
#include <string.h>

/* NAMED: number of guesses that a message lists by name, at most.  GUESS_BATCH: the guess for batch sizes.  NESTED:
 * number of sequences and optional values within each other that are looked into, at most. */
enum { NAMED = 8, GUESS_BATCH = 1, NESTED = 8 };

/* Sizes to guess for dimensions that are no batch: a size is tried if with the size before it the model's times or
 * bytes add up to CTX_SUM_MAX (passes.h) or more. */
static const int64_t guesses[] = {128, 32, 8, 1};

/* Returns the size that is guessed now for dimensions that are not batch sizes. */
static int64_t common_guess(const struct ctx *x)
{
    return x->results.guess ? x->results.guess : guesses[0];
}

/* A hash table from string ids to numbers, with open addressing. */
struct id_map {
    struct arena *mem;
    uint32_t cap, n; /* cap: number of slots, a power of two; n: number of keys */
    struct id_slot {
        sid key; /* 0: the slot is free */
        int64_t value;
    } *slot; /* [cap] the slots */
};

/* Returns the slot of the key; if the table does not have it, the free slot where it belongs. */
static struct id_slot *id_find(struct id_map *h, sid key)
{
    assert(key != 0 && h->n < h->cap && (h->cap & (h->cap - 1)) == 0);
    /* a multiplicative hash (2^32 / golden ratio) */
    uint32_t i = (key * UINT32_C(2654435761)) & (h->cap - 1);
    while (h->slot[i].key != 0 && h->slot[i].key != key)
        i = (i + 1) & (h->cap - 1);
    return &h->slot[i];
}

/* Adds the key to the table with this value, or replaces its value; doubles a table that is half full. */
static void id_put(struct id_map *h, sid key, int64_t value)
{
    if (2 * (h->n + 1) > h->cap) {
        struct id_slot *old = h->slot;
        uint32_t oldcap = h->cap;
        h->cap *= 2;
        h->slot = arena_array(h->mem, h->cap, sizeof *h->slot);
        for (uint32_t i = 0; i < oldcap; i++) {
            if (old[i].key != 0)
                *id_find(h, old[i].key) = old[i];
        }
    }
    struct id_slot *s = id_find(h, key);
    h->n += s->key == 0;
    *s = (struct id_slot){key, value};
}

/* Returns an empty table, in a. */
static struct id_map id_map_new(struct arena *a)
{
    struct id_map h = {.mem = a, .cap = 64};
    h.slot = arena_array(a, h.cap, sizeof *h.slot);
    return h;
}

/* Bindings, and the numbers that dimensions have under them. */
struct dim_values {
    struct module *m;
    struct id_map name;  /* bound name -> its value */
    struct id_map known; /* expression -> its number, or -1; filled by dim_value() */
};

struct dim_values *dim_values_new(const struct ctx *x, struct arena *a)
{
    struct dim_values *k = arena_alloc(a, sizeof *k);
    k->m = x->scene.m;
    k->name = id_map_new(a);
    k->known = id_map_new(a);
    for (uint32_t i = 0; i < ctx_ndims(x); i++)
        id_put(&k->name, str_id(x->scene.m, ctx_dim(x, i)->name), ctx_dim(x, i)->value);
    for (uint32_t i = 0; i < x->results.nnameless; i++) {
        const struct open_dim *d = &x->results.nameless[i];
        id_put(&k->name, str_id(x->scene.m, open_dim_name(a, d->input, d->axis)), d->value);
    }
    return k;
}

/* For dim_eval(): returns the value of a name; -1: it is not bound. */
static int64_t lookup_name(void *user, const char *name)
{
    struct dim_values *k = user;
    struct id_slot *s = id_find(&k->name, str_id(k->m, name));
    return s->key != 0 ? s->value : -1;
}

int64_t dim_value(struct dim_values *k, struct dim d)
{
    if (d.sym == 0)
        return d.value;
    struct id_slot *s = id_find(&k->known, d.sym);
    if (s->key != 0)
        return s->value;
    int64_t v = dim_eval(k->m, d, lookup_name, k);
    id_put(&k->known, d.sym, v);
    return v;
}

/* A list of names of dimensions, in the order of their first use. */
struct names {
    struct module *m;
    struct arena *mem;
    struct id_map expr, name; /* expressions and names that were seen -> 1 */
    sid *list;                /* [n] the names */
    uint32_t n, cap;
};

/* For dim_names(): adds a name to the list `user`, unless it is there. */
static void add_name(void *user, const char *name)
{
    struct names *k = user;
    sid s = str_id(k->m, name);
    if (id_find(&k->name, s)->key != 0)
        return;
    id_put(&k->name, s, 1);
    k->list = vec_grow(k->mem, k->list, &k->cap, k->n + 1, sizeof *k->list);
    k->list[k->n++] = s;
}

/* Adds the names in dimension d to the list, unless d has been looked at before. */
static void add_dim_names(struct names *k, struct dim d)
{
    if (d.sym == 0 || id_find(&k->expr, d.sym)->key != 0)
        return;
    id_put(&k->expr, d.sym, 1);
    dim_names(k->m, d, add_name, k);
}

/* Returns the type of a tensor, or of the elements of a sequence or an optional value of tensors.  type: an index in
 * m->type. */
static const struct type *tensor_type(const struct module *m, uint32_t type)
{
    const struct type *t = &m->type[type];
    for (int i = 0; i < NESTED && (t->kind == TYPE_SEQ || t->kind == TYPE_OPT); i++)
        t = &m->type[t->inner];
    return t;
}

/* Adds the names in the dimensions of a type, an index in m->type. */
static void add_type_names(struct names *k, uint32_t type)
{
    const struct type *t = tensor_type(k->m, type);
    for (int i = 0; t->kind == TYPE_TENSOR && i < t->rank; i++)
        add_dim_names(k, k->m->dim[t->dim + (uint32_t)i]);
}

/* Sets values of names in *batch: 1 for the name that by itself is the first dimension of v, a model input; or, if
 * `later`, 0 for each name that by itself is another dimension of v.  Inputs with an initializer are passed over. */
static void mark_dims(const struct module *m, struct id_map *batch, vid v, bool later)
{
    const struct type *t = &m->type[m->value[v].type];
    int rank = (m->value[v].flags & VALUE_INIT) == 0 && t->kind == TYPE_TENSOR ? t->rank : 0;
    int from = later ? 1 : 0, to = !later && rank > 1 ? 1 : rank;
    for (int k = from; k < to; k++) {
        struct dim d = m->dim[t->dim + (uint32_t)k];
        if (d.sym != 0)
            id_put(batch, d.sym, later ? 0 : 1);
    }
}

/* Puts names into *batch: with the value 1 each name that by itself is the first dimension of a model input (without an
 * initializer) and is no later dimension of any input; with the value 0 each name that is a later dimension. */
static void mark_first_dims(const struct module *m, struct id_map *batch)
{
    struct slice in = m->graph[1].in;
    for (uint32_t i = 0; i < in.n; i++)
        mark_dims(m, batch, m->arg[in.at + i], /*later=*/false);
    for (uint32_t i = 0; i < in.n; i++)
        mark_dims(m, batch, m->arg[in.at + i], /*later=*/true);
}

/* Whether mark_first_dims() found the name. */
static bool is_first(struct id_map *batch, sid name)
{
    const struct id_slot *s = id_find(batch, name);
    return s->key != 0 && s->value != 0;
}

int64_t bind_said(const struct ctx *x, const char *name)
{
    const struct settings *s = ctx_settings(x);
    for (uint32_t i = 0; i < s->ndims; i++)
        if (!strcmp(s->dims[i].name, name))
            return s->dims[i].value;
    return -1;
}

/* Returns the guess for a batch size: one sample; if split-batch has divided this dimension, one sample for each copy
 * of the nodes. */
static int64_t guess_batch(const struct ctx *x, const char *name)
{
    const struct dim_binding *split = &x->results.split;
    return split->name != NULL && strcmp(split->name, name) == 0 ? split->value : GUESS_BATCH;
}

/* Returns the size that --dim gives to a batch of this name, else the guess. */
static int64_t said_batch(const struct ctx *x, const char *name)
{
    int64_t said = bind_said(x, name);
    return said >= 0 ? said : guess_batch(x, name);
}

int64_t bind_planned_batch(const struct ctx *x)
{
    const struct module *m = x->scene.m;
    sid name = batch_name(m);
    /* the number that is the first dimension of each input so far; -1: no input so far; 0: they differ, or one is no
     * number */
    int64_t number = -1;
    for (uint32_t i = 0; i < m->graph[1].in.n && !name; i++) {
        const struct value *v = &m->value[m->arg[m->graph[1].in.at + i]];
        const struct type *t = &m->type[v->type];
        if (v->flags & VALUE_INIT || t->kind != TYPE_TENSOR || t->rank < 2)
            continue;
        int64_t size = larger(m->dim[t->dim].value, 0);
        number = number < 0 || number == size ? size : 0;
    }
    return name ? said_batch(x, module_str(m, name)) : larger(number, 0);
}

int bind_batch(struct ctx *x, int64_t most, int64_t *batch)
{
    assert(most >= 0);
    const struct settings *s = ctx_settings(x);
    struct id_map first = id_map_new(x->use.scratch);
    const struct dim_binding *found = NULL;
    mark_first_dims(x->scene.m, &first);
    /* round 0: names like "batch"; round 1: names of first dimensions of inputs */
    for (int round = 0; round < 2 && !found; round++)
        for (uint32_t i = 0; i < s->ndims; i++) {
            const struct dim_binding *d = &s->dims[i];
            if (round == 0 ? !batch_is_name(d->name)
                           : !is_first(&first, str_id(x->scene.m, d->name)))
                continue;
            if (found && found->value != d->value && strcmp(found->name, d->name) != 0)
                return diag_error(
                    x->use.diag,
                    "--profile-at: --dim %s=%lld and --dim %s=%lld: expected one batch "
                    "size to plan for",
                    found->name, (long long)found->value, d->name, (long long)d->value);
            found = d;
        }
    if (!found)
        return diag_error(
            x->use.diag,
            "--profile-at: the batch size to plan for is not known: say --dim batch=N, "
            "with the name that the model has for it");
    if (found->value < 1 || found->value > most)
        return diag_error(x->use.diag,
                          "--profile-at: --dim %s=%lld: expected a batch size of 1 to %lld",
                          found->name, (long long)found->value, (long long)most);
    *batch = found->value;
    return 0;
}

/* Returns an empty list, with memory from x->use.scratch. */
static struct names names_new(const struct ctx *x)
{
    struct names k = {.m = x->scene.m, .mem = x->use.scratch};
    k.expr = id_map_new(x->use.scratch);
    k.name = id_map_new(x->use.scratch);
    return k;
}

int64_t bind_nameless(const struct ctx *x)
{
    return bind_said(x, "?");
}

void bind_warn_unused(struct ctx *x)
{
    struct names all = names_new(x);
    const struct settings *given = ctx_settings(x);
    if (given->ndims == 0)
        return;
    for (vid v = 1; v < x->scene.m->nval; v++)
        add_type_names(&all, x->scene.m->value[v].type);
    for (uint32_t i = 0; i < given->ndims; i++) {
        const struct dim_binding *b = &given->dims[i];
        if (!b->from && strcmp(b->name, "?") != 0 &&
            id_find(&all.name, str_id(x->scene.m, b->name))->key == 0)
            diag_warning(x->use.diag, WARN_UNMATCHED_DIM,
                         "--dim %s=%lld: no dimension of the model has this name", b->name,
                         (long long)b->value);
    }
}

/* Adds the names of a list to the sizes.  first: the names that mark_first_dims() found. */
static void add_sizes(const struct ctx *x, struct sizes *k, const struct names *list,
                      struct id_map *first)
{
    for (uint32_t i = 0; i < list->n; i++) {
        const char *name = module_str(x->scene.m, list->list[i]);
        enum size_kind kind = batch_is_name(name)              ? SIZE_BATCH
                              : is_first(first, list->list[i]) ? SIZE_FIRST
                                                               : SIZE_OTHER;
        sizes_add(k, name, kind, kind == SIZE_OTHER ? common_guess(x) : guess_batch(x, name));
    }
}

/* Appends the names of a list that have no size in ctx_dim(), with the sizes guessed for them, to x->results.guessed.
 * Returns whether there was one. */
static bool guess_names(struct ctx *x, struct sizes *k, const struct names *list)
{
    struct id_map bound = id_map_new(x->use.scratch);
    struct results *r = &x->results;
    uint32_t before = r->nguessed;
    for (uint32_t i = 0; i < ctx_ndims(x); i++)
        id_put(&bound, str_id(x->scene.m, ctx_dim(x, i)->name), 1);
    for (uint32_t i = 0; i < list->n; i++) {
        if (id_find(&bound, list->list[i])->key != 0)
            continue;
        const char *name = module_str(x->scene.m, list->list[i]);
        r->guessed =
            vec_grow(x->use.mem, r->guessed, &r->capguessed, r->nguessed + 1, sizeof *r->guessed);
        r->guessed[r->nguessed++] = (struct dim_binding){name, sizes_of(k, name), NULL};
    }
    return r->nguessed > before;
}

/* Calls fn for each dimension of a model input that has neither value nor name, with `user`. */
static void each_open_dim(const struct ctx *x,
                          void (*fn)(void *user, uint32_t input, uint32_t axis), void *user)
{
    const struct module *m = x->scene.m;
    for (uint32_t i = 0; i < m->graph[1].in.n; i++) {
        const struct value *v = &m->value[m->arg[m->graph[1].in.at + i]];
        const struct type *t = &m->type[v->type];
        int rank = (v->flags & VALUE_INIT) == 0 && t->kind == TYPE_TENSOR ? t->rank : 0;
        for (int k = 0; k < rank; k++)
            if (!dim_known(m->dim[t->dim + (uint32_t)k]))
                fn(user, i, (uint32_t)k);
    }
}

/* What the functions for each_open_dim() work on. */
struct open_dims {
    struct ctx *x;
    struct sizes *k; /* add_open() adds the dimensions to these sizes, keep_open() reads them */
    uint32_t n;      /* number of dimensions so far (count_open) */
};

/* For each_open_dim(): counts the dimensions. */
static void count_open(void *user, uint32_t input, uint32_t axis)
{
    (void)input;
    (void)axis;
    ((struct open_dims *)user)->n++;
}

/* For each_open_dim(): adds a dimension of an input to the sizes, under its name by open_dim_name().  Its size is the
 * one that the user gives for nameless dimensions, or a guess. */
static void add_open(void *user, uint32_t input, uint32_t axis)
{
    struct open_dims *o = user;
    const char *name = open_dim_name(o->x->use.scratch, input, axis);
    int64_t said = bind_nameless(o->x);
    if (said >= 0)
        sizes_add(o->k, name, SIZE_GIVEN, said);
    else if (axis == 0)
        sizes_add(o->k, name, SIZE_FIRST, GUESS_BATCH);
    else
        sizes_add(o->k, name, SIZE_OTHER, common_guess(o->x));
}

/* For each_open_dim(): adds a dimension with its size to results.nameless. */
static void keep_open(void *user, uint32_t input, uint32_t axis)
{
    struct open_dims *o = user;
    struct results *r = &o->x->results;
    r->nameless = vec_grow(o->x->use.mem, r->nameless, &r->capnameless, r->nnameless + 1,
                           sizeof *r->nameless);
    r->nameless[r->nnameless++] = (struct open_dim){
        input, axis, sizes_of(o->k, open_dim_name(o->x->use.scratch, input, axis))};
}

/* Adds the names in the dimensions of model inputs to the list. */
static void add_input_names(struct names *k)
{
    struct slice in = k->m->graph[1].in;
    for (uint32_t i = 0; i < in.n; i++)
        add_type_names(k, k->m->value[k->m->arg[in.at + i]].type);
}

bool bind_wants(const struct ctx *x, bool *nameless)
{
    struct names list = names_new(x);
    struct open_dims o = {0};
    /* names that have a size count as seen, so that add_input_names() adds only names without one */
    for (uint32_t i = 0; i < ctx_ndims(x); i++)
        id_put(&list.name, str_id(x->scene.m, ctx_dim(x, i)->name), 1);
    add_input_names(&list);
    each_open_dim(x, count_open, &o);
    *nameless = o.n > 0 && x->results.nnameless == 0;
    return list.n > 0 || *nameless;
}

/* Adds a note, with -v, about d, the first demand that the guessed sizes do not meet; NULL: they meet all demands. */
static void note_unmet(const struct ctx *x, const struct demands *all, const struct demand *d)
{
    static const char *const sign[DEMAND_KINDS] = {"=", "=", "<="};
    const struct module *m = all->f->m;
    if (d != NULL)
        diag_detail(x->use.diag,
                    "infer-shapes: no sizes were found with which node '%s' (%s) runs, which needs "
                    "%s %s %s%s: set them with --dim",
                    node_name(m, d->n), node_op(m, d->n), dim_text(m, d->a, x->use.scratch),
                    sign[d->kind], dim_text(m, d->b, x->use.scratch),
                    d->kind == DEMAND_MATCH ? ", or one of them 1" : "");
}

struct sizes *bind_input_dims(struct ctx *x, const struct demands *demands)
{
    struct names list = names_new(x), inside = names_new(x); /* names of inputs; names in demands */
    struct id_map first = id_map_new(x->use.scratch);
    struct sizes *k = sizes_new(x->scene.m, common_guess(x), x->use.scratch);
    struct open_dims open = {x, k, 0};
    mark_first_dims(x->scene.m, &first);
    for (uint32_t i = 0; i < ctx_ndims(x); i++)
        sizes_add(k, ctx_dim(x, i)->name, SIZE_GIVEN, ctx_dim(x, i)->value);
    add_input_names(&list);
    add_sizes(x, k, &list, &first);
    each_open_dim(x, add_open, &open);
    for (uint32_t i = 0; demands != NULL && i < demands->n; i++) {
        add_dim_names(&inside, demands->at[i].a);
        add_dim_names(&inside, demands->at[i].b);
    }
    add_sizes(x, k, &inside, &first);
    if (demands != NULL)
        note_unmet(x, demands, sizes_meet(k, demands));
    guess_names(x, k, &list);
    if (x->results.nnameless == 0) /* else an earlier run has kept their sizes */
        each_open_dim(x, keep_open, &open);
    return k;
}

/* Whether a type (an index in m->type) leaves the size of a value open: a tensor or unknown type without a number of
 * elements. */
static bool is_open_type(const struct module *m, uint32_t type)
{
    const struct type *t = &m->type[type];
    return (t->kind == TYPE_NONE || t->kind == TYPE_TENSOR) && type_elems(m, type) < 0;
}

bool bind_open_dims(struct ctx *x, struct sizes *k, const uint32_t *type)
{
    struct names list = names_new(x);
    struct id_map first = id_map_new(x->use.scratch);
    for (vid v = 1; v < x->scene.m->nval; v++) {
        if (is_open_type(x->scene.m, type[v]))
            add_type_names(&list, x->scene.m->value[v].type);
    }
    add_sizes(x, k, &list, &first);
    return guess_names(x, k, &list);
}

struct input_sizes bind_input_sizes(const struct ctx *x)
{
    const struct module *m = x->scene.m;
    const struct results *r = &x->results;
    struct slice in = m->graph[1].in;
    struct dim_values *k = dim_values_new(x, x->use.mem);
    struct input_sizes s = {.at = arena_array(x->use.mem, (size_t)in.n + 1, sizeof *s.at),
                            .open = arena_array(x->use.mem, (size_t)in.n + 1, 1)};
    /* nameless: index in r->nameless of the next dimension without a name */
    uint32_t n = 0, cap = 0, nameless = 0;
    for (uint32_t i = 0; i < in.n; i++) {
        const struct type *t = tensor_type(m, m->value[m->arg[in.at + i]].type);
        int rank = t->kind == TYPE_TENSOR ? t->rank : -1;
        s.open[i] = rank < 0;
        for (int d = 0; d < rank; d++) {
            const struct open_dim *o = nameless < r->nnameless ? &r->nameless[nameless] : NULL;
            bool here = o != NULL && o->input == i && o->axis == (uint32_t)d;
            s.size = vec_grow(x->use.mem, s.size, &cap, n + 1, sizeof *s.size);
            s.size[n++] = here ? o->value : dim_value(k, m->dim[t->dim + (uint32_t)d]);
            nameless += here;
        }
        s.at[i + 1] = n;
    }
    return s;
}

/* ---- telling what was guessed ---- */

bool bind_smaller(struct ctx *x)
{
    struct results *r = &x->results;
    uint32_t n = sizeof guesses / sizeof *guesses, k = 0;
    bool large = false;
    for (uint32_t i = 0; i < r->nguessed; i++)
        large = large || r->guessed[i].value > 1;
    bool said = bind_nameless(x) >= 0;
    for (uint32_t i = 0; i < r->nnameless && !said; i++)
        large = large || r->nameless[i].value > 1;
    while (k < n && guesses[k] >= common_guess(x))
        k++;
    if (!large || k == n)
        return false;
    r->guess = guesses[k];
    r->nguessed = r->nnameless = 0;
    return true;
}

/* Returns the sizes of names from number `first` on, as text such as "batch=1 sequence=128", in x->use.scratch; NULL:
 * there are none. */
static const char *names_text(const struct ctx *x, uint32_t first)
{
    const char *s = NULL;
    uint32_t n = ctx_ndims(x) - first;
    for (uint32_t i = 0; i < n && i < NAMED; i++)
        s = arena_fmt(x->use.scratch, "%s%s%s=%lld", s ? s : "", s ? " " : "",
                      ctx_dim(x, first + i)->name, (long long)ctx_dim(x, first + i)->value);
    return n > NAMED ? arena_fmt(x->use.scratch, "%s and %u more", s, n - NAMED) : s;
}

const char *bind_text(const struct ctx *x)
{
    const char *s = names_text(x, 0);
    return s ? s : "";
}

/* Returns the shape that is guessed for a model input with dimensions without a name, such as "'x' as [1,128,3]", in
 * x->use.scratch.  first: index in x->results.nameless of the input's first dimension without a name. */
static const char *nameless_shape(const struct ctx *x, struct dim_values *k, uint32_t first)
{
    const struct module *m = x->scene.m;
    const struct open_dim *open = &x->results.nameless[first];
    vid v = m->arg[m->graph[1].in.at + open->input];
    const struct type *t = &m->type[m->value[v].type];
    const char *s = arena_fmt(x->use.scratch, "'%s' as [", value_name(m, v));
    for (int i = 0; i < t->rank; i++) {
        struct dim d = m->dim[t->dim + (uint32_t)i];
        int64_t size = dim_known(d) ? dim_value(k, d) : open++->value;
        s = arena_fmt(x->use.scratch, "%s%s%lld", s, i > 0 ? "," : "", (long long)size);
    }
    return arena_fmt(x->use.scratch, "%s]", s);
}

/* Returns a text with all guesses, for names and for inputs whose dimensions have no name; NULL: nothing was
 * guessed. */
static const char *all_guesses(const struct ctx *x)
{
    const struct results *r = &x->results;
    const char *s = names_text(x, ctx_settings(x)->ndims);
    struct dim_values *k = dim_values_new(x, x->use.scratch);
    uint32_t inputs = 0, n = bind_nameless(x) < 0 ? r->nnameless : 0;
    for (uint32_t i = 0; i < n; i++) {
        if (i > 0 && r->nameless[i].input == r->nameless[i - 1].input)
            continue; /* one text for all dimensions of an input */
        if (inputs++ < NAMED)
            s = arena_fmt(x->use.scratch, "%s%s%s", s ? s : "", s ? ", " : "",
                          nameless_shape(x, k, i));
    }
    return inputs > NAMED ? arena_fmt(x->use.scratch, "%s and %u more inputs", s, inputs - NAMED)
                          : s;
}

void bind_warn_guesses(struct ctx *x)
{
    const char *s = all_guesses(x), *why = "";
    if (!s)
        return;
    if (x->results.guess)
        why = arena_fmt(x->use.scratch, " (with %lld, sizes are more than pcc can count)",
                        (long long)guesses[0]);
    s = arena_fmt(x->use.mem, "assuming %s%s%s", s, why,
                  x->results.nguessed > 0 ? "; set with --dim" : "");
    /* the pipeline gave this warning before a pass changed nodes */
    if (x->results.told && !strcmp(x->results.told, s))
        return;
    x->results.told = s;
    diag_warning(x->use.diag, WARN_GUESSED_DIM, "%s", s);
}

const char *bind_excuse(const struct ctx *x)
{
    const char *s = all_guesses(x);
    return s ? arena_fmt(x->use.scratch, "; guessed were %s: set them with --dim", s) : "";
}
