/* Gives each device of a stage its slice of a micro-batch: work_slice() in work.h.
 *
 * Source: DAPPLE (arXiv 2007.01045), V-B2: between stages on unequal numbers of devices, values are cut on one side
 * and joined on the other.  Device i of n has the samples from i / n to (i + 1) / n of the micro-batch.  A tensor is
 * cut at all borders of its maker's and its readers' slices; its slices go straight from the device that makes them
 * to the devices that read them, so that no device gathers the whole in between.  O(parts and tensors of the
 * result). */
#include "ir/plan/work.h"

#include "ir/base/numbers.h"
#include "ir/base/units.h"

#include <assert.h>
#include <string.h>

/* State of work_slice(). */
struct slicing {
    const struct sample_work *w; /* the work of the micro-batch */
    struct sample_work *to;
    struct arena *a, *own; /* for the result; for scratch memory */
    /* count[0 .. ncount): for one tensor, the numbers of devices of its maker and of its readers, each number once */
    uint32_t *count, ncount;
    /* [number of devices] 1 + the last tensor for which the number was put into count[] */
    uint32_t *seen;
    uint32_t cap; /* tensors that to->tensor has memory for */
};

/* Returns the number of devices that run part x. */
static uint32_t devices_of(const struct sample_work *w, uint32_t x)
{
    const struct csr *of = &w->share.device;
    return of->at ? of->at[x + 1] - of->at[x] : 1;
}

int64_t work_slice_rows(const struct sample_work *w, uint32_t part)
{
    assert(part < w->npart);
    return larger(w->share.samples, 1) / devices_of(w, part);
}

int64_t work_row_bytes(const struct sample_work *w, uint32_t tensor, int64_t rows)
{
    const struct work_tensor *t = &w->tensor[tensor];
    return t->has_rows ? mul_div_ceil(t->bytes, rows, larger(w->share.profiled, 1)) : t->bytes;
}

/* ---- borders ------------------------------------------------------------------------------------ */

/* Puts n into s->count, unless it is there for tensor t already. */
static void add_count(struct slicing *s, uint32_t t, uint32_t n)
{
    if (s->seen[n] == t + 1)
        return;
    s->seen[n] = t + 1;
    s->count[s->ncount++] = n;
}

/* Sets s->count to the numbers of devices that make and read tensor t. */
static void count_devices(struct slicing *s, uint32_t t)
{
    const struct sample_work *w = s->w;
    s->ncount = 0;
    if (w->tensor[t].from < w->npart)
        add_count(s, t, devices_of(w, w->tensor[t].from));
    for_row (x, w->reader, t)
        add_count(s, t, devices_of(w, x));
}

/* Returns the sample at which a slice of the tensor that begins at sample `from` ends: the next border of a slice of
 * the devices that make and read the tensor (s->count). */
static int64_t next_border(const struct slicing *s, int64_t from)
{
    int64_t samples = s->to->share.samples, end = samples;
    for (uint32_t i = 0; i < s->ncount; i++) {
        int64_t each = samples / s->count[i];
        end = smaller(end, (from / each + 1) * each);
    }
    return end;
}

/* ---- the work ----------------------------------------------------------------------------------- */

/* Returns NULL; or, as text, why the work cannot be cut: a slice would not be whole samples, or there would be more
 * than `most` parts, tensors and inputs. */
static const char *refuse_cut(struct slicing *s, uint64_t most)
{
    const struct sample_work *w = s->w;
    int64_t samples = s->to->share.samples;
    uint64_t all = 0;
    for (uint32_t x = 0; x < w->npart; x++) {
        uint32_t n = devices_of(w, x);
        if (samples % n)
            return arena_fmt(
                s->a,
                "%u devices share micro-batches of %lld sample%s: no part runs a part of "
                "a sample",
                n, (long long)samples, samples == 1 ? "" : "s");
        all += n;
    }
    for (uint32_t t = 0; t < w->ntensor && all <= most; t++) {
        uint64_t slices = 1; /* an upper limit: the number of borders and 1 */
        count_devices(s, t);
        for (uint32_t i = 0; i < s->ncount; i++)
            slices += s->count[i];
        all += slices * (1 + w->reader.at[t + 1] - w->reader.at[t]);
    }
    return all > most ? "there are too many micro-batches, or devices that share them" : NULL;
}

/* Adds the parts to s->to, one for each device that runs them. */
static void add_parts(struct slicing *s)
{
    const struct sample_work *w = s->w;
    struct sample_work *to = s->to;
    to->first_copy = arena_array(s->a, (size_t)w->npart + 1, sizeof *to->first_copy);
    for (uint32_t x = 0; x < w->npart; x++)
        to->first_copy[x + 1] = to->first_copy[x] + devices_of(w, x);
    to->npart = to->first_copy[w->npart];
    to->part = arena_array(s->a, (size_t)to->npart + 1, sizeof *to->part);
    for (uint32_t x = 0; x < w->npart; x++)
        for (uint32_t i = 0, n = devices_of(w, x); i < n; i++) {
            struct work_part *p = &to->part[to->first_copy[x] + i];
            *p = w->part[x];
            if (n == 1)
                continue;
            p->dev = w->share.device.to[w->share.device.at[x] + i];
            p->name = arena_fmt(s->a, "%s on %s", p->name, w->dev_name[p->dev]);
        }
}

/* Adds a slice of tensor t with the samples first .. first + rows - 1; of a tensor without rows, the whole tensor.
 * copy: which of the devices of its maker makes the slice. */
static void add_tensor(struct slicing *s, uint32_t t, int64_t first, int64_t rows, uint32_t copy)
{
    const struct sample_work *w = s->w;
    struct sample_work *to = s->to;
    to->tensor = vec_grow(s->a, to->tensor, &s->cap, to->ntensor + 1, sizeof *to->tensor);
    struct work_tensor *x = &to->tensor[to->ntensor++];
    *x = w->tensor[t];
    x->from = x->from < w->npart ? to->first_copy[x->from] + copy : to->npart;
    x->returned = x->returned && (x->has_rows || copy == 0);
    x->bytes = work_row_bytes(w, t, rows);
    x->first_row = first;
    x->rows = rows;
    if (x->has_rows && rows < to->share.samples)
        x->name =
            arena_fmt(s->a, "%s[%lld:%lld]", x->name, (long long)first, (long long)(first + rows));
}

/* Adds the slices of all tensors: of a tensor with rows those between borders, of a tensor without rows one copy
 * for each device that makes it. */
static void add_tensors(struct slicing *s)
{
    const struct sample_work *w = s->w;
    int64_t samples = s->to->share.samples;
    s->to->first_slice = arena_array(s->a, (size_t)w->ntensor + 1, sizeof *s->to->first_slice);
    for (uint32_t t = 0; t < w->ntensor; t++) {
        uint32_t from = w->tensor[t].from, n = from < w->npart ? devices_of(w, from) : 1;
        count_devices(s, t);
        for (uint32_t i = 0; i < n && !w->tensor[t].has_rows; i++)
            add_tensor(s, t, 0, samples, i);
        for (int64_t at = 0, end; at < samples && w->tensor[t].has_rows; at = end) {
            end = next_border(s, at);
            add_tensor(s, t, at, end - at, (uint32_t)(at / (samples / n)));
        }
        s->to->first_slice[t + 1] = s->to->ntensor;
    }
}

uint32_t work_slice_from(const struct sample_work *w, uint32_t tensor, int64_t sample)
{
    uint32_t low = w->first_slice[tensor], high = w->first_slice[tensor + 1];
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (w->tensor[mid].first_row < sample)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Adds to `use` the slices of tensor t that `copy`, a part on the i-th of its n devices, reads or makes. Of a tensor
 * with rows: the slices with that device's samples. Of a tensor without rows: the copy that the device makes itself or,
 * if it makes none, the copy of the maker's device that has the first of its samples. */
static void add_uses(const struct slicing *s, struct pairs *use, uint32_t copy, uint32_t t,
                     uint32_t i, uint32_t n)
{
    const struct sample_work *w = s->w;
    int64_t each = s->to->share.samples / n;
    uint32_t from = w->tensor[t].from, makers = from < w->npart ? devices_of(w, from) : 1;
    uint32_t x = s->to->first_slice[t] + (uint32_t)((uint64_t)i * makers / n), end = x + 1;
    if (w->tensor[t].has_rows) {
        x = work_slice_from(s->to, t, i * each);
        end = work_slice_from(s->to, t, (i + 1) * each);
    }
    for (; x < end; x++)
        pairs_add(use, copy, x);
}

/* Returns the rows part of the result -> tensors of the result, made from `of`, the rows w->in or w->out of the
 * micro-batch's work. */
static struct csr slice_uses(const struct slicing *s, const struct csr *of)
{
    const struct sample_work *w = s->w;
    struct pairs use = {.a = s->own};
    for (uint32_t p = 0; p < w->npart; p++)
        for (uint32_t i = 0, n = devices_of(w, p); i < n; i++)
            for_row (t, *of, p)
                add_uses(s, &use, s->to->first_copy[p] + i, t, i, n);
    return csr_build(s->a, s->to->npart, use.n, use.from, use.to);
}

struct sample_work *work_slice(const struct sample_work *w, uint64_t most, const char **why,
                               struct arena *a)
{
    struct sample_work *to = arena_alloc(a, sizeof *to);
    struct slicing s = {.w = w, .to = to, .a = a, .own = arena_new(a)};
    assert(!w->whole && !w->each && most < UINT32_MAX);
    *to = (struct sample_work){
        .ndev = w->ndev, .dev_name = w->dev_name, .memory = w->memory, .whole = w};
    to->share.samples = larger(w->share.samples, 1);
    s.count = arena_array(s.own, (size_t)w->ndev + 2, sizeof *s.count);
    s.seen = arena_array(s.own, (size_t)w->ndev + 2, sizeof *s.seen);
    *why = refuse_cut(&s, most);
    if (!*why) {
        /* refuse_cut() has counted the devices of all tensors, and add_tensors() counts them again */
        memset(s.seen, 0, ((size_t)w->ndev + 2) * sizeof *s.seen);
        add_parts(&s);
        add_tensors(&s);
        to->in = slice_uses(&s, &w->in);
        to->out = slice_uses(&s, &w->out);
        work_finish(to, a);
    }
    arena_free(s.own);
    return *why ? NULL : to;
}
