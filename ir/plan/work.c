/* Makes the work of a split from its parts (work.h).
 *
 * Memory of a running part: its nodes run by number.  The inputs of the part are in memory until it ends.  A result of
 * a node is in memory from that node until its last reader in the part, or until the end of the part if the result is
 * an output of the part. */
#include "ir/plan/work.h"

#include "ir/base/units.h"

#include <assert.h>
#include <stdlib.h>

/* State of work_of_parts(). */
struct work_build {
    const struct scene *s;
    const struct parts *parts;
    struct sample_work *w;
    struct arena *a;
    uint32_t *tensor_of; /* [value] 1 + number of the value's tensor; 0: none */
    uint8_t *state;      /* [value] 1: state, which a device keeps from sample to sample */
    const struct slice_sizes *slices; /* NULL: parts run for all samples that costs are about */
};

/* Whether the rows of value v are samples. */
static bool has_rows(const struct work_build *b, vid v)
{
    return b->slices && b->slices->axis[v] >= 0;
}

/* Returns the bytes of value v in part x: those of the part's slice. */
static int64_t bytes_in(const struct work_build *b, vid v, uint32_t x)
{
    int64_t bytes = b->s->m->cost->bytes[v];
    return has_rows(b, v) ? training_share(&b->s->model.training, bytes, b->slices->n[x]) : bytes;
}

/* ---- tensors ---------------------------------------------------------------------------------- */

/* Adds a tensor for value v.  from: the part that makes it, or npart. */
static void add_tensor(struct work_build *b, vid v, uint32_t from)
{
    const struct module *m = b->s->m;
    b->w->tensor[b->w->ntensor++] = (struct work_tensor){.name = value_name(m, v),
                                                         .value = v,
                                                         .bytes = m->cost->bytes[v],
                                                         .from = from,
                                                         .has_rows = has_rows(b, v)};
    b->tensor_of[v] = b->w->ntensor;
}

/* Adds all tensors: the model's inputs, then the outputs of the parts, in order; marks those that are outputs of the
 * model and no state as `returned`.  Inputs that are state are no tensors. */
static void add_tensors(struct work_build *b)
{
    const struct module *m = b->s->m;
    const struct graph *g = &m->graph[1];
    struct sample_work *w = b->w;
    for (uint32_t i = 0; i < b->s->place->nstate; i++) {
        b->state[b->s->place->state_in[i]] = 1;
        b->state[b->s->place->state_out[i]] = 1;
    }
    uint32_t most = g->in.n;
    for (uint32_t x = 0; x < w->npart; x++)
        most += b->parts->part[x].nout;
    w->tensor = arena_array(b->a, (size_t)most + 1, sizeof *w->tensor);
    for (uint32_t i = 0; i < g->in.n; i++) {
        vid v = m->arg[g->in.at + i];
        if (!(m->value[v].flags & VALUE_INIT) && !b->state[v])
            add_tensor(b, v, w->npart);
    }
    for (uint32_t x = 0; x < w->npart; x++)
        for (uint32_t i = 0; i < b->parts->part[x].nout; i++)
            add_tensor(b, b->parts->part[x].out[i], x);
    for (uint32_t i = 0; i < g->out.n; i++) {
        vid v = m->arg[g->out.at + i];
        if (b->parts->out_from[i] >= 0 && !b->state[v])
            w->tensor[b->tensor_of[v] - 1].returned = true;
    }
}

/* Fills in w->in and w->out: the tensors that each part reads, and makes.  Inputs of a part that are state are left
 * out. */
static void add_uses(struct work_build *b)
{
    struct sample_work *w = b->w;
    uint32_t in = 0, out = 0;
    w->in.at = arena_array(b->a, (size_t)w->npart + 1, sizeof *w->in.at);
    w->out.at = arena_array(b->a, (size_t)w->npart + 1, sizeof *w->out.at);
    for (uint32_t x = 0; x < w->npart; x++) {
        in += b->parts->part[x].nin;
        out += b->parts->part[x].nout;
    }
    w->in.to = arena_array(b->a, (size_t)in + 1, sizeof *w->in.to);
    w->out.to = arena_array(b->a, (size_t)out + 1, sizeof *w->out.to);
    in = out = 0;
    for (uint32_t x = 0; x < w->npart; x++) {
        const struct part *p = &b->parts->part[x];
        for (uint32_t i = 0; i < p->nin; i++)
            if (b->tensor_of[p->in[i]])
                w->in.to[in++] = b->tensor_of[p->in[i]] - 1;
        for (uint32_t i = 0; i < p->nout; i++)
            w->out.to[out++] = b->tensor_of[p->out[i]] - 1;
        w->in.at[x + 1] = in;
        w->out.at[x + 1] = out;
    }
}

/* ---- memory ----------------------------------------------------------------------------------- */

/* Adds the bytes of each weight to `lasting` of the first part on each device that reads the weight. */
static void add_lasting(struct work_build *b)
{
    const struct place *p = b->s->place;
    /* [device] seen: 1 + the last weight that a part of the device reads, 0: none; first: the first part there that
     * reads this weight */
    uint32_t *seen = arena_array(b->a, (size_t)b->w->ndev + 1, sizeof *seen);
    uint32_t *first = arena_array(b->a, (size_t)b->w->ndev + 1, sizeof *first);
    for (uint32_t i = 0; i < p->nweight; i++) {
        const nid *user = p->weight_user.to;
        uint32_t from = p->weight_user.at[i], to = p->weight_user.at[i + 1];
        for (uint32_t k = from; k < to; k++) {
            uint32_t x = (uint32_t)b->parts->part_of[user[k]], d = b->w->part[x].dev;
            if (seen[d] != i + 1 || x < first[d])
                first[d] = x;
            seen[d] = i + 1;
        }
        for (uint32_t k = from; k < to; k++) {
            uint32_t d = b->w->part[b->parts->part_of[user[k]]].dev;
            if (seen[d] != i + 1)
                continue;
            struct work_part *x = &b->w->part[first[d]];
            x->lasting = sat_add(x->lasting, p->weight_bytes[i]);
            seen[d] = 0; /* the weight is counted on this device */
        }
    }
}

/* How many bytes become alive, and how many cease to be alive, in each step of each part: in a step one node runs. */
struct changes {
    size_t *at; /* [part] index in more[] and less[] of its step 0; step i is at[x] + i */
    /* more: bytes that become alive at the beginning of the step; less: bytes that end with the step */
    int64_t *more, *less;
    uint32_t *step;  /* [node] position of the node in its part */
    int64_t *values; /* [node] bytes of the node's results that count_values() has counted */
};

/* Counts `bytes` bytes as alive from step `from` of part x to the end of step `to`. */
static void count_alive(struct changes *c, uint32_t x, uint32_t from, uint32_t to, int64_t bytes)
{
    size_t at = c->at[x];
    assert(from <= to && at + to < c->at[x + 1]);
    c->more[at + from] = sat_add(c->more[at + from], bytes);
    c->less[at + to] = sat_add(c->less[at + to], bytes);
}

/* Counts the bytes of all results of nodes in c: a result is alive from its node until its last reader in the part
 * or, if it is an output of the part, until the end of the part. */
static void count_values(struct work_build *b, struct changes *c)
{
    const struct module *m = b->s->m;
    const struct place *p = b->s->place;
    for (uint32_t e = 0; e < p->nnet; e++) {
        vid v = p->net_value[e];
        nid def = m->value[v].def;
        if (!def || p->kind[def] != PLACE_NODE || b->tensor_of[v])
            continue; /* outputs of parts (tensor_of) are counted below */
        uint32_t x = (uint32_t)b->parts->part_of[def], last = c->step[def];
        for_row (pin, p->net_pin, e)
            if (b->parts->part_of[pin] == (int32_t)x && c->step[pin] > last)
                last = c->step[pin];
        int64_t bytes = bytes_in(b, v, x);
        count_alive(c, x, c->step[def], last, bytes);
        c->values[def] = sat_add(c->values[def], bytes);
    }
    for (uint32_t x = 0; x < b->w->npart; x++) {
        const struct part *t = &b->parts->part[x];
        uint32_t end = t->nnode ? t->nnode - 1 : 0;
        for (uint32_t i = 0; i < t->nout; i++) {
            nid def = m->value[t->out[i]].def;
            /* a value that no placed node makes is there from the beginning of the part */
            bool placed = def && p->kind[def] == PLACE_NODE;
            int64_t bytes = bytes_in(b, t->out[i], x);
            count_alive(c, x, placed ? c->step[def] : 0, end, bytes);
            if (placed)
                c->values[def] = sat_add(c->values[def], bytes);
        }
    }
}

/* Returns the bytes that a node of part x needs while it runs, including its results: the share of the part's slice
 * if a result has rows, else all (costs.own). */
static int64_t own_bytes(const struct work_build *b, nid n, uint32_t x)
{
    const struct module *m = b->s->m;
    struct slice out = m->node[n].out;
    bool rows = false;
    for (uint32_t i = 0; i < out.n; i++)
        rows = rows || has_rows(b, m->arg[out.at + i]);
    return rows ? training_share(&b->s->model.training, m->cost->own[n], b->slices->n[x])
                : m->cost->own[n];
}

/* Sets `running` of all parts: the largest number of bytes alive in a step.  A node that needs more bytes (cost->own)
 * than its results have takes the difference in its own step. */
static void find_running(struct work_build *b)
{
    uint32_t n = b->w->npart, nnode = b->s->m->nnode;
    struct changes c = {.at = arena_array(b->a, (size_t)n + 1, sizeof *c.at),
                        .step = arena_array(b->a, nnode, sizeof *c.step),
                        .values = arena_array(b->a, nnode, sizeof *c.values)};
    for (uint32_t x = 0; x < n; x++) {
        const struct part *t = &b->parts->part[x];
        c.at[x + 1] = c.at[x] + t->nnode + 1; /* + 1: a part without nodes has a step, too */
        for (uint32_t i = 0; i < t->nnode; i++)
            c.step[t->node[i]] = i;
    }
    c.more = arena_array(b->a, c.at[n] + 1, sizeof *c.more);
    c.less = arena_array(b->a, c.at[n] + 1, sizeof *c.less);
    count_values(b, &c);
    for (uint32_t x = 0; x < n; x++) {
        const struct part *t = &b->parts->part[x];
        int64_t now = 0, *top = &b->w->part[x].running;
        for (uint32_t i = 0; i <= t->nnode; i++) {
            nid node = i < t->nnode ? t->node[i] : 0;
            int64_t extra = node ? own_bytes(b, node, x) - c.values[node] : 0;
            now = sat_add(now, c.more[c.at[x] + i]);
            int64_t here = extra > 0 ? sat_add(now, extra) : now;
            *top = larger(here, *top);
            now = now > c.less[c.at[x] + i] ? now - c.less[c.at[x] + i] : 0;
        }
    }
}

/* ---- the whole work --------------------------------------------------------------------------- */

struct sample_work *work_of_parts(const struct scene *s, const struct parts *parts,
                                  const struct slice_sizes *slices, struct arena *a)
{
    const struct cluster *c = s->cluster;
    struct sample_work *w = arena_alloc(a, sizeof *w);
    struct work_build b = {.s = s,
                           .parts = parts,
                           .w = w,
                           .a = a,
                           .slices = slices,
                           .tensor_of = arena_array(a, s->m->nval, sizeof *b.tensor_of),
                           .state = arena_alloc(a, s->m->nval)};
    w->ndev = c->ndev;
    w->npart = parts->nparts;
    w->dev_name = arena_array(a, (size_t)w->ndev + 1, sizeof *w->dev_name);
    w->memory = arena_array(a, (size_t)w->ndev + 1, sizeof *w->memory);
    w->part = arena_array(a, (size_t)w->npart + 1, sizeof *w->part);
    for (uint32_t d = 0; d < w->ndev; d++) {
        w->dev_name[d] = cluster_device_name(c, a, d);
        w->memory[d] = c->cls[cluster_class(c, d)].memory;
    }
    w->dev_name[w->ndev] = "host";
    for (uint32_t x = 0; x < w->npart; x++)
        w->part[x] = (struct work_part){.name = part_file(parts, x, a), .dev = parts->part[x].dev};
    add_tensors(&b);
    add_uses(&b);
    add_lasting(&b);
    find_running(&b);
    work_finish(w, a);
    return w;
}

void work_finish(struct sample_work *w, struct arena *a)
{
    w->reader = csr_transpose(a, &w->in, w->npart, w->ntensor);
    size_t most = (size_t)w->reader.at[w->ntensor] + 2 * (size_t)w->ntensor;
    w->place.at = arena_array(a, (size_t)w->ntensor + 1, sizeof *w->place.at);
    w->place.to = arena_array(a, most + 1, sizeof *w->place.to);
    uint32_t n = 0;
    for (uint32_t t = 0; t < w->ntensor; t++) {
        const struct work_tensor *x = &w->tensor[t];
        uint32_t home = x->from < w->npart ? w->part[x->from].dev : w->ndev, first = n;
        w->place.to[n++] = home;
        for_row (y, w->reader, t)
            if (w->part[y].dev != home)
                w->place.to[n++] = w->part[y].dev;
        if (x->returned && home != w->ndev)
            w->place.to[n++] = w->ndev;
        /* sorts the devices behind `home` and lists each of them once */
        qsort(w->place.to + first + 1, n - first - 1, sizeof *w->place.to, by_u32);
        uint32_t kept = first + 1;
        for (uint32_t i = first + 1; i < n; i++)
            if (w->place.to[i] != w->place.to[kept - 1])
                w->place.to[kept++] = w->place.to[i];
        n = kept;
        w->place.at[t + 1] = n;
    }
}

void work_mark_sums(struct sample_work *w)
{
    for (uint32_t x = 0; x < w->npart; x++) {
        if (!w->part[x].once)
            continue;
        for_row (t, w->in, x) {
            struct work_tensor *of = &w->tensor[t];
            if (of->from >= w->npart || w->part[of->from].once)
                continue;
            if (!of->summed)
                w->part[x].lasting = sat_add(w->part[x].lasting, of->bytes);
            of->summed = true;
            of->returned = false;
        }
    }
}

bool work_is_reduced(const struct sample_work *w, uint32_t x)
{
    if (!w->each || !w->part[x].once)
        return false;
    uint32_t copy = w->instance[x] % w->each->npart, n = w->each->whole->npart;
    /* of: the part that x is a copy of, whose copies are first_copy[of] .. first_copy[of + 1] - 1 */
    uint32_t of = count_below(w->each->first_copy + 1, n, copy + 1);
    return w->each->first_copy[of + 1] - w->each->first_copy[of] > 1;
}

int64_t work_bytes_in(const struct sample_work *w, uint32_t part)
{
    int64_t sum = 0;
    assert(part < w->npart);
    for_row (t, w->in, part)
        sum = sat_add(sum, work_row_bytes(w, t, work_slice_rows(w, part)));
    return sum;
}

uint32_t work_place(const struct sample_work *w, uint32_t tensor, uint32_t dev)
{
    assert(tensor < w->ntensor);
    uint32_t home = w->place.at[tensor], end = w->place.at[tensor + 1];
    if (w->place.to[home] == dev)
        return home;
    uint32_t at = home + 1 + count_below(w->place.to + home + 1, end - home - 1, dev);
    return at < end && w->place.to[at] == dev ? at : UINT32_MAX;
}
