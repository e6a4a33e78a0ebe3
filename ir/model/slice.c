/* Tensors that are slices of another tensor, their base (slice.h): finding their bytes in the base, and reading them.
 *
 * A row has the elements that agree in all dimensions before the axis; row i of the slice consists of the slice's
 * ranges of row i of the base.  Runs of bytes come in the order of the slice; adjacent runs are joined.  Short runs
 * that are close together are read as one block.  O(bytes between the first and the last byte wanted). */
#include "ir/model/slice.h"

#include <assert.h>
#include <string.h>

enum { BLOCK = 1 << 16 }; /* bytes that are read at once for short runs */

/* Returns the number of bits of a tensor with t's element type whose shape is entries [from, to) of t's shape.  That
 * does not overflow: verify_ranges() has checked the shape. */
static uint64_t bits_of(const struct module *m, const struct tensor *t, uint32_t from, uint32_t to)
{
    uint64_t n = elem_bits((enum elem)t->elem);
    for (uint32_t i = from; i < to; i++)
        n *= (uint64_t)m->ints[t->dim + i];
    return n;
}

struct slice_walk slice_walk(const struct module *m, tid t)
{
    const struct tensor *x = &m->tensor[t], *base = &m->tensor[x->of[0]];
    assert(x->where == TENSOR_SLICE && x->axis < x->rank && x->rank == base->rank);
    struct slice_walk w = {.m = m, .t = t};
    w.inner = bits_of(m, x, x->axis + 1, x->rank);
    w.row = w.inner * (uint64_t)m->ints[x->dim + x->axis] / 8;
    w.base_row = w.inner * (uint64_t)m->ints[base->dim + x->axis] / 8;
    return w;
}

void slice_seek(struct slice_walk *w, uint64_t at)
{
    const struct tensor *x = &w->m->tensor[w->t];
    w->left = x->len - at;
    w->outer = w->row > 0 ? at / w->row : 0;
    w->skip = w->row > 0 ? at % w->row : 0;
    w->i = 0;
    w->held = (struct run){0, 0};
}

/* Returns the next range of the slice as a run of bytes of the base, without the bytes that are still to be skipped
 * (ranges that have no other bytes are passed over), and moves the walk behind it. */
static struct run next_range(struct slice_walk *w)
{
    const struct tensor *x = &w->m->tensor[w->t];
    const int64_t *range = w->m->ints + x->range.at;
    for (;; w->i += 2) {
        if (w->i == x->range.n) {
            w->i = 0;
            w->outer++;
        }
        uint64_t from = (uint64_t)range[w->i] * w->inner / 8;
        uint64_t to = (uint64_t)range[w->i + 1] * w->inner / 8;
        if (w->skip >= to - from) {
            w->skip -= to - from;
            continue;
        }
        struct run r = {w->outer * w->base_row + from + w->skip, to - from - w->skip};
        w->skip = 0;
        w->i += 2;
        return r;
    }
}

bool slice_next(struct slice_walk *w, struct run *out)
{
    if (w->left == 0)
        return false;
    *out = w->held.len > 0 ? w->held : next_range(w);
    w->held = (struct run){0, 0};
    while (out->len < w->left) {
        struct run r = next_range(w);
        if (r.at != out->at + out->len) {
            w->held = r;
            break;
        }
        out->len += r.len;
    }
    if (out->len > w->left)
        out->len = w->left;
    w->left -= out->len;
    return true;
}

int slice_read(const struct module *m, tid t, uint64_t off, void *buf, size_t n)
{
    struct slice_walk w = slice_walk(m, t);
    const tid of = m->tensor[t].of[0];
    unsigned char block[BLOCK], *to = buf;
    uint64_t from = 0, have = 0; /* block has bytes [from, from + have) of the base */
    struct run r;

    slice_seek(&w, off);
    w.left = n;
    while (slice_next(&w, &r)) {
        if (r.len >= BLOCK / 2) {
            if (tensor_read(m, of, r.at, to, r.len) != 0)
                return -1;
        } else {
            if (r.at < from || r.at + r.len > from + have) {
                uint64_t rest = m->tensor[of].len - r.at;
                from = r.at;
                /* for the last run reads only its own bytes, else a whole block, in which later runs may lie, too */
                have = w.left == 0 ? r.len : rest < BLOCK ? rest : BLOCK;
                if (tensor_read(m, of, from, block, have) != 0)
                    return -1;
            }
            memcpy(to, block + (r.at - from), r.len);
        }
        to += r.len;
    }
    return 0;
}
