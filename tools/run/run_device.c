/* A device's thread (runner.h): opens a session for each of its parts, then runs what the lists, or the turns, give it.
 *
 * A thread takes no memory from arenas, which only the main thread may use.  The first failure makes the run shorter:
 * parts that run for later samples are ended, and earlier samples are completed. */
#include "tools/run/ranks.h"
#include "tools/run/runner.h"

#include "ir/base/numbers.h"

#include <inttypes.h>
#include <string.h>

/* ---- failures --------------------------------------------------------------------------------- */

/* Whether the session of a part on device d, where the part runs for a sample that was given up, may be ended.  As an
 * ended session cannot run again, it may if all samples that the run completes have come in, and the part has run for
 * each of them that it runs on d. */
static bool had_by_all(const struct runner *r, const struct run_device *d, uint32_t part)
{
    for (uint32_t i = 0; i < r->width; i++) {
        const struct flight *f = &r->flight[i];
        bool here = f->sample >= 0 && f->sample < r->n && !f->ran[part];
        if (here && &r->dev[r->wires.place[part][f->sample % r->wires.nplace[part]]] == d)
            return false;
    }
    return r->loaded >= r->n;
}

void run_fail(struct runner *r, int64_t sample, const char *line)
{
    if (sample >= r->n && r->failed)
        return; /* the sample was given up before, and its parts have been ended */
    if (!r->failed)
        snprintf(r->error, sizeof r->error, "%s", line);
    r->failed = true;
    r->n = smaller(r->n, sample);
    if (r->ranks)
        ranks_fail(r, sample, line);
    for (uint32_t i = 0; i < r->ndev; i++) {
        struct run_device *d = &r->dev[i];
        if (d->part != RUN_NONE && d->sample >= r->n && had_by_all(r, d, d->part))
            r->e->face->terminate(d->loaded[d->part]);
        pthread_cond_signal(&d->work);
    }
    if (r->lists)
        lists_move(r);
    pthread_cond_signal(&r->host);
}

/* ---- states ----------------------------------------------------------------------------------- */

void states_hand_on(struct runner *r, int64_t k)
{
    struct flight *to = flight_of(r, k), *from = flight_of(r, k > 0 ? k - 1 : 0);
    if (k == 0 || to->sample != k || from->sample != k - 1)
        return;
    for (uint32_t i = 0; i < r->wires.nstate; i++) {
        uint32_t in = r->wires.state_in[i], out = r->wires.state_out[i];
        if (from->handed[i] || !from->box[out] || (r->ranks && !ranks_state_known(r, k, i)))
            continue;
        from->handed[i] = true;
        if (!to->box[in]) {
            box_put(r, to, in, from->box[out], 1);
            if (r->lists)
                lists_loaded(r);
            else
                turns_arrived(r, to, in);
        }
        box_drop(r, from, out);
    }
}

/* ---- running ---------------------------------------------------------------------------------- */

/* Returns the number of holders of a value when its part has made it. */
static uint32_t holders_of(const struct runner *r, uint32_t v)
{
    uint32_t readers = r->wires.readers.at[v + 1] - r->wires.readers.at[v];
    uint32_t state = r->wires.state_of[v] != RUN_NONE;
    /* holders with lists: the device until its FREE; the host, if the value is an output that no SEND of the lists
     * brings there; the next sample, if the value is a state.  Without lists each reader is a holder instead of the
     * device */
    if (r->lists)
        return 1 + r->wires.direct[v] + state;
    return readers + r->wires.is_output[v] + state;
}

/* Returns the bytes that a device counts for value v of a sample: the bytes of `made`, if the size is not known in
 * advance or this is the first sample; else the bytes by the plan. */
static int64_t bytes_made(const struct runner *r, uint32_t v, const struct engine_value *made,
                          bool first)
{
    bool ask = made && r->wires.plain[v] && (first || !r->wires.shape[v].elem);
    int64_t real = ask ? value_bytes(r->e, made) : -1;
    return real >= 0 ? real : r->w->tensor[r->wires.tensor[v]].bytes;
}

/* Puts the outputs that d->part has made, d->made, into the sample's table, and counts their bytes for the device. */
static void put_outputs(struct runner *r, struct run_device *d, struct flight *f)
{
    const struct split_part *p = &r->s.part[d->part];
    int64_t now = run_now(r);
    for (uint32_t i = 0; i < p->nout; i++) {
        uint32_t v = p->out[i];
        f->made[v] = now;
        f->bytes[v] = r->w ? bytes_made(r, v, d->made[i]->value, f->sample == 0) : 0;
        d->bytes += f->bytes[v];
        if (r->ranks)
            ranks_made(r, f, v, d->made[i]);
        else
            box_put(r, f, v, d->made[i], holders_of(r, v));
    }
    d->most = larger(d->most, d->bytes);
}

bool device_begin(struct runner *r, struct run_device *d)
{
    const struct split_part *p = &r->s.part[d->part];
    struct flight *f = flight_of(r, d->sample);
    d->since = d->told = run_now(r);
    f->began = f->began ? f->began : d->since;
    if (r->w)
        d->most = larger(d->most, d->bytes + r->w->part[d->part].running);
    for (uint32_t i = 0; i < p->nin; i++)
        d->in[i] = f->box[p->in[i]]->value;
    for (uint32_t i = 0; i < p->nout; i++) {
        d->made[i] = box_take(r, p->out[i]);
        if (d->made[i])
            continue;
        for (; i > 0; i--) /* gives back the boxes of the outputs before output i */
            box_return(r, d->made[i - 1]);
        return false;
    }
    return true;
}

/* Checks that type and sizes of value v, which the engine has made, are those of the manifest.  (Where all samples
 * have the planned sizes, the engine writes into a tensor of these sizes, and needs no check.)  Returns 0, or -1 with
 * the reason in *err. */
static int check_made(struct runner *r, uint32_t v, const struct engine_value *made,
                      struct engine_error *err)
{
    const struct engine_shape *said = &r->wires.said[v];
    struct engine_shape real;
    int64_t size[ENGINE_AXES];
    if (!said->elem || r->wires.shape[v].elem || !*r->e->library || /* the stub's have no shapes */
        r->e->face->value_shape(r->e, made, &real, size))
        return 0;
    bool good = real.elem == said->elem && real.rank == said->rank;
    for (size_t k = 0; k < said->rank && good; k++)
        good = said->size[k] < 0 || said->size[k] == size[k];
    if (good)
        return 0;
    snprintf(err->line, sizeof err->line,
             "'%.200s' has another type or shape than \"values\" of manifest.json says",
             r->s.value[v].name);
    return -1;
}

/* Runs d->part on the inputs in d->in, and puts its outputs into the boxes d->made; called without the lock.  Returns
 * 0, or -1 with the reason in *err. */
static int call_part(struct runner *r, struct run_device *d, struct engine_error *err)
{
    const struct split_part *p = &r->s.part[d->part];
    for (uint32_t i = 0; i < p->nout; i++) {
        if (box_fill(r, d->made[i], err))
            return -1;
        d->out[i] = d->made[i]->value;
    }
    const struct engine_call call = {.in_name = p->in_name,
                                     .in = d->in,
                                     .nin = p->nin,
                                     .out_name = p->out_name,
                                     .out = d->out,
                                     .out_bytes = p->out_bytes,
                                     .nout = p->nout};
    int rc = r->e->face->run(d->loaded[d->part], &call, err);
    for (uint32_t i = 0; i < p->nout; i++)
        d->made[i]->value = d->out[i]; /* after a failure, too: some outputs may be made */
    for (uint32_t i = 0; i < p->nout && !rc; i++)
        rc = check_made(r, p->out[i], d->out[i], err);
    return rc;
}

/* Notes that a part has run: its time in the figures, and its sample's count of parts. */
static void note_run(struct runner *r, struct run_device *d, struct flight *f)
{
    int64_t now = run_now(r);
    struct figures *g = &r->figures;
    f->ran[d->part] = true;
    f->to_run--;
    flight_note_end(r, f, now);
    r->moves++;
    if (f->sample > 0 || r->n == 1)
        times_add(&g->part[d->part], now - d->since);
    if (g->samples > 0)
        g->busy[d - r->dev] += now - larger(d->since, g->first);
    bars_add(&r->figures.bars,
             (struct bar){(uint32_t)(d - r->dev), d->part, d->sample, d->since, now});
}

void device_end(struct runner *r, struct run_device *d)
{
    struct flight *f = flight_of(r, d->sample);
    uint32_t part = d->part;
    put_outputs(r, d, f);
    note_run(r, d, f);
    d->part = RUN_NONE;
    if (r->wires.nstate)
        states_hand_on(r, f->sample + 1);
    if (r->lists)
        lists_ran(r, (uint32_t)(d - r->dev));
    else
        turns_ran(r, f, part);
}

/* Ends the run because the part of d failed.  boxes: the part had boxes for its outputs. */
static void fail_part(struct runner *r, struct run_device *d, bool boxes,
                      const struct engine_error *err)
{
    const struct split_part *p = &r->s.part[d->part];
    char line[sizeof r->error];
    for (uint32_t i = 0; i < p->nout && boxes; i++)
        box_return(r, d->made[i]);
    d->part = RUN_NONE;
    snprintf(line, sizeof line, "%s (%s), sample %" PRId64 ": %s", p->file, d->name,
             r->set.first + d->sample, err->line);
    run_fail(r, d->sample, line);
}

/* Runs the part d->part of the sample d->sample; under the lock, which is given up meanwhile. */
static void run_part(struct runner *r, struct run_device *d)
{
    struct engine_error err = {"out of memory"};
    bool room = device_begin(r, d);
    pthread_mutex_unlock(&r->lock);
    int rc = room ? call_part(r, d, &err) : -1;
    pthread_mutex_lock(&r->lock);
    if (rc)
        fail_part(r, d, room, &err);
    else
        device_end(r, d);
    if (!rc && r->ranks)
        ranks_await(r);
}

bool device_choose(struct runner *r, struct run_device *d)
{
    d->part = RUN_NONE;
    if (r->lists) {
        d->part = d->next_part;
        d->sample = d->next_sample;
        d->next_part = RUN_NONE;
        return d->part != RUN_NONE;
    }
    while (d->ready.n > 0 && d->part == RUN_NONE) {
        struct heap_entry e = heap_pop(&d->ready);
        if (e.key < r->n) {
            d->part = e.item;
            d->sample = e.key;
        }
    }
    return d->part != RUN_NONE;
}

/* Called by the thread of d: keeps it to d's processors, if d has any, and opens the sessions of d's parts.  Returns 0,
 * or -1 with the reason in line[room]. */
static int open_parts(struct runner *r, struct run_device *d, char *line, size_t room)
{
    struct engine_error err;
    if (d->pinned && pthread_setaffinity_np(pthread_self(), sizeof d->cores, &d->cores)) {
        snprintf(line, room, "%s: its thread cannot be kept to its processors", d->name);
        return -1;
    }
    for (uint32_t k = 0; k < r->s.npart; k++) {
        const struct split_part *p = &r->s.part[k];
        bool mine = false; /* the part runs on d, for all samples or for some */
        for (uint32_t i = 0; i < r->wires.nplace[k]; i++)
            mine = mine || &r->dev[r->wires.place[k][i]] == d;
        if (!mine)
            continue;
        struct engine_load how = split_load(p, d->threads, r->set.optimise);
        how.gpu = d->gpu;
        d->loaded[k] = r->e->face->load(r->e, &how, &err);
        if (!d->loaded[k]) {
            gpus_not_loaded(line, room, p, d->name, d->gpu, &err);
            return -1;
        }
    }
    return 0;
}

void *device_run(void *device)
{
    struct run_device *d = device;
    struct runner *r = d->r;
    char line[sizeof r->error];
    int rc = open_parts(r, d, line, sizeof line);
    pthread_mutex_lock(&r->lock);
    if (rc)
        run_fail(r, 0, line);
    r->opening--;
    pthread_cond_signal(&r->host);
    while (!r->over) {
        if (r->ranks)
            ranks_look(r);
        if (device_choose(r, d))
            run_part(r, d);
        else if (r->ranks)
            ranks_rest(r, d);
        else
            pthread_cond_wait(&d->work, &r->lock);
    }
    pthread_mutex_unlock(&r->lock);
    return NULL;
}
