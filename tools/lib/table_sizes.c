/* Sizes of dimensions from tables of measured times (table_sizes.h).
 *
 * Times hold for the sizes at which they were measured.  So a plan by --costs is made for these sizes, and one for
 * others is refused.  Tables of --profile-at differ in one dimension, the batch; all other sizes hold for the plan,
 * and for tables that --profile-check compares with.
 * O(tables * sizes^2); there are few of both. */
#include "tools/lib/table_sizes.h"

#include "passes/cost/table_facts.h"

#include <string.h>

/* Returns the size with this name in dims[n]; NULL: there is none. */
static const struct dim_binding *find_dim(const struct dim_binding *dims, uint32_t n,
                                          const char *name)
{
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(dims[i].name, name) == 0)
            return &dims[i];
    return NULL;
}

enum { NAMED = 8 }; /* the most sizes in a note */

/* The settings' sizes while they grow. */
struct taking {
    struct pcc *p;
    struct dim_binding *dims; /* [p->settings.ndims] the sizes */
    uint32_t cap;
    uint32_t taken;   /* sizes that came from tables */
    const char *text; /* the first NAMED sizes as text, for a note */
};

/* Adds the size b of a table to t->dims, unless it is there already.  option: the option that names the table.  Returns
 * 0; or -1 and an error, if --dim or another table gives the same name another size. */
static int take_size(struct taking *t, const char *option, const struct dim_binding *b)
{
    struct settings *s = &t->p->settings;
    const struct dim_binding *said = find_dim(t->dims, s->ndims, b->name);
    if (said && said->value == b->value)
        return 0;
    if (said)
        return diag_error(
            &t->p->diag,
            "--%s %s: it was measured at %s=%lld, but %s says %s=%lld: measure it at that size, "
            "or predict it from measurements at several batch sizes with --profile-at",
            option, b->from, b->name, (long long)b->value, said->from ? said->from : "--dim",
            b->name, (long long)said->value);
    t->dims = vec_grow(t->p->x.use.mem, t->dims, &t->cap, s->ndims + 1, sizeof *t->dims);
    t->dims[s->ndims++] = *b;
    if (t->taken++ < NAMED)
        t->text = arena_fmt(t->p->x.use.mem, "%s%s%s=%lld", t->text, *t->text ? " " : "", b->name,
                            (long long)b->value);
    return 0;
}

/* Whether the tables f[n] have a size with this name that is not `value`. */
static bool size_varies(const struct table_facts *f, uint32_t n, const char *name, int64_t value)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct dim_binding *b = find_dim(f[i].dims, f[i].ndims, name);
        if (b && b->value != value)
            return true;
    }
    return false;
}

/* Whether the size b, which the tables of --profile-at that give sizes agree on, is that of the batch, and not one that
 * holds for the plan: b is the batch that the option says, and the plan has another size of this name.  (The tables at
 * other batches give no sizes then.) */
static bool is_lone_batch(const struct taking *t, const struct dim_binding *b, int64_t batch)
{
    const struct dim_binding *said = find_dim(t->dims, t->p->settings.ndims, b->name);
    return b->value == batch && said && said->value != batch;
}

/* Takes the sizes that the tables of --profile-at were measured at, without the size of the batch.  A size in which the
 * tables differ must be each table's batch, as the option says it.  Returns 0; -1 after an error. */
static int take_measured(struct taking *t)
{
    struct pcc *p = t->p;
    const struct settings *s = &p->settings;
    struct arena *a = p->x.use.mem;
    struct table_facts *f = arena_array(a, (size_t)s->nmeasured + 1, sizeof *f);
    for (uint32_t i = 0; i < s->nmeasured; i++)
        if (table_facts_read(&f[i], s->measured[i].file, a, &p->diag))
            return -1;
    for (uint32_t i = 0; i < s->nmeasured; i++)
        for (uint32_t k = 0; k < f[i].ndims; k++) {
            const struct dim_binding *b = &f[i].dims[k];
            bool batch = size_varies(f, s->nmeasured, b->name, b->value);
            if (batch && b->value != s->measured[i].batch)
                return diag_error(&p->diag,
                                  "--profile-at %lld=%s: it was measured at %s=%lld, other tables "
                                  "at another size: expected the batch size %lld",
                                  (long long)s->measured[i].batch, f[i].path, b->name,
                                  (long long)b->value, (long long)s->measured[i].batch);
            if (!batch && !is_lone_batch(t, b, s->measured[i].batch) &&
                take_size(t, "profile-at", b))
                return -1;
        }
    return 0;
}

/* Returns 0 if the tables of --profile-check, which are of another batch, were measured at sizes that hold for the
 * plan; -1 after an error. */
static int check_checks(struct taking *t)
{
    struct pcc *p = t->p;
    const struct settings *s = &p->settings;
    for (uint32_t i = 0; i < s->nchecks; i++) {
        struct table_facts f;
        if (table_facts_read(&f, s->checks[i].file, p->x.use.mem, &p->diag))
            return -1;
        for (uint32_t k = 0; k < f.ndims; k++) {
            const struct dim_binding *b = &f.dims[k], *said = find_dim(t->dims, s->ndims, b->name);
            if (said && said->value != b->value && b->value != s->checks[i].batch)
                return diag_error(
                    &p->diag,
                    "--profile-check %lld=%s: it was measured at %s=%lld, predictions are for %lld",
                    (long long)s->checks[i].batch, f.path, b->name, (long long)b->value,
                    (long long)said->value);
        }
    }
    return 0;
}

int take_table_sizes(struct pcc *p)
{
    struct settings *s = &p->settings;
    struct arena *a = p->x.use.mem;
    struct taking t = {.p = p, .cap = s->ndims, .text = ""};
    t.dims = arena_array(a, (size_t)s->ndims + 1, sizeof *t.dims);
    for (uint32_t i = 0; i < s->ndims; i++)
        t.dims[i] = s->dims[i];
    for (uint32_t i = 0; i < s->ncost_files; i++) {
        struct table_facts f;
        if (table_facts_read(&f, s->cost_files[i], a, &p->diag))
            return -1;
        for (uint32_t k = 0; k < f.ndims; k++)
            if (take_size(&t, "costs", &f.dims[k]))
                return -1;
    }
    if (take_measured(&t) || check_checks(&t))
        return -1;
    s->dims = t.dims;
    const char *more = t.taken > NAMED ? arena_fmt(a, " and %u more", t.taken - NAMED) : "";
    if (t.taken > 0)
        diag_note(&p->diag, "planning for the sizes at which times were measured: %s%s", t.text,
                  more);
    return 0;
}
