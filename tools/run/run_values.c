/* Tensors of samples on their way (runner.h).
 *
 * A tensor is made once and handed on by its address: what a part writes is what other devices read, and the host.  A
 * sample's table counts the holders of each box; when the last one lets go the box returns to the free boxes of its
 * value, with its buffer if all samples have the same sizes there: so buffers are made once for each sample on its
 * way.  O(1) each. */
#include "tools/run/runner.h"

#include "ir/model/module.h"

#include <assert.h>

enum { RANKS = 64 };

struct box *box_take(struct runner *r, uint32_t value)
{
    struct box *b = r->spare[value];
    if (b) {
        r->spare[value] = b->next;
        b->next = NULL;
    }
    return b;
}

void box_return(struct runner *r, struct box *b)
{
    if (b->of == RUN_NONE)
        return;
    if (!r->wires.shape[b->of].elem) {
        r->e->face->value_free(r->e, b->value);
        b->value = NULL;
    }
    b->next = r->spare[b->of];
    r->spare[b->of] = b;
}

void box_put(struct runner *r, struct flight *f, uint32_t value, struct box *b, uint32_t holders)
{
    assert(!f->box[value]);
    if (holders == 0) {
        if (b->entries == 0)
            box_return(r, b);
        return;
    }
    f->box[value] = b;
    f->holders[value] = holders;
    f->held++;
    b->entries++;
}

void box_drop(struct runner *r, struct flight *f, uint32_t value)
{
    struct box *b = f->box[value];
    assert(b && f->holders[value] > 0);
    if (--f->holders[value] > 0)
        return;
    f->box[value] = NULL;
    f->held--;
    if (--b->entries == 0)
        box_return(r, b);
}

int box_fill(struct runner *r, struct box *b, struct engine_error *err)
{
    const struct engine_shape *s = &r->wires.shape[b->of];
    if (b->value || !s->elem)
        return 0;
    b->value = r->e->face->value_new(r->e, s, err);
    return b->value ? 0 : -1;
}

int64_t value_bytes(struct engine *e, const struct engine_value *v)
{
    struct engine_shape s;
    int64_t size[RANKS];
    if (e->face->value_shape(e, v, &s, size))
        return -1;
    int64_t n = shape_elems(size, (uint32_t)s.rank);
    return n < 0 ? -1 : elem_bytes((enum elem)s.elem, n);
}
