/* Checks, if the folder does not tell, whether the loss is a mean or a sum over samples, as the user's --loss says
 * (step.h).
 *
 * The parts run on the first micro-batch, and on a micro-batch that has its samples twice.  If the loss is a mean, both
 * make the same gradients; if it is a sum, the gradients of the second one are twice as large.  Differences of up to
 * 1e-5 of the largest gradient count as rounding.  O(two micro-batches). */
#include "tools/run/step.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The largest distance of two gradients that are the same but for rounding, as a share of the largest gradient. */
static const double TOLERANCE = 1e-5;

/* Frees a table, [value of the split], and the values in it; NULL: does nothing. */
static void free_table(struct stepper *s, struct engine_value **table)
{
    for (uint32_t v = 0; table && v < s->split.nvalue; v++)
        s->e->face->value_free(s->e, table[v]);
    free(table);
}

/* Writes to to[] the first micro-batch of the inputs from[], once or twice (times).  Inputs without an axis of the
 * batch are copied as they are.  Returns 0, or -1 with the reason in *err. */
static int repeat_inputs(struct stepper *s, struct engine_value *const *from, uint32_t times,
                         struct engine_value **to, struct engine_error *err)
{
    for (uint32_t t = 0; t < s->whole->ntensor; t++) {
        uint32_t v = s->value[t];
        int32_t axis = s->axis[t];
        if (s->whole->tensor[t].from < s->whole->npart || !from[v])
            continue;
        if (axis < 0) {
            to[v] = rows_join(s->e, &from[v], 1, 0, err);
        } else {
            const int64_t rows[3] = {0, 1, s->w->micro_batches};
            struct engine_value *one = rows_cut(s->e, from[v], axis, rows, err);
            struct engine_value *const both[2] = {one, one};
            to[v] = one ? rows_join(s->e, both, times, axis, err) : NULL;
            s->e->face->value_free(s->e, one);
        }
        if (!to[v])
            return -1;
    }
    return 0;
}

/* Runs a part on the values of a table.  Returns 0, or -1 with the reason in *err. */
static int run_part(struct stepper *s, uint32_t p, struct engine_value **table,
                    struct engine_error *err)
{
    const struct split_part *of = &s->split.part[p];
    struct engine_value **in = calloc((size_t)of->nin + 1, sizeof(void *));
    struct engine_value **out = calloc((size_t)of->nout + 1, sizeof(void *));
    int rc = in && out ? 0 : -1;
    for (uint32_t i = 0; !rc && i < of->nin; i++)
        in[i] = table[of->in[i]];
    const struct engine_call call = {.in_name = of->in_name,
                                     .in = in,
                                     .nin = of->nin,
                                     .out_name = of->out_name,
                                     .out = out,
                                     .out_bytes = of->out_bytes,
                                     .nout = of->nout};
    if (!rc)
        rc = s->e->face->run(s->copy[s->each->first_copy[p]].loaded, &call, err);
    for (uint32_t i = 0; out && i < of->nout; i++)
        if (rc)
            s->e->face->value_free(s->e, out[i]);
        else
            table[of->out[i]] = out[i];
    free(in);
    free(out);
    return rc;
}

/* Runs all parts but updates on the first micro-batch, `times` times.  Returns an array: [value of the split] the value
 * that was made; or NULL, with the reason in *err. */
static struct engine_value **run_times(struct stepper *s, struct engine_value *const *input,
                                       uint32_t times, struct engine_error *err)
{
    struct engine_value **table = calloc((size_t)s->split.nvalue + 1, sizeof(void *));
    snprintf(err->line, sizeof err->line, "out of memory");
    int rc = table ? repeat_inputs(s, input, times, table, err) : -1;
    for (uint32_t p = 0; p < s->whole->npart && !rc; p++)
        if (!s->whole->part[p].once)
            rc = run_part(s, p, table, err);
    if (!rc)
        return table;
    free_table(s, table);
    return NULL;
}

/* Compares the gradients of each parameter in two tables of values: `one` of the micro-batch as it is, `two` of a
 * micro-batch with its samples twice. */
static struct comparison compare(struct stepper *s, struct engine_value *const *one,
                                 struct engine_value *const *two)
{
    struct comparison c = {0};
    for (uint32_t k = 0; k < s->nparameter; k++) {
        if (!s->parameter[k].gradient)
            continue;
        uint32_t v = s->value[s->parameter[k].sum];
        compare_add(s->e, one[v], two[v], &c);
    }
    return c;
}

/* Returns 0 if the comparison agrees with the user's --loss, or decides nothing; else -1 and an error. */
static int judge(struct stepper *s, const struct comparison *c)
{
    bool fits[2]; /* the loss is a mean; it is a sum */
    for (int k = 0; k < 2; k++)
        fits[k] = c->off[k] <= TOLERANCE * (k + 1) * c->largest; /* sums are twice as large */
    if (c->largest <= 0) {
        diag_note(s->d, "--loss=%s is not confirmed: all gradients of the first micro-batch are 0",
                  s->mean ? "mean" : "sum");
        return 0;
    }
    if (fits[s->mean ? 0 : 1])
        return 0;
    return diag_error(s->d,
                      "--loss=%s: the same micro-batch twice makes gradients %.6g times as large: "
                      "expected %d, of a %s %d%s",
                      s->mean ? "mean" : "sum", c->both / c->one, s->mean ? 1 : 2,
                      s->mean ? "sum" : "mean", s->mean ? 2 : 1,
                      fits[s->mean ? 1 : 0] ? ""
                                            : ": it is neither, and steps over micro-batches are "
                                              "none of the whole batch");
}

int step_confirm(struct stepper *s)
{
    struct engine_error err;
    struct engine_value **input = calloc((size_t)s->split.nvalue + 1, sizeof(void *));
    if (!input)
        return diag_error(s->d, "out of memory");
    int rc = step_inputs(s, /*step=*/0, input);
    struct engine_value **one = rc ? NULL : run_times(s, input, 1, &err);
    struct engine_value **two = one ? run_times(s, input, 2, &err) : NULL;
    if (!rc && !two)
        diag_note(s->d, "--loss=%s is not confirmed: %s", s->mean ? "mean" : "sum", err.line);
    if (two) {
        const struct comparison c = compare(s, one, two);
        rc = judge(s, &c);
    }
    free_table(s, two);
    free_table(s, one);
    free_table(s, input);
    return rc;
}
