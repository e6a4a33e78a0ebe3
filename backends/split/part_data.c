/* Writes the data files of --weights=parts: part0.data, ..., each with the weights that one part reads.
 *
 * A part and its data file can be copied alone to the host that runs the part; a weight that several parts read is in
 * the data file of each.  Which weights a part reads is known only when its message is made: while it is made, each
 * reference to a weight has no offset yet.  Then the weights get their places, in the order of the model's tensors and
 * with the same alignment as in weights.data, so that the data file of a split with one part equals weights.data.
 *
 * The whole model refers to each weight in the first data file that has it.  Weights that no part reads, such as those
 * of dropped nodes, are in weights.data, for the whole model alone. O(references log references) for each file + the
 * copying, which takes no memory (weights.c). */
#include "backends/split/folder.h"
#include "backends/split/split.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns the name of the data file beside the part with the name `part`: "part0.data" for "part0.onnx". */
static const char *data_name(const char *part, struct arena *a)
{
    const char *end = strrchr(part, '.');
    assert(end);
    return arena_fmt(a, "%.*s" PART_DATA_END, (int)(end - part), part);
}

void part_data_prepare(struct split *s)
{
    struct split_part_data *d = &s->weights.part_data;
    uint32_t n = s->parts->nparts;
    if (s->weights.mode != WEIGHTS_PARTS)
        return;
    d->file = arena_array(s->a, (size_t)n + 1, sizeof *d->file);
    d->home = arena_array(s->a, s->weights.nlist, sizeof *d->home);
    for (uint32_t x = 0; x < n; x++)
        d->file[x].name = data_name(s->file[x], s->a);
    d->file[n].name = WEIGHTS_FILE;
}

void part_data_begin(struct split *s, uint32_t x)
{
    assert(x <= s->parts->nparts);
    s->weights.part_data.making = x;
    s->weights.part_data.nopen = 0;
}

const char *part_data_refer(struct split *s, uint32_t t, Onnx__StringStringEntryProto *offset)
{
    struct split_part_data *d = &s->weights.part_data;
    assert(t < s->weights.nlist && d->file);
    if (d->making == s->parts->nparts && s->weights.at[t] != WEIGHT_OPEN) { /* the whole model */
        offset->value = arena_fmt(s->a, "%" PRIu64, s->weights.at[t]);
        return d->file[d->home[t]].name;
    }
    d->open = vec_grow(s->a, d->open, &d->capopen, d->nopen + 1, sizeof *d->open);
    d->open[d->nopen++] = (struct open_reference){t, 0, offset};
    return d->file[d->making].name;
}

/* For qsort(): compares references by the index of their tensor in split_weights.list. */
static int compare_references(const void *x, const void *y)
{
    uint32_t a = ((const struct open_reference *)x)->t, b = ((const struct open_reference *)y)->t;
    return (a > b) - (a < b);
}

/* Sorts the references to the data file that is being made by tensor, gives each tensor a place in the file, and writes
 * that place into its references.  Returns the bytes of the file. */
static uint64_t lay_out(struct split *s)
{
    struct split_part_data *d = &s->weights.part_data;
    uint64_t size = 0, at = 0;
    if (d->nopen)
        qsort(d->open, d->nopen, sizeof *d->open, compare_references);
    for (uint32_t i = 0; i < d->nopen; i++) {
        struct open_reference *r = &d->open[i];
        if (i == 0 || r->t != d->open[i - 1].t) {
            at = weights_align(size);
            size = at + weights_bytes(s, r->t);
        }
        r->at = at;
        r->offset->value = arena_fmt(s->a, "%" PRIu64, at);
        /* whether this is the first data file that has the tensor */
        if (s->weights.at[r->t] == WEIGHT_OPEN) {
            s->weights.at[r->t] = at;
            d->home[r->t] = d->making;
        }
    }
    return size;
}

int part_data_write(struct split *s)
{
    struct split_part_data *d = &s->weights.part_data;
    if (!d->nopen)
        return 0;
    struct data_file *f = &d->file[d->making];
    f->size = lay_out(s);
    int out = weights_create(s, f->name), rc = 0;
    if (out < 0)
        return -1;
    for (uint32_t i = 0; i < d->nopen && !rc; i++) {
        const struct open_reference *r = &d->open[i];
        /* the references to one tensor are neighbours, and the tensor is written once */
        if (i && r->t == d->open[i - 1].t)
            continue;
        diag_tell(s->diag, "writing weights", r->at, f->size);
        rc = weights_copy(s, r->t, r->at, out, f->name);
    }
    if (close(out) && !rc)
        rc = diag_error(s->diag, "%s: %s", f->name, strerror(errno));
    return rc;
}

uint64_t part_data_bytes(const struct split *s)
{
    uint64_t bytes = 0;
    for (uint32_t x = 0; x < s->parts->nparts; x++)
        for (uint32_t i = 0; i < s->parts->part[x].nweight; i++) {
            vid v = s->parts->part[x].weight[i];
            uint32_t t = weights_index(s, s->m->tensor[s->m->value[v].tensor].src);
            if (t && s->weights.at[t] == WEIGHT_OPEN)
                bytes = weights_align(bytes) + weights_bytes(s, t);
        }
    return bytes;
}
