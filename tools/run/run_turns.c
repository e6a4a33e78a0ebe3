/* Runs parts without lists (runner.h): each device takes the earliest part of the earliest sample that has all its
 * inputs, as run_split.py does; replicas of a part take samples in turn.  With --order=model a part also waits for the
 * part before it in the manifest, and one sample runs at a time.  O(log parts) for a part. */
#include "tools/run/ranks.h"
#include "tools/run/runner.h"

/* Counts that an input or an earlier part, for which a part of sample f waits, is there.  If the part waits for nothing
 * more, has its device run it, unless the device is another rank's. */
static void arrive(struct runner *r, struct flight *f, uint32_t part)
{
    if (--f->lacks[part] > 0)
        return;
    struct run_device *d = &r->dev[r->wires.place[part][f->sample % r->wires.nplace[part]]];
    if (!ranks_have(r, (uint32_t)(d - r->dev)))
        return;
    heap_push(&d->ready, f->sample, part, part);
    pthread_cond_signal(&d->work);
}

void turns_arrived(struct runner *r, struct flight *f, uint32_t value)
{
    for_row (part, r->wires.readers, value)
        arrive(r, f, part);
}

void turns_make(struct runner *r)
{
    for (uint32_t d = 0; d < r->ndev; d++) {
        struct heap *h = &r->dev[d].ready;
        h->a = r->a; /* the heap has room for all that can be ready, and never grows */
        h->cap = r->width * r->s.npart + 1;
        h->at = arena_array(r->a, h->cap, sizeof *h->at);
    }
}

void turns_loaded(struct runner *r, struct flight *f)
{
    /* Each part waits for its inputs, with --order=model for the part before it, and for 1 more, which the last loop of
     * this function counts: no part may become ready before all counts are set. */
    for (uint32_t k = 0; k < r->s.npart; k++)
        f->lacks[k] = r->s.part[k].nin + (r->set.by_model && k > 0) + 1;
    for (uint32_t v = 0; v < r->s.nvalue; v++)
        if (f->box[v])
            turns_arrived(r, f, v);
    for (uint32_t k = 0; k < r->s.npart; k++)
        arrive(r, f, k);
}

void turns_ran(struct runner *r, struct flight *f, uint32_t part)
{
    const struct split_part *p = &r->s.part[part];
    for (uint32_t i = 0; i < p->nout; i++)
        if (f->box[p->out[i]])
            turns_arrived(r, f, p->out[i]);
    for (uint32_t i = 0; i < p->nin; i++)
        if (!r->wires.is_input[p->in[i]])
            box_drop(r, f, p->in[i]);
    if (r->set.by_model && part + 1 < r->s.npart)
        arrive(r, f, part + 1);
}
