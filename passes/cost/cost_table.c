/* Looks up the cost table (measured.h): the times and memory of each node in files, and predictions for the planned
 * batch size from measurements at smaller ones.
 *
 * Standard Evaluation of Celeritas (paper 003, 4.2): a model that is too large for one device is measured at batch
 * sizes that fit.  The time and memory of each node at the planned size are predicted by the line of least squares
 * (affine_fit.h) through all files that measure the node, if they have two different sizes.  If a file says that a node
 * can never run on a class, the node does not run there at other sizes either.  Times from --costs have priority: so
 * the user can replace predictions by what a first, sequential plan took at the planned size (costs.md).  O(files *
 * nodes * classes). */
#include "passes/cost/run_trace.h"
#include "passes/cost/sheets.h"

#include "ir/base/strings.h"
#include "passes/shapes/bind_dims.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

_Static_assert((int)MEASUREMENTS_MOST <= (int)FIT_POINTS && BATCH_MOST <= FIT_SIZE_MAX,
               "settings allow what lines can be fitted to");

/* ---- sheets ----------------------------------------------------------------------------------- */

/* Returns of_rows[row] or, if that is NONE, of_ops[op]; NONE: both are.  The arrays may be NULL: all NONE. */
static int64_t cell(const int64_t *of_rows, const int64_t *of_ops, uint32_t row, uint32_t op)
{
    int64_t own = of_rows ? of_rows[row] : NONE;
    return own != NONE || !of_ops ? own : of_ops[op];
}

int64_t sheet_time(const struct sheet *s, const struct cost_table *t, uint32_t row, uint32_t k)
{
    return cell(s->node_time[k], s->op_time[k], row, t->op_of[row]);
}

int64_t sheet_memory(const struct sheet *s, const struct cost_table *t, uint32_t row)
{
    return cell(s->node_memory, s->op_memory, row, t->op_of[row]);
}

/* Returns the ps of a row on class k by --costs: from the last file with a time for the node, else from the last file
 * with a time for its operator type; NONE: no file has one. */
static int64_t given_time(const struct cost_table *t, uint32_t row, uint32_t k)
{
    for (uint32_t i = t->ngiven; i-- > 0;)
        if (t->given[i].node_time[k] && t->given[i].node_time[k][row] != NONE)
            return t->given[i].node_time[k][row];
    for (uint32_t i = t->ngiven; i-- > 0;)
        if (t->given[i].op_time[k] && t->given[i].op_time[k][t->op_of[row]] != NONE)
            return t->given[i].op_time[k][t->op_of[row]];
    return NONE;
}

/* Returns the bytes of a row by --costs, chosen among the files as in given_time(); NONE: no file has them. */
static int64_t given_memory(const struct cost_table *t, uint32_t row)
{
    for (uint32_t i = t->ngiven; i-- > 0;)
        if (t->given[i].node_memory && t->given[i].node_memory[row] != NONE)
            return t->given[i].node_memory[row];
    for (uint32_t i = t->ngiven; i-- > 0;)
        if (t->given[i].op_memory && t->given[i].op_memory[t->op_of[row]] != NONE)
            return t->given[i].op_memory[t->op_of[row]];
    return NONE;
}

/* ---- predictions ------------------------------------------------------------------------------ */

/* Makes *f the line through the measurements of the sheets whose bits are set in `sheets` (struct forecast), unless it
 * is that line already.  Returns whether their batch sizes determine a line. */
static bool set_line(const struct cost_table *t, struct forecast *f, uint32_t sheets)
{
    int64_t size[FIT_POINTS];
    uint32_t n = 0;
    if (sheets == f->sheets)
        return f->fits;
    for (uint32_t i = 0; i < t->nat; i++)
        if ((sheets >> i & 1) != 0)
            size[n++] = t->at[i].batch;
    f->sheets = sheets;
    f->fits = n > 0 && affine_fit_at(&f->fit, size, n, f->batch);
    return f->fits;
}

int64_t forecast_time(const struct cost_table *t, struct forecast *f, uint32_t row, uint32_t k)
{
    int64_t y[FIT_POINTS] = {0};
    uint32_t n = 0, sheets = 0;
    for (uint32_t i = 0; i < t->nat; i++) {
        int64_t time = sheet_time(&t->at[i], t, row, k);
        if (time == COST_NEVER)
            return COST_NEVER;
        if (time == NONE)
            continue;
        y[n++] = time;
        sheets |= UINT32_C(1) << i;
    }
    return set_line(t, f, sheets) ? affine_fit_nearest(&f->fit, y) : NONE;
}

int64_t forecast_memory(const struct cost_table *t, struct forecast *f, uint32_t row)
{
    int64_t y[FIT_POINTS] = {0};
    uint32_t n = 0, sheets = 0;
    for (uint32_t i = 0; i < t->nat; i++) {
        int64_t bytes = sheet_memory(&t->at[i], t, row);
        if (bytes == NONE)
            continue;
        y[n++] = bytes;
        sheets |= UINT32_C(1) << i;
    }
    return set_line(t, f, sheets) ? affine_fit_enough(&f->fit, y) : NONE;
}

/* Whether a file of --profile-at has a time of the row on class k. */
static bool has_time(const struct cost_table *t, uint32_t row, uint32_t k)
{
    for (uint32_t i = 0; i < t->nat; i++)
        if (sheet_time(&t->at[i], t, row, k) != NONE)
            return true;
    return false;
}

/* Whether a file of --profile-at has the memory of the row. */
static bool has_memory(const struct cost_table *t, uint32_t row)
{
    for (uint32_t i = 0; i < t->nat; i++)
        if (sheet_memory(&t->at[i], t, row) != NONE)
            return true;
    return false;
}

/* Whether files of --profile-at measure the row, but all at one batch size, so that they predict nothing.  ncls:
 * number of classes. */
static bool is_unfitted(const struct cost_table *t, uint32_t ncls, uint32_t row)
{
    for (uint32_t k = 0; k < ncls; k++)
        if (has_time(t, row, k) && forecast_time(t, t->planned, row, k) == NONE)
            return true;
    return has_memory(t, row) && forecast_memory(t, t->planned, row) == NONE;
}

/* Warns of nodes for which is_unfitted() holds. */
static void warn_unfitted(const struct cost_table *t, const struct ctx *x)
{
    uint32_t count = 0;
    nid first = 0;
    if (t->nat == 0)
        return;
    for (nid n = 1; n < t->m->nnode; n++) {
        if (!is_unfitted(t, x->scene.cluster->ncls, n))
            continue;
        first = count++ == 0 ? n : first;
    }
    if (count > 0)
        diag_warning(x->use.diag, WARN_ONE_SIZE,
                     "%u nodes are measured at one batch size only, the first is '%s' (%s): that "
                     "predicts nothing",
                     count, node_name(t->m, first), node_op(t->m, first));
}

/* ---- deviations of predictions ---------------------------------------------------------------- */

/* Relative deviations of predictions from measurements. */
struct deviation {
    uint32_t nodes;     /* number of nodes compared */
    uint32_t zero;      /* number of nodes left out, since they were measured as 0 */
    uint32_t within[3]; /* number of nodes with a deviation of at most 0, 20 and 30 % */
    __int128 sum;       /* sum of the deviations, in millionths of the measurement */
};

/* Adds one node to *d; only counts it in d->zero if it was measured as 0; does nothing if either number is NONE or
 * COST_NEVER. */
static void add_deviation(struct deviation *d, int64_t predicted, int64_t measured)
{
    static const int percent[] = {0, 20, 30};
    if (predicted == NONE || measured == NONE || predicted == COST_NEVER || measured == COST_NEVER)
        return;
    if (measured == 0) {
        d->zero++;
        return;
    }
    __int128 off = predicted > measured ? predicted - measured : measured - predicted;
    d->nodes++;
    d->sum += (off * 1000000 + measured / 2) / measured;
    for (unsigned i = 0; i < 3; i++)
        d->within[i] += off * 100 <= (__int128)percent[i] * measured;
}

/* Returns part / whole as a text such as "12.3 %", in a. */
static const char *share_text(struct arena *a, uint32_t part, uint32_t whole)
{
    uint64_t permille = ((uint64_t)part * 2000 + whole) / (2 * (uint64_t)whole);
    return arena_fmt(a, "%" PRIu64 ".%" PRIu64 " %%", permille / 10, permille % 10);
}

/* Returns *d as text for a note, in a. */
static const char *deviation_text(const struct deviation *d, struct arena *a)
{
    /* mean of the deviations, in hundredths of a percent, rounded to the nearest */
    __int128 mean = d->nodes ? (d->sum + 50 * (__int128)d->nodes) / (100 * (__int128)d->nodes) : 0;
    mean = mean > INT64_MAX ? INT64_MAX : mean;
    const char *zero = d->zero ? arena_fmt(a, "; %u measured as 0 left out", d->zero) : "";
    if (!d->nodes)
        return arena_fmt(a, "no nodes to compare%s", zero);
    return arena_fmt(a,
                     "mean deviation %" PRId64 ".%02" PRId64 " %% of %u nodes, "
                     "%s within 0 %%, %s within 20 %%, %s within 30 %%%s",
                     (int64_t)(mean / 100), (int64_t)(mean % 100), d->nodes,
                     share_text(a, d->within[0], d->nodes), share_text(a, d->within[1], d->nodes),
                     share_text(a, d->within[2], d->nodes), zero);
}

/* Adds a note for each class that tells how predicted times deviate from the times in sheet s; classes with equal
 * figures share a note. */
static void note_times(const struct cost_table *t, const struct sheet *s, struct forecast *f,
                       struct ctx *x)
{
    const struct cluster *c = x->scene.cluster;
    /* [class] its figures; NULL: none, or told already */
    const char *text[CLUSTER_CLASSES] = {NULL};
    for (uint32_t k = 0; k < c->ncls; k++) {
        struct deviation d = {0};
        for (uint32_t row = 1; row < t->nrow; row++)
            add_deviation(&d, forecast_time(t, f, row, k), sheet_time(s, t, row, k));
        text[k] = s->node_time[k] || s->op_time[k] ? deviation_text(&d, x->use.scratch) : NULL;
    }
    /* one note for all classes with the same text */
    for (uint32_t k = 0; k < c->ncls; k++) {
        const char *names = c->cls[k].name, *said = text[k];
        for (uint32_t j = k + 1; said && j < c->ncls; j++) {
            if (!text[j] || strcmp(text[j], said) != 0)
                continue;
            names = arena_fmt(x->use.scratch, "%s, %s", names, c->cls[j].name);
            text[j] = NULL;
        }
        if (said)
            diag_note(x->use.diag, "%s: batch %" PRId64 ", time on %s: %s", s->path, s->batch,
                      names, said);
    }
}

/* Adds a note that tells how predicted bytes deviate from the bytes in sheet s. */
static void note_memory(const struct cost_table *t, const struct sheet *s, struct forecast *f,
                        struct ctx *x)
{
    struct deviation d = {0};
    if (!s->node_memory && !s->op_memory)
        return;
    for (uint32_t row = 1; row < t->nrow; row++)
        add_deviation(&d, forecast_memory(t, f, row), sheet_memory(s, t, row));
    diag_note(x->use.diag, "%s: batch %" PRId64 ", memory: %s", s->path, s->batch,
              deviation_text(&d, x->use.scratch));
}

int cost_table_check(const struct cost_table *t, struct ctx *x)
{
    const struct settings *given = ctx_settings(x);
    for (uint32_t i = 0; i < given->nchecks; i++) {
        struct sheet s = {.option = "profile-check", .batch = given->checks[i].batch};
        struct forecast f = {.batch = s.batch};
        if (sheet_read(t, &s, x, given->checks[i].file) != 0)
            return -1;
        note_times(t, &s, &f, x);
        note_memory(t, &s, &f, x);
    }
    return 0;
}

/* ---- tables ----------------------------------------------------------------------------------- */

/* Adds the nodes of m as rows: node n is row first + n.  Of several nodes with one name, the name stands for the last
 * one if first == 0; else a name that stands for a row already keeps that row. */
static void add_rows(struct cost_table *t, const struct module *m, uint32_t first)
{
    for (nid n = 1; n < m->nnode; n++) {
        const char *name = node_name(m, n), *op = node_op(m, n);
        uint32_t id = strings_id(t->names, name, strlen(name)), row = first + n;
        t->row_of[id] = t->row_of[id] != 0 && first != 0 ? t->row_of[id] : row;
        t->nname = larger_u32(id, t->nname);
        t->op_of[row] = strings_id(t->ops, op, strlen(op));
        t->nop = larger_u32(t->op_of[row], t->nop);
    }
}

/* Warns of a file that has times or memory of nodes and does not say at which sizes they were measured, if the model
 * has dimensions whose sizes may have been different then.  The batch size of a file of --profile-at is known. */
static void warn_unsized(const struct ctx *x, const struct sheet *s)
{
    bool nodes = s->node_memory != NULL, at = s->batch > 0;
    uint32_t open = ctx_ndims(x) + x->results.nnameless;
    for (uint32_t k = 0; k < x->scene.cluster->ncls; k++)
        nodes = nodes || s->node_time[k] != NULL;
    if (nodes && !s->sized && open > (at ? 1 : 0))
        diag_warning(
            x->use.diag, WARN_UNSIZED_COST,
            "%s: it does not say at which sizes it was measured: taken to be those that are "
            "planned for%s%s%s",
            s->path, at ? " beside the batch" : "", ctx_ndims(x) > 0 ? ", " : "", bind_text(x));
}

/* Reads all files of --costs and --profile-at.  Returns 0, or -1 after an error. */
static int read_sheets(struct cost_table *t, struct ctx *x)
{
    const struct settings *s = ctx_settings(x);
    t->given = arena_array(x->use.scratch, (size_t)s->ncost_files + 1, sizeof *t->given);
    t->at = arena_array(x->use.scratch, (size_t)s->nmeasured + 1, sizeof *t->at);
    for (; t->ngiven < s->ncost_files; t->ngiven++) {
        t->given[t->ngiven].option = "costs";
        if (sheet_read(t, &t->given[t->ngiven], x, s->cost_files[t->ngiven]) != 0)
            return -1;
        warn_unsized(x, &t->given[t->ngiven]);
    }
    assert(s->nmeasured <= FIT_POINTS);
    for (; t->nat < s->nmeasured; t->nat++) {
        t->at[t->nat].option = "profile-at";
        t->at[t->nat].batch = s->measured[t->nat].batch;
        if (sheet_read(t, &t->at[t->nat], x, s->measured[t->nat].file) != 0)
            return -1;
        warn_unsized(x, &t->at[t->nat]);
    }
    return 0;
}

struct cost_table *cost_table_read(struct ctx *x, const struct module *m)
{
    struct arena *a = x->use.scratch;
    struct cost_table *t = arena_alloc(a, sizeof *t);
    t->nrow = m->nnode + (m != x->scene.m ? x->scene.m->nnode : 0);
    t->m = m;
    t->names = strings_new(a);
    t->ops = strings_new(a);
    t->row_of = arena_array(a, (size_t)t->nrow + 1, sizeof *t->row_of);
    t->op_of = arena_array(a, (size_t)t->nrow + 1, sizeof *t->op_of);
    t->model = m != x->scene.m ? m->nnode : 0;
    t->planned = arena_alloc(a, sizeof *t->planned);
    add_rows(t, m, 0);
    if (m != x->scene.m)
        add_rows(t, x->scene.m, t->model);
    if (ctx_settings(x)->nmeasured > 0 && bind_batch(x, FIT_SIZE_MAX, &t->planned->batch) != 0)
        return NULL;
    if (read_sheets(t, x) != 0)
        return NULL;
    warn_unfitted(t, x);
    return t;
}

int cost_table_scale(const struct cost_table *t, struct ctx *x)
{
    return run_traces_apply(t->given, t->ngiven, x);
}

bool cost_table_wanted(const struct ctx *x)
{
    return ctx_settings(x)->ncost_files > 0 || ctx_settings(x)->nmeasured > 0;
}

struct cost_table *cost_table_peek(const struct ctx *x, const struct module *m)
{
    struct diag quiet = diag_silent();
    struct ctx y = *x;
    y.use.diag = &quiet;
    return cost_table_wanted(x) && x->scene.cluster != NULL ? cost_table_read(&y, m) : NULL;
}

/* Returns the ps of a row on class k: by --costs, else predicted; NONE: neither. */
static int64_t row_time(const struct cost_table *t, uint32_t row, uint32_t k)
{
    int64_t given = given_time(t, row, k);
    return given != NONE ? given : forecast_time(t, t->planned, row, k);
}

/* Returns the bytes of a row: by --costs, else predicted; NONE: neither. */
static int64_t row_memory(const struct cost_table *t, uint32_t row)
{
    int64_t given = given_memory(t, row);
    return given != NONE ? given : forecast_memory(t, t->planned, row);
}

int64_t cost_table_time(const struct cost_table *t, nid n, uint32_t k)
{
    return row_time(t, n, k);
}

int64_t cost_table_call(const struct cost_table *t, nid n, uint32_t k)
{
    return row_time(t, t->model + n, k);
}

int64_t cost_table_memory(const struct cost_table *t, nid n)
{
    return row_memory(t, n);
}

int64_t cost_table_call_memory(const struct cost_table *t, nid n)
{
    return row_memory(t, t->model + n);
}
