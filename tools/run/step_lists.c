/* Runs an iteration (step.h; ir/plan/schedule.h says what instructions mean and wait for).
 *
 * Each device has a thread, which executes its computing list.  Lists of transfers move under the lock: the thread that
 * has moved something moves all lists that can go on.  A tensor that crosses is handed over by its address.  Parts run,
 * and gradients are added, with the lock given up: only the device's own thread uses its sums. */
#include "tools/run/step.h"
#include "tools/run/step_ranks.h"

#include "ir/base/numbers.h"

#include "ir/plan/schedule_check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 300 /* columns for where lists stand */ };

/* ---- what instructions wait for --------------------------------------------------------------- */

/* Returns the device that makes a tensor; ndev: the host. */
static uint32_t home_of(const struct stepper *s, uint32_t tensor)
{
    return s->w->place.to[s->w->place.at[tensor]];
}

/* Whether the inputs of a part are on its device. */
static bool has_inputs(const struct stepper *s, uint32_t part)
{
    uint32_t dev = s->w->part[part].dev;
    for_row (t, s->w->in, part) {
        bool there = home_of(s, t) == dev ? s->now.made[t] : s->now.here[work_place(s->w, t, dev)];
        if (!there)
            return false;
    }
    return true;
}

/* Returns the number of devices that run part p of `whole`. */
static uint32_t devices_of(const struct stepper *s, uint32_t p)
{
    return s->each->first_copy[p + 1] - s->each->first_copy[p];
}

/* Returns the part of `whole` to which a part of w, a run on one device for one micro-batch, belongs. */
static uint32_t whole_part(const struct stepper *s, uint32_t part)
{
    return s->part_of[s->w->instance[part] % s->each->npart];
}

/* A part of w is a run of a part for one micro-batch.  Returns the number in w of the first tensor of this micro-batch:
 * tensor t of `each` is tensor n + t of w if n is returned. */
static uint32_t first_tensor(const struct stepper *s, uint32_t part)
{
    return s->w->instance[part] / s->each->npart * s->each->ntensor;
}

/* Whether the instruction i of a list of device dev can be executed now.  Begins the message of a SEND to another rank:
 * the SEND is ready when the message has left. */
static bool is_ready(struct stepper *s, uint32_t dev, const struct instruction *i)
{
    const struct sample_work *w = s->w;
    if (i->kind == DO_COMPUTE)
        return has_inputs(s, i->what);
    if (i->kind == DO_REDUCE)
        return true; /* reduce() waits for the other devices */
    /* the tensor is made at its home; the places behind `first` are of the devices that it is sent to */
    uint32_t first = w->place.at[i->what], home = w->place.to[first];
    if (i->kind == DO_SEND && !step_here(s, i->other))
        return s->now.made[i->what] && step_send(s, i->what, work_place(w, i->what, i->other));
    if (i->kind == DO_SEND)
        return s->now.made[i->what] &&
               (i->other == w->ndev || s->now.room[work_place(w, i->what, i->other)]);
    if (i->kind == DO_RECV)
        return s->now.sent[work_place(w, i->what, dev)];
    if (i->kind == DO_ALLOC)
        return true;
    /* FREE waits, away from home, until the tensor has come; at home, until it was made and sent to all others.  ADD
     * waits as FREE does at home; a gradient is sent to nobody */
    if (dev != home)
        return s->now.here[work_place(w, i->what, dev)];
    for (uint32_t x = first + 1; x < w->place.at[i->what + 1]; x++)
        if (!s->now.sent[x])
            return false;
    return s->now.made[i->what];
}

/* ---- transfers and memory; under the lock ----------------------------------------------------- */

/* Adds `bytes`, below 0 if they are freed, to the bytes that a device holds. */
static void hold(struct step_device *d, int64_t bytes)
{
    d->bytes += bytes;
    d->most = larger(d->most, d->bytes);
}

/* Takes a holder of a tensor away; frees it with the last one. */
static void drop(struct stepper *s, uint32_t tensor)
{
    if (--s->now.holders[tensor] > 0)
        return;
    s->e->face->value_free(s->e, s->now.tensor[tensor]);
    s->now.tensor[tensor] = NULL;
}

/* Executes an ALLOC, SEND, RECV or FREE of a list of device dev: notes it, and counts bytes and holders.  Begins to
 * receive what an ALLOC makes room for from another rank; frees a tensor with its last holder. */
static void execute(struct stepper *s, uint32_t dev, const struct instruction *i)
{
    const struct sample_work *w = s->w;
    uint32_t place = work_place(w, i->what, i->kind == DO_SEND ? i->other : dev);
    if (i->kind == DO_ALLOC) {
        s->now.room[place] = 1;
        hold(&s->dev[dev], w->tensor[i->what].bytes);
        if (!step_here(s, home_of(s, i->what)))
            step_receive(s, i->what, place);
    } else if (i->kind == DO_SEND) {
        s->now.sent[place] = 1;
        s->now.holders[i->what] += step_here(s, i->other); /* other ranks have copies */
    } else if (i->kind == DO_RECV) {
        s->now.here[place] = 1;
    } else {
        bool home = home_of(s, i->what) == dev;
        hold(&s->dev[dev],
             -(home ? tensor_bytes(s->e, s->now.tensor[i->what]) : w->tensor[i->what].bytes));
        drop(s, i->what);
    }
}

const char *step_where(const struct stepper *s, struct arena *a)
{
    const char *text = "";
    for (uint32_t l = 0; l < s->lists->nlane; l++) {
        uint32_t dev = lane_device(s->w->ndev, l);
        if (s->now.at[l] < s->lists->at[l + 1] && step_here(s, dev) && strlen(text) < TEXT)
            text = arena_fmt(a, "%s%s%s", text, *text ? "; " : "",
                             instruction_text(s->w, &s->lists->item[s->now.at[l]], dev, 0, a));
    }
    return text;
}

void step_move(struct stepper *s)
{
    const struct schedule *e = s->lists;
    bool any = true;
    while (any) {
        any = false;
        for (uint32_t l = s->w->ndev; l < e->nlane; l++) {
            uint32_t dev = lane_device(s->w->ndev, l);
            while (step_here(s, dev) && s->now.at[l] < e->at[l + 1] &&
                   is_ready(s, dev, &e->item[s->now.at[l]])) {
                execute(s, dev, &e->item[s->now.at[l]++]);
                s->now.moves++;
                any = true;
            }
        }
    }
    pthread_cond_broadcast(&s->now.moved);
}

/* ---- parts -------------------------------------------------------------------------------------- */

/* A run of a part, from finding its inputs to storing its outputs. */
struct call {
    struct stepper *s;
    uint32_t part; /* number of the part in w */
    const struct step_copy *copy;
    struct engine_value **in, **out; /* [inputs of the part, then its parameters], [outputs] */
    uint8_t *joined;                 /* [input] 1: in[] was made for this run */
    struct engine_error err;
};

/* Returns the position behind the last slice of a tensor of `whole`, of which the slice at position `at` is one.  of:
 * each->in or each->out; in the row of a copy, the slices of one tensor stand together. */
static uint32_t slices_end(const struct stepper *s, const struct csr *of, uint32_t copy,
                           uint32_t at)
{
    uint32_t end = at + 1;
    while (end < of->at[copy + 1] && s->owner[of->to[end]] == s->owner[of->to[at]])
        end++;
    return end;
}

/* Finds the inputs of a part: sums, slices, which it joins, or whole tensors; then the part's parameters.  Called
 * without the lock, as no other thread frees these.  Returns 0, or -1 with the reason in c->err. */
static int find_inputs(struct call *c)
{
    struct stepper *s = c->s;
    uint32_t copy = s->w->instance[c->part] % s->each->npart, n = 0;
    uint32_t first = first_tensor(s, c->part);
    const struct csr *in = &s->each->in;
    /* n: number of the input, at: entry of its first slice in the row of the copy's inputs */
    for (uint32_t at = in->at[copy]; at < in->at[copy + 1]; n++) {
        uint32_t end = slices_end(s, in, copy, at), t = in->to[at];
        bool sum = s->each->part[copy].once && s->each->tensor[t].summed;
        if (end == at + 1) {
            c->in[n] = sum ? s->sum[t] : s->now.tensor[first + t];
        } else {
            c->in[n] =
                rows_join(s->e, &s->now.tensor[first + t], end - at, s->axis[s->owner[t]], &c->err);
            c->joined[n] = 1;
        }
        if (!c->in[n])
            return -1;
        at = end;
    }
    for (uint32_t k = 0; k < c->copy->nparameter; k++)
        if (s->parameter[c->copy->parameter[k]].value)
            c->in[n++] = s->parameter[c->copy->parameter[k]].value;
    return 0;
}

/* Puts the outputs of the part into the table of tensors: each whole, or cut into slices, which stand together in the
 * row of the copy's outputs.  Adds a loss to the sum of losses of its micro-batch.  Under the lock.  Returns 0, or -1
 * with the reason in c->err. */
static int take_outputs(struct call *c)
{
    struct stepper *s = c->s;
    uint32_t copy = s->w->instance[c->part] % s->each->npart, n = 0;
    uint32_t first = first_tensor(s, c->part);
    const struct csr *out = &s->each->out;
    struct step_device *d = &s->dev[s->w->part[c->part].dev];
    /* n: number of the output, at: entry of its first slice in the row of the copy's outputs */
    for (uint32_t at = out->at[copy]; at < out->at[copy + 1]; n++) {
        uint32_t end = slices_end(s, out, copy, at);
        int64_t rows = 0, from = 0; /* rows of the output; first row of a slice */
        for (uint32_t k = at; k < end; k++)
            rows += s->each->tensor[out->to[k]].rows;
        for (; at < end; at++) {
            uint32_t t = first + out->to[at];
            const struct work_tensor *of = &s->each->tensor[out->to[at]];
            s->now.tensor[t] = of->rows == rows
                                   ? c->out[n]
                                   : rows_cut(s->e, c->out[n], s->axis[s->owner[out->to[at]]],
                                              (const int64_t[]){from, of->rows, rows}, &c->err);
            if (!s->now.tensor[t])
                return -1;
            if (s->now.tensor[t] == c->out[n])
                c->out[n] = NULL;
            if (s->owner[out->to[at]] == s->loss)
                s->now.loss[first / s->each->ntensor] += first_element(s->e, s->now.tensor[t]);
            from += of->rows;
            s->now.made[t] = 1;
            s->now.holders[t] = 1;
            hold(d, tensor_bytes(s->e, s->now.tensor[t]));
        }
    }
    return 0;
}

/* Frees the inputs that find_inputs() joined, the outputs that are not in the table of tensors, and the arrays of a
 * call. */
static void end_call(struct call *c)
{
    for (uint32_t i = 0; i < c->copy->part->nin; i++)
        if (c->joined[i])
            c->s->e->face->value_free(c->s->e, c->in[i]);
    for (uint32_t i = 0; i < c->copy->part->nout; i++)
        c->s->e->face->value_free(c->s->e, c->out[i]);
    free(c->in);
    free(c->out);
    free(c->joined);
}

/* Notes the first failure: part or gradient, device, micro-batch.  Under the lock. */
static void fail(struct stepper *s, const char *what, uint32_t dev, uint32_t batch,
                 const struct engine_error *err)
{
    if (!s->now.failed)
        snprintf(s->now.error, sizeof s->now.error, "%s (%s), micro-batch %u: %s", what,
                 s->w->dev_name[dev], batch, err->line);
    s->now.failed = true;
    pthread_cond_broadcast(&s->now.moved);
}

/* Adds up the sums of gradients of all copies of part p, so that all copies have the same sums.  Returns 0, or -1 with
 * the reason in *err. */
static int reduce_sums(struct stepper *s, uint32_t p, struct engine_error *err)
{
    const struct csr *in = &s->each->in;
    uint32_t first = s->each->first_copy[p], n = devices_of(s, p);
    uint32_t nin = in->at[first + 1] - in->at[first];
    struct engine_value **sum = calloc(n, sizeof(void *));
    int rc = sum ? 0 : -1;
    for (uint32_t k = 0; !rc && k < nin; k++) { /* input k of all copies is one gradient's sum */
        if (!s->each->tensor[in->to[in->at[first] + k]].summed)
            continue;
        for (uint32_t i = 0; i < n; i++)
            sum[i] = s->sum[in->to[in->at[first + i] + k]];
        rc = sum_reduce(s->e, sum, n, err);
    }
    free(sum);
    return rc;
}

/* Executes a REDUCE: has a device whose sums are complete wait for the others; the last one makes all sums equal.  With
 * a process for each device, step_reduce() does that by messages.  Under the lock, which is given up meanwhile. */
static void reduce(struct stepper *s, uint32_t part)
{
    uint32_t p = whole_part(s, part);
    struct engine_error err = {"out of memory"};
    if (s->ranks) {
        step_reduce(s, p, s->w->part[part].dev);
        return;
    }
    if (++s->now.reducing[p] == devices_of(s, p)) {
        pthread_mutex_unlock(&s->now.lock);
        int rc = reduce_sums(s, p, &err);
        pthread_mutex_lock(&s->now.lock);
        if (rc)
            fail(s, s->whole->part[p].name, s->w->part[part].dev, s->w->micro_batches - 1, &err);
        s->now.reduced[p] = 1;
        pthread_cond_broadcast(&s->now.moved);
    }
    while (!s->now.reduced[p] && !s->now.failed && !*s->stop)
        pthread_cond_wait(&s->now.moved, &s->now.lock);
}

/* If the loss is a mean and the part number `copy` of `each` is an update, divides the sums of gradients that it reads
 * by step_divisor(), unless an earlier part has divided them.  Returns 0, or -1 with the reason in *err. */
static int divide_sums(struct stepper *s, uint32_t copy, struct engine_error *err)
{
    uint32_t n = step_divisor(s, s->part_of[copy]);
    if (!s->each->part[copy].once || !s->mean || n == 1)
        return 0;
    for_row (t, s->each->in, copy) {
        if (!s->each->tensor[t].summed || s->now.divided[t])
            continue; /* an earlier part that reads the sum has divided it */
        s->now.divided[t] = 1;
        if (sum_divide(s->e, s->sum[t], n, err))
            return -1;
    }
    return 0;
}

/* Writes words for a gradient, a tensor of `whole`, to *words: its name, its parameter and the part that makes it.
 * Returns the words. */
static const char *gradient_words(const struct stepper *s, uint32_t tensor,
                                  struct engine_error *words)
{
    const struct work_tensor *t = &s->whole->tensor[tensor];
    const char *parameter = "";
    for (uint32_t k = 0; k < s->nparameter && !*parameter; k++)
        parameter = s->parameter[k].sum == tensor ? s->parameter[k].name : "";
    snprintf(words->line, sizeof words->line, "gradient '%s' of parameter '%s', which %s makes",
             t->name, parameter, s->whole->part[t->from].name);
    return words->line;
}

/* Adds a gradient to its sum, and frees it; under the lock, which is given up meanwhile. */
static void add(struct stepper *s, uint32_t dev, uint32_t tensor)
{
    uint32_t t = tensor % s->each->ntensor;
    const struct engine_value *v = s->now.tensor[tensor];
    struct engine_error err, words;
    int64_t bytes = tensor_bytes(s->e, v);
    bool first = s->now.added[t]++ == 0;
    pthread_mutex_unlock(&s->now.lock);
    int rc = sum_add(s->e, &s->sum[t], v, first, &err);
    pthread_mutex_lock(&s->now.lock);
    if (rc)
        fail(s, gradient_words(s, s->owner[t], &words), dev, tensor / s->each->ntensor, &err);
    hold(&s->dev[dev], -bytes);
    drop(s, tensor);
}

/* Adds the gradients that a part has just made, with --sum=as-made; under the lock, which is given up meanwhile. */
static void add_made(struct stepper *s, uint32_t part)
{
    uint32_t copy = s->w->instance[part] % s->each->npart;
    for_row (t, s->each->out, copy)
        if (s->each->tensor[t].summed && !s->now.failed)
            add(s, s->w->part[part].dev, first_tensor(s, part) + t);
}

/* Runs a part of w: a part of the split on one device for one micro-batch.  Finds its inputs, runs it, and puts its
 * outputs into the table of tensors; with --sum=as-made, also adds the gradients that it made.  An error ends the
 * iteration.  Under the lock, which is given up meanwhile. */
static void compute(struct stepper *s, uint32_t part)
{
    uint32_t copy = s->w->instance[part] % s->each->npart, dev = s->w->part[part].dev;
    const struct step_copy *of = &s->copy[copy];
    size_t nin = of->part->nin + of->nparameter;
    struct call c = {.s = s,
                     .part = part,
                     .copy = of,
                     .in = calloc(nin + 1, sizeof(void *)),
                     .out = calloc((size_t)of->part->nout + 1, sizeof(void *)),
                     .joined = calloc(nin + 1, 1),
                     .err = {"out of memory"}};
    /* without --load, parameters have no values in the first step: the part takes the values in its file */
    bool parameters = of->nparameter && s->parameter[of->parameter[0]].value;
    s->dev[dev].most = larger(s->dev[dev].most, s->dev[dev].bytes + s->w->part[part].running);
    s->dev[dev].runs = true;
    pthread_mutex_unlock(&s->now.lock);
    int rc = !c.in || !c.out || !c.joined || divide_sums(s, copy, &c.err) || find_inputs(&c);
    if (!rc) {
        const struct engine_call call = {.in_name = of->in_name,
                                         .in = c.in,
                                         .nin = parameters ? nin : of->part->nin,
                                         .out_name = of->part->out_name,
                                         .out = c.out,
                                         .out_bytes = of->part->out_bytes,
                                         .nout = of->part->nout};
        rc = s->e->face->run(of->loaded, &call, &c.err);
    }
    pthread_mutex_lock(&s->now.lock);
    s->dev[dev].runs = false;
    rc = rc || take_outputs(&c);
    if (rc)
        fail(s, of->part->file, dev, s->w->instance[part] / s->each->npart, &c.err);
    if (c.in && c.out && c.joined)
        end_call(&c);
    if (!rc && s->set.as_made)
        add_made(s, part);
}

/* The thread of a device: executes its computing list, and moves the lists of transfers after each instruction.  arg:
 * the struct step_device. */
static void *device_run(void *arg)
{
    struct step_device *d = arg;
    struct stepper *s = d->s;
    uint32_t l = lane_compute(d->number);
    pthread_mutex_lock(&s->now.lock);
    while (s->now.at[l] < s->lists->at[l + 1] && !s->now.failed && !*s->stop) {
        const struct instruction *i = &s->lists->item[s->now.at[l]];
        if (!is_ready(s, d->number, i)) {
            pthread_cond_wait(&s->now.moved, &s->now.lock);
            continue;
        }
        if (i->kind == DO_COMPUTE)
            compute(s, i->what);
        else if (i->kind == DO_ADD && !s->set.as_made)
            add(s, d->number, i->what);
        else if (i->kind == DO_REDUCE)
            reduce(s, i->what);
        else if (i->kind != DO_ADD) /* as_made: compute() has added the gradient */
            execute(s, d->number, i);
        s->now.at[l]++;
        s->now.moves++;
        step_move(s);
    }
    pthread_cond_broadcast(&s->now.moved);
    pthread_mutex_unlock(&s->now.lock);
    return NULL;
}

/* ---- the iteration ------------------------------------------------------------------------------ */

void step_clear(struct stepper *s)
{
    for (uint32_t t = 0; t < s->w->ntensor; t++)
        s->e->face->value_free(s->e, s->now.tensor[t]);
    memset(s->now.tensor, 0, s->w->ntensor * sizeof *s->now.tensor);
}

/* Resets s->now, and the bytes that devices hold, for a new iteration: all lists stand at their beginning, and only
 * the tensors of the host are made, which the caller has put into the table. */
static void begin(struct stepper *s)
{
    const struct sample_work *w = s->w;
    uint32_t places = w->place.at[w->ntensor];
    memcpy(s->now.at, s->lists->at, s->lists->nlane * sizeof *s->now.at);
    memset(s->now.room, 0, places);
    memset(s->now.sent, 0, places);
    memset(s->now.here, 0, places);
    memset(s->now.added, 0, s->each->ntensor * sizeof *s->now.added);
    memset(s->now.divided, 0, s->each->ntensor);
    memset(s->now.reducing, 0, s->whole->npart * sizeof *s->now.reducing);
    memset(s->now.reduced, 0, s->whole->npart);
    for (uint32_t m = 0; m < w->micro_batches; m++)
        s->now.loss[m] = 0;
    for (uint32_t t = 0; t < w->ntensor; t++) {
        s->now.made[t] = s->now.tensor[t] != NULL;
        s->now.holders[t] = s->now.made[t];
    }
    for (uint32_t d = 0; d < w->ndev; d++)
        s->dev[d].bytes = 0;
    for (uint32_t k = 0; k < w->npart; k++)
        s->dev[w->part[k].dev].bytes += w->part[k].lasting;
    for (uint32_t d = 0; d < w->ndev; d++)
        hold(&s->dev[d], 0); /* raises `most` */
}

int step_iteration(struct stepper *s)
{
    uint32_t n = s->w->ndev, started = 0;
    begin(s);
    pthread_mutex_lock(&s->now.lock);
    step_ranks_begin(s);
    step_move(s);
    pthread_mutex_unlock(&s->now.lock);
    for (; started < n; started++)
        if (step_here(s, started) &&
            pthread_create(&s->dev[started].thread, NULL, device_run, &s->dev[started])) {
            pthread_mutex_lock(&s->now.lock);
            fail(s, "a thread", started, 0, &(struct engine_error){"it cannot be started"});
            pthread_mutex_unlock(&s->now.lock);
            break;
        }
    if (s->ranks) {
        pthread_mutex_lock(&s->now.lock);
        step_look_after(s, /*lists=*/true);
        pthread_mutex_unlock(&s->now.lock);
    }
    for (uint32_t d = 0; d < started; d++)
        if (step_here(s, d))
            pthread_join(s->dev[d].thread, NULL);
    if (s->now.failed && *s->now.error)
        diag_error(s->d, "%s", s->now.error);
    return s->now.failed ? -1 : 0;
}
