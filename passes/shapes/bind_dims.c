/* Binding the names of dimensions to numbers.  Method: a pass over the types of the values in question
 * collects the expressions, each distinct one is parsed once; names are kept in the order of first use,
 * so guesses come in a fixed order.  O(dimensions + distinct expressions). */
#include "passes/shapes/bind_dims.h"

#include <assert.h>
#include <string.h>

enum { NAMED = 8, GUESS_BATCH = 1 };

/* the next one is tried if the sizes that the one before gives are too large to count */
static const int64_t guesses[] = {128, 32, 8, 1};

/* The size that is guessed for all but batch-like names. */
static int64_t guess_of(const struct ctx *x)
{
    return x->results.guess ? x->results.guess : guesses[0];
}

/* Open addressing from string ids to numbers; absent: key 0. */
struct id_map {
    struct arena *mem;
    uint32_t cap, n; /* cap: a power of two */
    struct id_slot {
        sid key;
        int64_t value;
    } *slot;
};

static struct id_slot *id_find(struct id_map *h, sid key)
{
    assert(key != 0 && h->n < h->cap && (h->cap & (h->cap - 1)) == 0);
    uint32_t i = (key * UINT32_C(2654435761)) & (h->cap - 1);
    while (h->slot[i].key != 0 && h->slot[i].key != key)
        i = (i + 1) & (h->cap - 1);
    return &h->slot[i];
}

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

/* Values under bindings. */
struct dim_values {
    struct module *m;
    struct id_map name;  /* name -> 1 + index of its binding */
    struct id_map known; /* expression -> value */
    int64_t guess;       /* the guess for dimensions without a name, first ones apart */
};

struct dim_values *dim_values_new(const struct ctx *x, struct arena *a)
{
    struct dim_values *k = arena_alloc(a, sizeof *k);
    k->m = x->scene.m;
    k->name = id_map_new(a);
    k->known = id_map_new(a);
    k->guess = guess_of(x);
    for (uint32_t i = 0; i < ctx_ndims(x); i++)
        id_put(&k->name, str_id(x->scene.m, ctx_dim(x, i)->name), ctx_dim(x, i)->value);
    return k;
}

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

/* The names of a module's dimensions, in order of first use. */
struct names {
    struct module *m;
    struct arena *mem;
    struct id_map expr, name;
    sid *list;
    uint32_t n, cap;
};

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

static void add_type(struct names *k, uint32_t type)
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

/* Names that stand alone in the first dimension of an input of the model. */
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

static bool batch_like(const char *name)
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
    for (int round = 0; round < 2 && !found; round++)
        for (uint32_t i = 0; i < s->ndims; i++) {
            const struct dim_binding *d = &s->dims[i];
            if (round == 0 ? !batch_like(d->name)
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
        add_type(&all, x->scene.m->value[v].type);
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

static bool is_total(const char *name)
{
    return strncmp(name, "total_", 6) == 0;
}

/* "total_sequence" is past_sequence + sequence where both are bound: exporters leave the three names
 * unrelated, and a mask of another length than the keys cannot run.  -1: no such pair. */
static int64_t value_of_total(struct ctx *x, struct id_map *bound, const char *name)
{
    char *past = arena_fmt(x->use.scratch, "past_%s", name + 6);
    struct id_slot *p = id_find(bound, str_id(x->scene.m, past));
    struct id_slot *now = id_find(bound, str_id(x->scene.m, name + 6));
    return is_total(name) && p->key != 0 && now->key != 0 ? p->value + now->value : -1;
}

/* A batch of one sample; of one sample for each copy, if copies take blocks of the batch. */
static int64_t guess_batch(const struct ctx *x, const char *name)
{
    const struct dim_binding *split = &x->results.split;
    return split->name != NULL && strcmp(split->name, name) == 0 ? split->value : GUESS_BATCH;
}

static bool guess_names(struct ctx *x, const struct names *k)
{
    struct module *m = x->scene.m;
    struct id_map bound = id_map_new(x->use.scratch), batch = id_map_new(x->use.scratch);
    struct results *r = &x->results;
    uint32_t before = r->nguessed;
    for (uint32_t i = 0; i < ctx_ndims(x); i++)
        id_put(&bound, str_id(m, ctx_dim(x, i)->name), ctx_dim(x, i)->value);
    mark_first_dims(m, &batch);
    /* totals are bound in a second round, when their terms are */
    for (uint32_t i = 0; i < 2 * k->n; i++) {
        sid id = k->list[i % k->n];
        const char *name = module_str(m, id);
        if (id_find(&bound, id)->key != 0 || is_total(name) != (i >= k->n))
            continue;
        bool one = batch_like(name) || id_find(&batch, id)->key != 0;
        int64_t total = is_total(name) ? value_of_total(x, &bound, name) : -1;
        struct dim_binding b = {name, total > 0 ? total : one ? guess_batch(x, name) : guess_of(x)};
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
        add_type(&k, x->scene.m->value[x->scene.m->arg[in.at + i]].type);
    guess_names(x, &k);
}

static bool open_type(const struct module *m, uint32_t type)
{
    const struct type *t = &m->type[type];
    return (t->kind == TYPE_NONE || t->kind == TYPE_TENSOR) && type_elems(m, type) < 0;
}

bool bind_open_dims(struct ctx *x, const uint32_t *type)
{
    struct names k = names_new(x);
    for (vid v = 1; v < x->scene.m->nval; v++) {
        if (open_type(x->scene.m, type[v]))
            add_type(&k, x->scene.m->value[v].type);
    }
    return guess_names(x, &k);
}

/* ---- what was guessed ---- */

/* Number of inputs of the model with a dimension that has neither value nor name; *first: one of them. */
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
    while (k < n && guesses[k] >= guess_of(x))
        k++;
    if (!large || k == n)
        return false;
    r->guess = guesses[k];
    r->nguessed = 0;
    return true;
}

/* "batch=1 sequence=128 past_sequence=128"; NULL: no name was guessed. */
static const char *named_guesses(const struct ctx *x)
{
    const char *s = NULL;
    uint32_t n = x->results.nguessed;
    for (uint32_t i = 0; i < n && i < NAMED; i++)
        s = arena_fmt(x->use.scratch, "%s%s%s=%lld", s ? s : "", s ? " " : "",
                      x->results.guessed[i].name, (long long)x->results.guessed[i].value);
    return n > NAMED ? arena_fmt(x->use.scratch, "%s and %u more (1 for a batch, %lld for others)",
                                 s, n - NAMED, (long long)guess_of(x))
                     : s;
}

/* As named_guesses, with dimensions without a name; NULL: nothing was guessed. */
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
                     s ? s : "", s ? ", and " : "", (long long)guess_of(x), n, n > 1 ? "s" : "",
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
