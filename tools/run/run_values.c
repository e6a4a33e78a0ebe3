/* Tensors of samples on their way (runner.h).
 *
 * A tensor is made once and handed on by its address: other devices and the host read the tensor that a part writes.  A
 * sample's table counts the holders of each box.  When the last holder drops it, the box returns to the free boxes of
 * its value; it keeps its buffer if the value has the same size in all samples, so that buffers are made once for each
 * sample that runs at the same time.  O(1) for each function. */
#include "tools/run/ranks.h"
#include "tools/run/runner.h"

#include "ir/model/module.h"

#include <assert.h>
#include <string.h>

/* ---- samples ---------------------------------------------------------------------------------- */

void flight_begin(struct runner *r, struct box *const *first)
{
    int64_t k = r->loaded;
    struct flight *f = flight_of(r, k);
    assert(f->sample < 0 && f->held == 0);
    f->sample = k;
    f->to_run = r->s.npart;
    f->to_come = 0;
    f->given = false;
    f->began = f->ended = 0;
    memset(f->ran, 0, r->s.npart * sizeof *f->ran);
    memset(f->handed, 0, r->wires.nstate * sizeof *f->handed);
    /* counts the parts and the outputs that end the sample */
    for (uint32_t t = 0; r->w && t < r->w->ntensor && ranks_host(r); t++)
        f->to_come += r->w->tensor[t].returned;
    if (r->ranks)
        f->to_run = ranks_to_run(r, k, &f->to_come);
    for (uint32_t i = 0; i < r->s.ninput; i++)
        if (first[i])
            box_put(r, f, r->s.input[i], first[i], 1);
    r->loaded++;
    r->moves++;
    /* only now may messages, lists or turns use the inputs */
    if (r->ranks)
        ranks_begin(r, f);
    if (r->lists)
        lists_loaded(r);
    else
        turns_loaded(r, f);
    if (r->wires.nstate)
        states_hand_on(r, k);
}

void flight_give(struct runner *r, struct flight *f)
{
    for (uint32_t v = 0; v < r->s.nvalue; v++)
        if (r->wires.is_output[v] || (r->wires.is_input[v] && f->box[v]))
            box_drop(r, f, v);
    f->given = true;
    r->given++;
    r->moves++;
}

struct flight *flight_next_out(struct runner *r)
{
    struct flight *f = flight_of(r, r->given);
    for (uint32_t i = 0; i < r->width; i++)
        if (r->flight[i].given && r->flight[i].held == 0)
            r->flight[i].sample = -1;
    return f->sample == r->given && r->given < r->n && f->ended ? f : NULL;
}

/* ---- boxes ------------------------------------------------------------------------------------ */

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
    int64_t size[ENGINE_AXES];
    if (e->face->value_shape(e, v, &s, size))
        return -1;
    int64_t n = shape_elems(size, (uint32_t)s.rank);
    return n < 0 ? -1 : elem_bytes((enum elem)s.elem, n);
}
