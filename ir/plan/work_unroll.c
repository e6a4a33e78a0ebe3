/* Makes the work of an iteration from the work of one micro-batch: work_unroll() in work.h.
 *
 * An instance is a part of the given work for one micro-batch, and becomes a part of the new work.  The numbers of
 * the new parts depend only on the lists of the devices and the inputs of parts, so that the reader of a file with
 * the lists computes the same numbers.  They are in the order of time if all parts take equally long. */
#include "ir/base/heap.h"
#include "ir/plan/work.h"

#include <assert.h>

enum { NONE = UINT32_MAX };

/* State of work_unroll(). */
struct unroll_state {
    const struct sample_work *w; /* the work of one micro-batch */
    struct sample_work *to;      /* the new work */
    /* device -> instances, in the order in which the device runs them */
    const struct csr *list;
    struct arena *a, *own; /* for the result; for scratch memory */
    uint32_t n; /* number of instances; instance i: part i % w->npart, micro-batch i / w->npart */
    /* [i] the instance that follows instance i in a list; NONE: instance i is the last */
    uint32_t *next;
    /* [instance] number of inputs that the instance still waits for, plus 1 while it waits for the instance before it
     * in its list */
    uint32_t *waits;
    uint32_t *level;  /* [instance] length of the longest chain of instances before it */
    uint32_t *number; /* [instance] number of the part of `to` that is this instance */
};

/* Whether the work has the instance; of a part that runs once, it has only the instance of the last micro-batch. */
static bool has_instance(const struct unroll_state *u, uint32_t i)
{
    return !u->w->part[i % u->w->npart].once || i / u->w->npart + 1 == u->to->micro_batches;
}

/* Returns words for an instance: "'part1.onnx' of micro-batch 2". */
static const char *instance_text(const struct unroll_state *u, uint32_t i, struct arena *a)
{
    return arena_fmt(a, "'%s' of micro-batch %u", u->w->part[i % u->w->npart].name,
                     i / u->w->npart);
}

/* Fills next[] from the lists, and counts in waits[] that an instance waits for the instance before it in its list.
 * Returns NULL, or an error as text: an instance is not listed exactly once, or the work does not have it. */
static const char *chain_lists(struct unroll_state *u)
{
    uint8_t *seen = arena_alloc(u->own, (size_t)u->n + 1);
    for (uint32_t i = 0; i < u->n; i++)
        u->next[i] = NONE;
    for (uint32_t d = 0; d < u->w->ndev; d++)
        for (uint32_t k = u->list->at[d]; k < u->list->at[d + 1]; k++) {
            uint32_t i = u->list->to[k];
            assert(i < u->n);
            if (seen[i]++)
                return arena_fmt(u->a, "%s is computed twice", instance_text(u, i, u->a));
            if (!has_instance(u, i))
                return arena_fmt(u->a, "%s is computed: it runs once, behind the last micro-batch",
                                 instance_text(u, i, u->a));
            if (k == u->list->at[d])
                continue;
            u->next[u->list->to[k - 1]] = i;
            u->waits[i]++;
        }
    for (uint32_t i = 0; i < u->n; i++)
        if (!seen[i] && has_instance(u, i))
            return arena_fmt(u->a, "%s is never computed", instance_text(u, i, u->a));
    return NULL;
}

/* Counts in waits[] that each instance waits for its inputs that are made by parts; nothing waits here for gradients
 * that are summed (work_unroll()). */
static void count_inputs(struct unroll_state *u)
{
    const struct sample_work *w = u->w;
    for (uint32_t x = 0; x < w->npart; x++) {
        uint32_t from_parts = 0;
        for_row (t, w->in, x)
            from_parts += w->tensor[t].from < w->npart && !w->tensor[t].summed;
        for (uint32_t m = 0; m < u->to->micro_batches; m++)
            u->waits[m * w->npart + x] += from_parts;
    }
}

/* Ends one wait of instance i: for an instance of level `level`.  After the last wait puts i into the heap `ready`. */
static void end_wait(struct unroll_state *u, struct heap *ready, uint32_t i, uint32_t level)
{
    assert(u->waits[i] > 0);
    u->level[i] = larger_u32(level + 1, u->level[i]);
    if (--u->waits[i] == 0)
        heap_push(ready, u->level[i], 0, i);
}

/* Fills in number[], to->instance[] and to->npart: a topological order of all instances, of ready ones the
 * smallest level first.  Returns NULL, or an error as text: instances wait for each other in a circle. */
static const char *number_all(struct unroll_state *u)
{
    const struct sample_work *w = u->w;
    struct heap ready = {.a = u->own};
    uint32_t n = 0;
    for (uint32_t i = 0; i < u->n; i++)
        if (!u->waits[i] && has_instance(u, i))
            heap_push(&ready, 0, 0, i);
    while (ready.n) {
        /* x: the part; batch: the instance of part 0 in the same micro-batch */
        uint32_t i = heap_pop(&ready).item, x = i % w->npart, batch = i - x;
        u->number[i] = n;
        u->to->instance[n++] = i;
        if (u->next[i] != NONE)
            end_wait(u, &ready, u->next[i], u->level[i]);
        for_row (t, w->out, x)
            for_row (y, w->reader, t)
                if (has_instance(u, batch + y) && !w->tensor[t].summed)
                    end_wait(u, &ready, batch + y, u->level[i]);
    }
    u->to->npart = n;
    for (uint32_t d = 0; d < w->ndev; d++)
        for_row (y, *u->list, d)
            if (u->waits[y])
                return arena_fmt(u->a, "deadlock: %s stands on %s before what it waits for",
                                 instance_text(u, y, u->a), w->dev_name[d]);
    return NULL;
}

/* ---- the work ----------------------------------------------------------------------------------- */

/* Makes the tensors of the new work.  A tensor of a part that runs once is made in the last micro-batch only; for
 * each other micro-batch it is there as an input that nothing reads. */
static void copy_tensors(struct unroll_state *u)
{
    const struct sample_work *w = u->w;
    struct sample_work *to = u->to;
    to->ntensor = to->micro_batches * w->ntensor;
    to->tensor = arena_array(u->a, (size_t)to->ntensor + 1, sizeof *to->tensor);
    for (uint32_t m = 0; m < to->micro_batches; m++)
        for (uint32_t t = 0; t < w->ntensor; t++) {
            struct work_tensor *x = &to->tensor[m * w->ntensor + t];
            *x = w->tensor[t];
            x->name = arena_fmt(u->a, "%s (micro-batch %u)", w->tensor[t].name, m);
            bool made = x->from < w->npart && has_instance(u, m * w->npart + x->from);
            x->returned = x->returned && made;
            x->from = made ? u->number[m * w->npart + x->from] : to->npart;
        }
}

/* Returns the rows part of the new work -> tensors, made from `of`, the rows w->in or w->out of the given work.
 * The gradients that a part which runs once reads as sums are left out. */
static struct csr copy_uses(const struct unroll_state *u, const struct csr *of)
{
    const struct sample_work *w = u->w;
    struct csr c = {
        .at = arena_array(u->a, (size_t)u->n + 1, sizeof *c.at),
        .to = arena_array(u->a, (size_t)of->at[w->npart] * u->to->micro_batches + 1, sizeof *c.to)};
    uint32_t n = 0;
    for (uint32_t k = 0; k < u->to->npart; k++) {
        uint32_t x = u->to->instance[k] % w->npart, m = u->to->instance[k] / w->npart;
        for_row (t, *of, x)
            if (!w->part[x].once || !w->tensor[t].summed)
                c.to[n++] = m * w->ntensor + t;
        c.at[k + 1] = n;
    }
    return c;
}

/* Makes the parts of the new work.  Lasting bytes count once: in micro-batch 0, or in the only instance of a part. */
static void copy_parts(struct unroll_state *u)
{
    const struct sample_work *w = u->w;
    struct sample_work *to = u->to;
    to->part = arena_array(u->a, (size_t)u->n + 1, sizeof *to->part);
    for (uint32_t k = 0; k < to->npart; k++) {
        uint32_t x = to->instance[k] % w->npart, m = to->instance[k] / w->npart;
        to->part[k] = w->part[x];
        to->part[k].name = arena_fmt(u->a, "%s (micro-batch %u)", w->part[x].name, m);
        to->part[k].lasting = m && !w->part[x].once ? 0 : w->part[x].lasting;
    }
}

struct sample_work *work_unroll(const struct sample_work *w, uint32_t micro_batches,
                                const struct csr *list, const char **why, struct arena *a)
{
    struct unroll_state u = {
        .w = w, .list = list, .a = a, .own = arena_new(a), .n = w->npart * micro_batches};
    struct sample_work *to = arena_alloc(a, sizeof *to);
    u.to = to;
    assert(micro_batches && (uint64_t)(w->npart + w->ntensor) * micro_batches < NONE);
    *to = (struct sample_work){.ndev = w->ndev,
                               .dev_name = w->dev_name,
                               .memory = w->memory,
                               .each = w,
                               .micro_batches = micro_batches};
    to->instance = arena_array(a, (size_t)u.n + 1, sizeof *to->instance);
    u.next = arena_array(u.own, (size_t)u.n + 1, sizeof *u.next);
    u.waits = arena_array(u.own, (size_t)u.n + 1, sizeof *u.waits);
    u.level = arena_array(u.own, (size_t)u.n + 1, sizeof *u.level);
    u.number = arena_array(u.own, (size_t)u.n + 1, sizeof *u.number);
    *why = chain_lists(&u);
    if (!*why) {
        count_inputs(&u);
        *why = number_all(&u);
    }
    if (!*why) {
        copy_tensors(&u);
        copy_parts(&u);
        to->in = copy_uses(&u, &w->in);
        to->out = copy_uses(&u, &w->out);
        work_finish(to, a);
    }
    arena_free(u.own);
    return *why ? NULL : to;
}
