/* Binds names of symbolic dimensions to numbers (bind_dims.h).  A pass over the types of the values in question
 * collects the distinct expressions and parses each of them once.  Names are kept in the order of first use, so
 * guesses come in a fixed order.  O(dimensions + distinct expressions). */
#include "passes/shapes/bind_dims.h"

#include <assert.h>
#include <string.h>

/* NAMED: a message lists at most this many guesses by name.  GUESS_BATCH: the guess for batch sizes. */
enum { NAMED = 8, GUESS_BATCH = 1 };

/* Sizes to guess for other dimensions: each is tried if with the one before the model's times or bytes add up to
 * CTX_SUM_MAX (passes.h) or more. */
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
    } *slot; /* [cap] */
};

/* Returns the slot of the key; if the table does not have it, the free slot where it belongs. */
static struct id_slot *id_find(struct id_map *h, sid key)
{
    assert(key != 0 && h->n < h->cap && (h->cap & (h->cap - 1)) == 0);
    uint32_t i = (key * UINT32_C(2654435761)) & (h->cap - 1);
    while (h->slot[i].key != 0 && h->slot[i].key != key)
        i = (i + 1) & (h->cap - 1);
    return &h->slot[i];
}

/* Adds the key, or replaces its value. */
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
    int64_t guess;       /* for dimensions without a name that are not the first one */
};

struct dim_values *dim_values_new(const struct ctx *x, struct arena *a)
{
    struct dim_values *k = arena_alloc(a, sizeof *k);
    k->m = x->scene.m;
    k->name = id_map_new(a);
    k->known = id_map_new(a);
    k->guess = common_guess(x);
    for (uint32_t i = 0; i < ctx_ndims(x); i++)
        id_put(&k->name, str_id(x->scene.m, ctx_dim(x, i)->name), ctx_dim(x, i)->value);
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

/* Adds the names in the dimensions of a type, an index in m->type. */
static void add_type_names(struct names *k, uint32_t type)
{
    const struct type *t = &k->m->type[type];
    if (t->kind != TYPE_TENSOR || t->rank < 0)
        return;
    for (uint32_t i = 0; i < (uint32_t)t->rank; i++) {
        struct dim d = k->m->dim[t->dim + i];
        if (d.sym == 0 || id_find(&k->expr, d.sym)->key != 0)
            continue;
        id_put(&k->expr, d.sym, 1);
        dim_names(k->m, d, add_name, k);
    }
}

/* Adds each name that alone is the first dimension of a model input (without an initializer) to *batch. */
static void mark_first_dims(const struct module *m, struct id_map *batch)
{
    struct slice in = m->graph[1].in;
    for (uint32_t i = 0; i < in.n; i++) {
        const struct value *v = &m->value[m->arg[in.at + i]];
        const struct type *t = &m->type[v->type];
        if ((v->flags & VALUE_INIT) == 0 && t->kind == TYPE_TENSOR && t->rank > 0 &&
            m->dim[t->dim].sym != 0)
            id_put(batch, m->dim[t->dim].sym, 1);
    }
}

/* Whether the name is one that models use for a batch size. */
static bool is_batch_name(const char *name)
{
    return strcmp(name, "N") == 0 || strcmp(name, "n") == 0 || strcmp(name, "bs") == 0 ||
           strncmp(name, "batch", 5) == 0 || strncmp(name, "Batch", 5) == 0;
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
            if (round == 0 ? !is_batch_name(d->name)
                           : id_find(&first, str_id(x->scene.m, d->name))->key == 0)
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
    if (found->value > most)
        return diag_error(x->use.diag,
                          "--profile-at: --dim %s=%lld: expected a batch size of at most %lld",
                          found->name, (long long)found->value, (long long)most);
    *batch = found->value;
    return 0;
}

/* Returns an empty list, with memory from x->use.scratch. */
static struct names names_new(struct ctx *x)
{
    struct names k = {.m = x->scene.m, .mem = x->use.scratch};
    k.expr = id_map_new(x->use.scratch);
    k.name = id_map_new(x->use.scratch);
    return k;
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
        if (id_find(&all.name, str_id(x->scene.m, b->name))->key == 0)
            diag_warning(x->use.diag, WARN_UNMATCHED_DIM,
                         "--dim %s=%lld: no dimension of the model has this name", b->name,
                         (long long)b->value);
    }
}

int64_t dim_guess(const struct dim_values *k, bool first)
{
    return first ? GUESS_BATCH : k->guess;
}

/* Whether the name is that of a total, such as "total_sequence". */
static bool is_total(const char *name)
{
    return strncmp(name, "total_", 6) == 0;
}

/* Returns, for a name like "total_sequence", the sum of the values of past_sequence and sequence; -1: one of them is
 * not bound, or the name is no total.  Exporters give the three dimensions unrelated names, but a model cannot run if
 * its mask is longer or shorter than its keys. */
static int64_t value_of_total(struct ctx *x, struct id_map *bound, const char *name)
{
    char *past = arena_fmt(x->use.scratch, "past_%s", name + 6);
    struct id_slot *p = id_find(bound, str_id(x->scene.m, past));
    struct id_slot *now = id_find(bound, str_id(x->scene.m, name + 6));
    return is_total(name) && p->key != 0 && now->key != 0 ? p->value + now->value : -1;
}

/* Returns the guess for a batch size: one sample; if split-batch has divided this dimension, one sample for each copy
 * of the nodes. */
static int64_t guess_batch(const struct ctx *x, const char *name)
{
    const struct dim_binding *split = &x->results.split;
    return split->name != NULL && strcmp(split->name, name) == 0 ? split->value : GUESS_BATCH;
}

/* Appends a guess to x->results.guessed for each name in the list that has no value.  Returns whether there was one. */
static bool guess_names(struct ctx *x, const struct names *k)
{
    struct module *m = x->scene.m;
    struct id_map bound = id_map_new(x->use.scratch), batch = id_map_new(x->use.scratch);
    struct results *r = &x->results;
    uint32_t before = r->nguessed;
    for (uint32_t i = 0; i < ctx_ndims(x); i++)
        id_put(&bound, str_id(m, ctx_dim(x, i)->name), ctx_dim(x, i)->value);
    mark_first_dims(m, &batch);
    /* totals are bound in a second round, when their terms have values */
    for (uint32_t i = 0; i < 2 * k->n; i++) {
        sid id = k->list[i % k->n];
        const char *name = module_str(m, id);
        if (id_find(&bound, id)->key != 0 || is_total(name) != (i >= k->n))
            continue;
        bool one = is_batch_name(name) || id_find(&batch, id)->key != 0;
        int64_t total = is_total(name) ? value_of_total(x, &bound, name) : -1;
        struct dim_binding b = {name, total > 0 ? total
                                      : one     ? guess_batch(x, name)
                                                : common_guess(x)};
        id_put(&bound, id, b.value);
        r->guessed =
            vec_grow(x->use.mem, r->guessed, &r->capguessed, r->nguessed + 1, sizeof *r->guessed);
        r->guessed[r->nguessed++] = b;
    }
    return r->nguessed > before;
}

void bind_input_dims(struct ctx *x)
{
    struct names k = names_new(x);
    struct slice in = x->scene.m->graph[1].in;
    for (uint32_t i = 0; i < in.n; i++)
        add_type_names(&k, x->scene.m->value[x->scene.m->arg[in.at + i]].type);
    guess_names(x, &k);
}

/* Whether a type (an index in m->type) leaves the size of a value open: a tensor or unknown type without a number of
 * elements. */
static bool is_open_type(const struct module *m, uint32_t type)
{
    const struct type *t = &m->type[type];
    return (t->kind == TYPE_NONE || t->kind == TYPE_TENSOR) && type_elems(m, type) < 0;
}

bool bind_open_dims(struct ctx *x, const uint32_t *type)
{
    struct names k = names_new(x);
    for (vid v = 1; v < x->scene.m->nval; v++) {
        if (is_open_type(x->scene.m, type[v]))
            add_type_names(&k, x->scene.m->value[v].type);
    }
    return guess_names(x, &k);
}

/* ---- telling what was guessed ---- */

/* Returns the number of model inputs with a dimension that has neither value nor name; *first becomes the first of
 * them, if there is one. */
static uint32_t nameless_inputs(const struct module *m, vid *first)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->graph[1].in.n; i++) {
        vid v = m->arg[m->graph[1].in.at + i];
        const struct type *t = &m->type[m->value[v].type];
        bool open = false;
        for (int k = 0; t->kind == TYPE_TENSOR && k < t->rank; k++)
            open = open || !dim_known(m->dim[t->dim + (uint32_t)k]);
        *first = open && n == 0 ? v : *first;
        n += open;
    }
    return n;
}

bool bind_smaller(struct ctx *x)
{
    struct results *r = &x->results;
    uint32_t n = sizeof guesses / sizeof *guesses, k = 0;
    vid first;
    bool large = nameless_inputs(x->scene.m, &first) > 0;
    for (uint32_t i = 0; i < r->nguessed; i++)
        large = large || r->guessed[i].value > 1;
    while (k < n && guesses[k] >= common_guess(x))
        k++;
    if (!large || k == n)
        return false;
    r->guess = guesses[k];
    r->nguessed = 0;
    return true;
}

/* Returns the guesses for names as text, such as "batch=1 sequence=128", in x->use.scratch; NULL: none was guessed. */
static const char *named_guesses(const struct ctx *x)
{
    const char *s = NULL;
    uint32_t n = x->results.nguessed;
    for (uint32_t i = 0; i < n && i < NAMED; i++)
        s = arena_fmt(x->use.scratch, "%s%s%s=%lld", s ? s : "", s ? " " : "",
                      x->results.guessed[i].name, (long long)x->results.guessed[i].value);
    return n > NAMED ? arena_fmt(x->use.scratch, "%s and %u more (1 for a batch, %lld for others)",
                                 s, n - NAMED, (long long)common_guess(x))
                     : s;
}

/* Returns the guesses for names and for dimensions without a name as text; NULL: nothing was guessed. */
static const char *all_guesses(const struct ctx *x)
{
    const char *s = named_guesses(x);
    vid first = 0;
    uint32_t n = nameless_inputs(x->scene.m, &first);
    if (n == 0)
        return s;
    return arena_fmt(x->use.scratch,
                     "%s%s1 for first and %lld for other dimensions without a name (of %u input%s, "
                     "the first is '%s')",
                     s ? s : "", s ? ", and " : "", (long long)common_guess(x), n, n > 1 ? "s" : "",
                     value_name(x->scene.m, first));
}

void bind_warn_guesses(struct ctx *x)
{
    const char *s = all_guesses(x), *why = "";
    if (!s)
        return;
    if (x->results.guess)
        why = arena_fmt(x->use.scratch, " (with %lld, sizes are more than pcc can count)",
                        (long long)guesses[0]);
    diag_warning(x->use.diag, WARN_GUESSED_DIM, "assuming %s%s%s", s, why,
                 x->results.nguessed > 0 ? "; set with --dim" : "");
}

const char *bind_excuse(const struct ctx *x)
{
    const char *s = all_guesses(x);
    return s ? arena_fmt(x->use.scratch, "; guessed were %s: set them with --dim", s) : "";
}
