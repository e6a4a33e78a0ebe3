/* Runs step after step (step.h): cuts the batch of each step into micro-batches, runs the iteration, and uses its new
 * parameters in the next step. */
#include "tools/run/step_ranks.h"

#include "tools/run/inputs.h"
#include "tools/run/npz_write.h"

#include "ir/base/clock.h"
#include "ir/base/units.h"
#include "ir/model/module.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { INPUT = 1, INTERRUPTED = 130 }; /* exit codes */

/* ---- inputs --------------------------------------------------------------------------------------- */

/* Gives the inputs of the model the sizes of all micro-batches together; inputs without an axis of the batch, or of
 * unknown sizes, stay as they are. */
static void enlarge_inputs(struct stepper *s)
{
    for (uint32_t t = 0; t < s->whole->ntensor; t++) {
        struct split_value *v = &s->split.value[s->value[t]];
        int32_t axis = s->axis[t];
        if (s->whole->tensor[t].from < s->whole->npart || axis < 0 || !v->size ||
            (uint32_t)axis >= v->rank)
            continue;
        int64_t *size = arena_array(s->a, (size_t)v->rank + 1, sizeof *size);
        memcpy(size, v->size, v->rank * sizeof *size);
        size[axis] = sat_mul(size[axis], s->w->micro_batches);
        v->size = size;
    }
}

/* Writes to *n the size of v, the value of the input t, along the axis of the batch; -1: it has no such axis, or is a
 * value of the stub, whose sizes mean nothing.  Returns 0, or -1 and an error. */
static int batch_of(struct stepper *s, uint32_t t, const struct engine_value *v, int64_t *n)
{
    struct engine_shape shape;
    int64_t size[ENGINE_AXES];
    *n = -1;
    if (!*s->e->library || s->axis[t] < 0 || s->e->face->value_shape(s->e, v, &shape, size))
        return 0;
    if ((size_t)s->axis[t] >= shape.rank)
        return diag_error(s->d, "input '%s': expected samples along its axis %d, found %zu axes",
                          s->whole->tensor[t].name, (int)s->axis[t], shape.rank);
    *n = size[s->axis[t]];
    return 0;
}

/* Checks that a batch of n samples of the input t can be cut into the micro-batches, and these into the samples of the
 * devices that share them.  Returns 0, or -1 and an error. */
static int check_divides(struct stepper *s, uint32_t t, int64_t n)
{
    bool uncut = s->each->npart == s->whole->npart; /* no devices share micro-batches */
    int64_t m = s->w->micro_batches, of = uncut ? m : sat_mul(m, s->each->share.samples);
    if (n > 0 && n % of == 0)
        return 0;
    return diag_error(s->d,
                      "input '%s': a batch of %" PRId64 " cannot be cut into %" PRId64
                      " micro-batches%s: expected a multiple of %" PRId64 ", such as %" PRId64,
                      s->whole->tensor[t].name, n, m,
                      of == m ? "" : ", which several devices share", of, (n / of + 1) * of);
}

/* Returns the planned size of an input's axis of the batch; -1: it is not known. */
static int64_t planned_batch(const struct stepper *s, uint32_t t)
{
    const struct split_value *v = &s->split.value[s->value[t]];
    return v->size && s->axis[t] >= 0 && (uint32_t)s->axis[t] < v->rank ? v->size[s->axis[t]] : -1;
}

/* Checks that the micro-batches and their slices divide the batches of all inputs, table[value], and that all batches
 * have as many samples: each is the planned batch times one factor.  Returns 0, or -1 and an error. */
static int check_batches(struct stepper *s, struct engine_value **table)
{
    uint32_t first = STEP_NONE;
    int64_t had = 0;
    for (uint32_t t = 0; t < s->whole->ntensor; t++) {
        if (s->whole->tensor[t].from < s->whole->npart || !table[s->value[t]])
            continue;
        int64_t n, planned = planned_batch(s, t);
        if (batch_of(s, t, table[s->value[t]], &n) || (n >= 0 && check_divides(s, t, n)))
            return -1;
        if (n < 0 || planned <= 0)
            continue;
        if (first == STEP_NONE) {
            first = t;
            had = n;
        }
        int64_t other = planned_batch(s, first);
        if ((__int128)n * other != (__int128)had * planned)
            return diag_error(s->d,
                              "input '%s': its batch is %" PRId64 ", but that of '%s' is %" PRId64
                              ", planned were %" PRId64 " and %" PRId64
                              ": expected all inputs to have as many samples",
                              s->whole->tensor[t].name, n, s->whole->tensor[first].name, had,
                              planned, other);
    }
    return 0;
}

/* Cuts the inputs of the model, table[value], into the host's tensors of the iteration, s->now.tensor.  Each tensor t
 * that a part reads gets the rows of its micro-batch, number t / ntensor of `each`, and of its slice of that
 * micro-batch.  An input without an axis of the batch is copied as a whole.  Returns 0, or -1 and an error. */
static int cut_inputs(struct stepper *s, struct engine_value **table)
{
    const struct sample_work *w = s->w;
    int64_t samples = s->each->share.samples;
    struct engine_error err;
    for (uint32_t t = 0; t < w->ntensor; t++) {
        uint32_t x = t % s->each->ntensor, of = s->owner[x];
        const struct work_tensor *k = &s->each->tensor[x];
        if (s->whole->tensor[of].from < s->whole->npart || w->reader.at[t] == w->reader.at[t + 1])
            continue;
        struct engine_value *all = table[s->value[of]];
        int64_t batch = t / s->each->ntensor;
        /* first row, number of rows, and rows of the whole input, as rows_cut() takes them */
        const int64_t slice[3] = {batch * samples + k->first_row, k->rows,
                                  samples * w->micro_batches};
        const int64_t whole_batch[3] = {batch, 1, w->micro_batches};
        bool uncut = s->each->npart == s->whole->npart; /* whole micro-batches, of any size */
        if (s->axis[of] < 0)
            s->now.tensor[t] = rows_join(s->e, &all, 1, 0, &err); /* a copy of the whole input */
        else
            s->now.tensor[t] = rows_cut(s->e, all, s->axis[of], uncut ? whole_batch : slice, &err);
        if (!s->now.tensor[t])
            return diag_error(s->d, "input '%s': %s", s->whole->tensor[of].name, err.line);
    }
    return 0;
}

int step_inputs(struct stepper *s, int64_t step, struct engine_value **table)
{
    struct arena *own = arena_new(s->a);
    const struct inputs_of of = {.file = s->set.nfile ? s->set.file[(uint64_t)step % s->set.nfile]
                                                      : NULL,
                                 .seed = s->set.seed + (uint64_t)step,
                                 .all = true,
                                 .any_sizes = true};
    int rc = inputs_make(s->e, &s->split, &of, table, own, s->d);
    if (!rc)
        rc = check_batches(s, table);
    for (uint32_t i = 0; rc && i < s->split.ninput; i++) {
        s->e->face->value_free(s->e, table[s->split.input[i]]);
        table[s->split.input[i]] = NULL;
    }
    arena_free(own);
    return rc;
}

/* Makes or reads the inputs of a step, and cuts them.  Returns 0, or -1 and an error. */
static int load_inputs(struct stepper *s, int64_t step)
{
    struct engine_value **table = calloc((size_t)s->split.nvalue + 1, sizeof(void *));
    if (!table)
        arena_exhausted(s->a, s->split.nvalue * sizeof(void *));
    int rc = step_inputs(s, step, table);
    if (!rc)
        rc = cut_inputs(s, table);
    for (uint32_t i = 0; i < s->split.ninput; i++)
        s->e->face->value_free(s->e, table[s->split.input[i]]);
    free(table);
    return rc;
}

/* ---- parameters ----------------------------------------------------------------------------------- */

/* Whether an array has the type and sizes of the parameter; true if no part reads it, so that its type is not known. */
static bool has_type(const struct step_parameter *p, const struct npz_array *g)
{
    bool same = !p->known || (g->elem == p->elem && g->rank == p->rank);
    for (uint32_t i = 0; p->known && same && i < g->rank; i++)
        same = g->size[i] == p->size[i];
    return same;
}

/* Returns the text of a type: "f32[4,2]". */
static const char *tensor_text(struct stepper *s, int elem, uint32_t rank, const int64_t *size)
{
    return arena_fmt(s->a, "%s%s", elem_name((enum elem)elem), sizes_text(size, rank, s->a));
}

/* Sets the value of a parameter to a tensor with the elements of an array of the file.  Returns 0, or -1 and an
 * error. */
static int load_parameter(struct stepper *s, struct step_parameter *p, const struct npz_array *g)
{
    struct engine_error err;
    if (*s->e->library && !has_type(p, g)) /* the stub takes any type */
        return diag_error(s->d, "%s: parameter '%s': expected %s, found %s", s->set.load, p->name,
                          tensor_text(s, p->elem, p->rank, p->size),
                          tensor_text(s, g->elem, g->rank, g->size));
    p->value = s->e->face->value_new(s->e, &(struct engine_shape){g->elem, g->rank, g->size}, &err);
    void *data = p->value && g->bytes ? s->e->face->value_data(s->e, p->value) : NULL;
    if (!p->value || (g->bytes && !data))
        return diag_error(s->d, "%s: '%s': it is no tensor of plain numbers", s->set.load, p->name);
    if (data)
        memcpy(data, g->data, g->bytes);
    return 0;
}

/* Reads the values of all parameters from the file of --load.  Returns 0, or -1 and an error. */
static int load_parameters(struct stepper *s)
{
    struct npz z;
    if (npz_open(&z, s->set.load, s->a, s->d))
        return -1;
    for (uint32_t k = 0; k < s->nparameter; k++) {
        struct step_parameter *p = &s->parameter[k];
        const struct npz_array *g;
        if (npz_find(&z, p->name, &g, s->a, s->d))
            return -1;
        if (!g)
            return diag_error(s->d, "%s: parameter '%s' is missing", s->set.load, p->name);
        if (load_parameter(s, p, g))
            return -1;
    }
    return 0;
}

/* Writes the values of all parameters to the file of --save.  Returns 0, or -1 and an error. */
static int save_parameters(struct stepper *s)
{
    struct npz_out z;
    if (npz_begin(&z, s->set.save, s->a, s->d))
        return -1;
    bool good = true;
    for (uint32_t k = 0; k < s->nparameter && good; k++) {
        const struct step_parameter *p = &s->parameter[k];
        struct engine_shape shape = {0};
        int64_t size[ENGINE_AXES];
        good = s->e->face->value_shape(s->e, p->value, &shape, size) == 0;
        const struct npz_array array = {.name = p->name,
                                        .elem = shape.elem,
                                        .rank = (uint32_t)shape.rank,
                                        .size = size,
                                        .data = s->e->face->value_data(s->e, p->value),
                                        .bytes = (size_t)tensor_bytes(s->e, p->value)};
        good = good && npz_add(&z, &array) == 0;
        if (!good)
            diag_error(s->d, "%s: '%s' is no tensor of plain numbers", s->set.save, p->name);
    }
    return npz_end(&z, good);
}

/* Makes the new parameters that the host has received the parameters of the next step. */
static void take_parameters(struct stepper *s)
{
    /* first tensor of the last micro-batch, to which the outputs of updates belong */
    uint32_t last = (s->w->micro_batches - 1) * s->each->ntensor;
    for (uint32_t k = 0; k < s->nparameter; k++) {
        struct step_parameter *p = &s->parameter[k];
        uint32_t t = last + s->each->first_slice[p->made];
        s->e->face->value_free(s->e, p->value);
        p->value = s->now.tensor[t];
        s->now.tensor[t] = NULL;
    }
}

/* ---- steps ---------------------------------------------------------------------------------------- */

uint32_t step_divisor(const struct stepper *s, uint32_t p)
{
    uint32_t of = s->loss != STEP_NONE ? s->whole->tensor[s->loss].from : p;
    return s->w->micro_batches * (s->each->first_copy[of + 1] - s->each->first_copy[of]);
}

/* Returns the loss of the whole step; the folder must have a loss.  Losses of micro-batches and devices are added up or
 * averaged, as their gradients are. */
static double loss_of(struct stepper *s)
{
    uint32_t n = step_divisor(s, /*p=*/0); /* p counts only without a loss */
    double sum = 0;
    for (uint32_t k = 0; k < s->w->micro_batches; k++)
        sum += s->now.loss[k];
    return s->mean ? sum / (double)n : sum;
}

/* Runs a step: inputs, the iteration, the printed line, and the new parameters, which the next step begins with.  Frees
 * the iteration's tensors, unless messages under way may need them.  All ranks call this.  Returns 0; else what
 * step_agree() returns after an error. */
static int run_step(struct stepper *s, int64_t step)
{
    char took[UNIT_TEXT];
    bool host = step_here(s, s->w->ndev);
    bool bad = step_strays(s, step) || (host && load_inputs(s, step));
    int rc = step_agree(s, bad ? -1 : 0);
    int64_t began = clock_now();
    if (!rc)
        rc = step_agree(s, step_iteration(s));
    if (!rc && s->ranks)
        rc = step_gather(s, step);
    if (!rc && !*s->stop && host) {
        printf("step %" PRId64 ": ", step + 1);
        if (s->loss != STEP_NONE && *s->e->library) /* the stub's values are no numbers */
            printf("loss %.9g, ", loss_of(s));
        printf("%s\n", time_short(took, sat_mul(clock_now() - began, 1000)));
        fflush(stdout);
        take_parameters(s);
    }
    if (step_is_broken(s))
        return rc; /* messages are under way, so that no tensor may be freed */
    step_clear(s);
    if (rc || !s->ranks)
        return rc;
    return step_give_parameters(s);
}

/* Prints the most bytes that each device held, and the most memory of the process, which contains the engine's. */
static void tell_memory(struct stepper *s)
{
    struct rusage used;
    int64_t planned = 0;
    for (uint32_t d = 0; d < s->w->ndev; d++)
        if (s->dev[d].most > 0) {
            printf("%s: %" PRId64 " bytes held at most, planned %" PRId64 "\n", s->w->dev_name[d],
                   s->dev[d].most, s->lists->peak[d]);
            planned = sat_add(planned, s->lists->peak[d]);
        }
    if (*s->e->library && getrusage(RUSAGE_SELF, &used) == 0)
        printf("process: %" PRId64 " bytes at its peak, planned for all devices %" PRId64 "\n",
               (int64_t)used.ru_maxrss * 1024, planned);
}

/* Frees sessions and tensors that go from step to step, unless messages under way may need them. */
static void free_all(struct stepper *s)
{
    if (step_is_broken(s))
        return;
    for (uint32_t x = 0; x < s->each->npart; x++)
        if (s->copy[x].loaded)
            s->e->face->unload(s->copy[x].loaded);
    for (uint32_t k = 0; k < s->nparameter; k++)
        s->e->face->value_free(s->e, s->parameter[k].value);
    for (uint32_t t = 0; t < s->each->ntensor; t++)
        s->e->face->value_free(s->e, s->sum[t]);
}

/* Opens sessions, and reads parameters that steps begin with; with ranks, gives them to those that read them.  Returns
 * 0; else what step_agree() returns after an error. */
static int prepare(struct stepper *s)
{
    bool loads = s->set.load && step_here(s, s->w->ndev);
    int rc = step_agree(s, step_open(s));
    if (!rc)
        rc = step_agree(s, loads ? load_parameters(s) : 0);
    if (!s->ranks || rc)
        return rc;
    rc = step_agree(s, step_ranks_ready(s));
    if (rc || !s->set.load)
        return rc;
    return step_give_parameters(s);
}

/* Checks the user's word on how the loss joins samples (step_confirm()).  With a process for each device that is not
 * checked, as a note of the host's process says; nor with the stub, which makes no numbers.  Returns 0, or -1 and an
 * error. */
static int confirm(struct stepper *s)
{
    if (!s->ranks)
        return *s->e->library ? step_confirm(s) : 0;
    if (step_here(s, s->w->ndev))
        diag_note(s->d, "--loss=%s is not confirmed: that takes one process for all devices",
                  s->mean ? "mean" : "sum");
    return 0;
}

int step_run(struct stepper *s)
{
    pthread_mutex_init(&s->now.lock, NULL);
    pthread_cond_init(&s->now.moved, NULL);
    enlarge_inputs(s);
    bool stops = false;
    int rc = prepare(s);
    if (!rc && s->confirm)
        rc = confirm(s);
    for (int64_t k = 0; k < s->set.steps && !rc && !*s->stop; k++) {
        stops = s->ranks && step_stops(s);
        if (stops)
            break;
        rc = run_step(s, k);
    }
    if (!rc && step_here(s, s->w->ndev)) {
        tell_memory(s);
        if (s->set.save && s->parameter[0].value) /* NULL: no step was run */
            rc = save_parameters(s);
    }
    step_ranks_close(s);
    free_all(s);
    pthread_cond_destroy(&s->now.moved);
    pthread_mutex_destroy(&s->now.lock);
    if (rc)
        return INPUT;
    return stops || *s->stop ? INTERRUPTED : 0;
}
