/* Cuts a model into pieces (pieces.h).
 *
 * The library reads the model and makes the level that contiguous plans are made on: each of its vertices stays whole,
 * and any prefix of their order is a legal part.  One sweep over the nets gives the bytes that cross each position, a
 * second one chooses cuts.  The pieces become a plan, a device each, which the library reads and writes as a split.
 * O(vertices + pins). */
#include "tools/run/pieces.h"

#include "ir/base/json_out.h"
#include "ir/base/numbers.h"
#include "ir/base/outfile.h"
#include "ir/base/units.h"
#include "ir/ir.h"
#include "ir/plan/update_pass.h"
#include "tools/lib/handle.h"
#include "tools/run/resize.h"

#include <string.h>

/* A cut is at most 3 / 10 of a piece away from where it would be if all pieces took the same time. */
enum { WITHIN = 3, OF = 10 };

/* The model while it is cut. */
struct cutting {
    const struct wdag *g; /* the level of contiguous plans */
    const struct wdag *base;
    const struct module *m;
    const struct place *place;
    uint32_t *top;   /* [base vertex] its vertex in g */
    int64_t *work;   /* [vertex + 1] ps of all vertices before it */
    int64_t *cross;  /* [vertex] bytes that cross a cut before it */
    uint32_t *piece; /* [vertex] number of its piece */
    uint32_t count;
};

/* The user data of pass_on() and stopped(), which the library calls. */
struct hearing {
    struct diag *d;
    const signal_flag *stop; /* 1: calls of the library end, and nothing is passed on */
    bool warnings;           /* warnings are passed on, too, as notes */
};

/* Passes on errors of the library, and warnings as notes. */
static void pass_on(void *user, enum pcc_level level, const char *name, const char *line)
{
    const struct hearing *h = user;
    if (level == PCC_ERROR && !*h->stop)
        diag_error(h->d, "%s", line);
    else if (level == PCC_WARNING && h->warnings)
        diag_note(h->d, "%s [-W%s]", line, name);
}

/* Whether a call of the library shall end. */
static int stopped(void *user, const struct pcc_progress *at)
{
    const struct hearing *h = user;
    (void)at;
    return *h->stop;
}

/* Returns a handle with the model open, on `count` devices, that *h listens to; NULL after an error. */
static struct pcc *open_model(const struct pieces_of *of, struct hearing *h, struct arena *a)
{
    struct pcc *p = library_handle(a);
    pcc_listen(p, &(struct pcc_listener){.user = h, .message = pass_on, .progress = stopped});
    enum pcc_status rc = pcc_set(p, "devices", arena_fmt(a, "%uxcpu", of->count));
    if (!rc)
        rc = pcc_set(p, "pictures", "none");
    if (!rc && of->costs)
        rc = pcc_set(p, "costs", of->costs);
    for (uint32_t i = 0; i < of->ndim && !rc; i++)
        rc = pcc_set(p, "dim", of->dim[i]);
    return rc || pcc_open(p, of->model) ? NULL : p;
}

struct pcc *pieces_open(const struct pieces_of *of, struct arena *a, struct diag *d)
{
    struct hearing *h = arena_alloc(a, sizeof *h); /* lives as long as the handle */
    *h = (struct hearing){d, of->stop, .warnings = true};
    return open_model(of, h, a);
}

/* Fills c->work, where each vertex counts 1 ps more than its time, so that free vertices are spread, too; and c->cross,
 * as running sums of `change`: a value crosses all cuts behind the vertex that uses it first, up to the one before the
 * vertex that uses it last. */
static void weigh(struct cutting *c, struct arena *a)
{
    uint32_t n = c->g->n;
    /* [vertex] bytes that cross a cut before it, less the bytes that cross a cut one vertex earlier */
    int64_t *change = arena_array(a, (size_t)n + 2, sizeof *change);
    for (uint32_t v = 0; v < n; v++)
        c->work[v + 1] =
            sat_add(c->work[v], c->g->time[0][v] == COST_NEVER ? 1 : c->g->time[0][v] + 1);
    for (uint32_t e = 0; e < c->place->nnet; e++) {
        int64_t bytes = place_moved(c->place, c->m->cost, e).bytes;
        uint32_t first = UINT32_MAX, last = 0;
        for_row (node, c->place->net_pin, e) {
            uint32_t v = c->top[c->base->vertex[node]];
            first = smaller_u32(first, v);
            last = larger_u32(last, v);
        }
        if (first < last && bytes > 0) {
            change[first + 1] = sat_add(change[first + 1], bytes);
            change[last + 1] -= bytes;
        }
    }
    for (uint32_t v = 0; v < n; v++)
        c->cross[v] = (v > 0 ? c->cross[v - 1] : 0) + change[v];
}

/* Chooses the cuts between `wanted` pieces, and sets c->piece and c->count.  Pieces of equal time would be cut after
 * each / wanted of the whole time.  A cut may be up to WITHIN / OF of a piece's time away from there: it stands before
 * the vertex in this stretch where the fewest bytes cross.  If no vertex is in the stretch, the cut is left out, and
 * there is one piece less. */
static void cut(struct cutting *c, uint32_t wanted)
{
    uint32_t n = c->g->n, from = 0;
    int64_t each = c->work[n] / wanted, near = each / OF * WITHIN;
    for (uint32_t k = 1; k < wanted; k++) {
        int64_t at = each * k;
        uint32_t best = 0;
        for (uint32_t v = from + 1; v < n && c->work[v] <= at + near; v++)
            if (c->work[v] >= at - near && (best == 0 || c->cross[v] < c->cross[best]))
                best = v;
        if (best == 0)
            continue;
        for (; from < best; from++)
            c->piece[from] = c->count;
        c->count++;
    }
    for (; from < n; from++)
        c->piece[from] = c->count;
    c->count++;
}

/* Writes the pieces as a plan to the file `path`: piece k on the device "cpuK".  Returns 0; -1 after an error. */
static int write_plan(const struct cutting *c, const char *path, struct arena *a, struct diag *d)
{
    struct outfile f;
    if (outfile_open(&f, path, a, d))
        return -1;
    struct json_out o = {.f = f.f};
    json_open(&o, NULL, '{', 1);
    json_int(&o, "pcc_plan", 1);
    json_open(&o, "devices", '[', 2);
    for (uint32_t k = 0; k < c->count; k++) {
        json_open(&o, NULL, '{', 3);
        json_text(&o, "name", arena_fmt(a, "cpu%u", k));
        json_open(&o, "nodes", '[', 4);
        for (uint32_t v = 0; v < c->base->n; v++)
            if (c->piece[c->top[v]] == k)
                json_text(&o, NULL, node_name(c->m, c->base->node[v]));
        json_close(&o, 3);
        json_close(&o, 2);
    }
    json_close(&o, 1);
    json_close(&o, 0);
    return outfile_close(&f, true);
}

/* Cuts the model that is open in p, and writes the pieces as a plan to `path`.  Returns 0; -1 after an error. */
static int write_cuts(const struct pieces_of *of, struct pcc *p, const char *path, struct arena *a,
                      struct diag *d)
{
    if (pcc_plan(p, "contract"))
        return -1;
    struct cutting c = {.g = p->x.levels.contiguous,
                        .base = p->x.levels.base,
                        .m = p->x.scene.m,
                        .place = p->x.scene.place};
    uint32_t n = c.g->n;
    c.top = wdag_flatten(c.g, a);
    c.work = arena_array(a, (size_t)n + 1, sizeof *c.work);
    c.cross = arena_array(a, (size_t)n + 1, sizeof *c.cross);
    c.piece = arena_array(a, (size_t)n + 1, sizeof *c.piece);
    weigh(&c, a);
    cut(&c, of->count);
    return write_plan(&c, path, a, d);
}

/* Adds to the table the parameters and counters that steps of training update (update_pass.h), wherever nodes may mix
 * samples. */
static void add_parameters(const struct scene *s, struct names *to, struct arena *a)
{
    struct scene training = *s;
    training.model.training.mixing = true;
    const struct update_pass u =
        update_pass_find(&(struct staged_plan){.scene = &training}, /*stage_of=*/NULL, a);
    for (uint32_t i = 0; i < u.n && !u.why; i++)
        names_add(to, value_name(s->m, u.of[i].parameter), i);
    for (uint32_t i = 0; i < u.ncounter && !u.why; i++)
        names_add(to, value_name(s->m, u.counter[i].value), u.n + i);
}

int pieces_write(const struct pieces_of *of, struct names *parameters, struct arena *a,
                 struct diag *d)
{
    const char *path = arena_fmt(a, "%s.plan.json", of->folder);
    struct hearing *h = arena_alloc(a, sizeof *h); /* lives as long as the handles */
    *h = (struct hearing){d, of->stop, .warnings = true};
    struct pcc *p = open_model(of, h, a);
    if (!p || write_cuts(of, p, path, a, d))
        return -1;
    *parameters = names_new(a, 1);
    add_parameters(&p->x.scene, parameters, a);
    /* opened anew, as p has contracted nodes and the plan is for the model as it is; the user has read its warnings */
    h->warnings = false;
    p = open_model(of, h, a);
    return !p || pcc_plan(p, arena_fmt(a, "plan{from=%s}", path)) || pcc_write(p, of->folder) ? -1
                                                                                              : 0;
}
