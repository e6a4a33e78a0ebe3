/* Batch sizes of a training iteration, from settings (settings.h).
 *
 * There are three: samples in a micro-batch, number of micro-batches, and samples in all micro-batches together.
 * Any two of them determine the third. */
#include "tools/lib/settings.h"

#include "ir/base/strings.h"
#include "ir/base/units.h"
#include "passes/shapes/bind_dims.h"

#include <string.h>

/* Returns the batch size at which a profile was measured, from its file name: 2 for "bert-48-pbs-2.txt"; 0 if the
 * name does not tell.  Of a number of more than 9 digits only the first 9 count, so that nothing overflows. */
static int64_t batch_of_name(const char *path)
{
    const char *at = strstr(path_base(path), "pbs-");
    int64_t n = 0;
    for (at = at ? at + strlen("pbs-") : ""; *at >= '0' && *at <= '9' && n < 100000000; at++)
        n = 10 * n + (*at - '0');
    return n;
}

/* Checks that the three sizes agree; 0: not given.  size: samples in a micro-batch; count: number of micro-batches;
 * global: samples in all of them.  Returns 0; or reports an error and returns -1. */
static int check_sizes(struct pcc *p, int64_t size, int64_t count, int64_t global)
{
    int64_t all = sat_mul(size, count);
    if (size && count && global && all != global)
        return diag_error(
            &p->diag,
            "--micro-batch-size=%lld, --micro-batches=%lld and --global-batch=%lld do "
            "not agree: %lld micro-batches of %lld samples are %lld",
            (long long)size, (long long)count, (long long)global, (long long)count, (long long)size,
            (long long)all);
    if (size && global && global % size)
        return diag_error(&p->diag,
                          "--global-batch=%lld is no whole number of micro-batches of %lld samples",
                          (long long)global, (long long)size);
    if (count && global && global % count)
        return diag_error(&p->diag,
                          "--global-batch=%lld cannot be divided into %lld equal micro-batches",
                          (long long)global, (long long)count);
    return 0;
}

/* Reads all values of an option, each of the form X=Y, into *list, and their number into *n.  expected: the form in
 * words, for the error.  Returns 0; or reports an error and returns -1. */
static int read_names(struct pcc *p, const char *option, const char *expected,
                      const struct said_names **list, uint32_t *n)
{
    struct arena *a = p->x.use.mem;
    struct said_names *to = arena_array(a, (size_t)p->ngiven + 1, sizeof *to);
    const char *text;
    *list = to;
    for (*n = 0; (text = given_nth(p, option, *n)); ++*n) {
        const char *eq = strchr(text, '=');
        if (!eq || eq == text || !eq[1])
            return diag_error(&p->diag, "--%s '%s': expected %s", option, text, expected);
        to[*n] = (struct said_names){arena_strdup(a, text, (size_t)(eq - text)), eq + 1};
    }
    return 0;
}

/* Returns the number of samples that costs are about: --profiled-batch, else what the input says, else what its name
 * says, else the batch that it is planned for; 0: not known.  own: what the input says. */
static int64_t profiled_batch(const struct pcc *p, const struct training *own)
{
    if (handle_given(p, "profiled-batch"))
        return p->x.scene.model.training.profiled;
    if (own->profiled)
        return own->profiled;
    int64_t named = batch_of_name(p->name);
    return named ? named : bind_planned_batch(&p->x);
}

int settings_training(struct pcc *p)
{
    struct training *t = &p->x.scene.model.training;
    /* an input that names the objective may also say sizes, which count unless others are given */
    const struct training own =
        handle_given(p, "objective") ? (struct training){0} : p->own_model.training;
    int64_t profiled = profiled_batch(p, &own);
    /* samples in a micro-batch, number of micro-batches, samples in all of them; 0: the user gives none */
    int64_t size = handle_given(p, "micro-batch-size") ? t->micro_size : 0;
    int64_t count = handle_given(p, "micro-batches") ? t->micro_batches : 0, global = 0;
    if (handle_given(p, "global-batch"))
        count_parse(handle_given(p, "global-batch"), &global);
    if ((size || global) && !profiled)
        return diag_error(&p->diag, "--%s needs --profiled-batch, the samples that costs are about",
                          size ? "micro-batch-size" : "global-batch");
    /* size of a micro-batch if the other two sizes do not determine it: the size that the input says, or the profiled
     * batch */
    int64_t usual = own.micro_size ? own.micro_size : profiled;
    if (!size && global && !count)
        size = usual;
    if (check_sizes(p, size, count, global) ||
        read_names(p, "gradient", "PARAMETER=VALUE", &t->gradient, &t->ngradient) ||
        read_names(p, "next", "INITIALIZER=OUTPUT", &t->next, &t->nnext))
        return -1;
    if (!size)
        size = global && count ? global / count : usual;
    if (!count)
        count = global ? global / size : larger(own.micro_batches, 1);
    if (count > TRAINING_MICRO_BATCHES)
        return diag_error(&p->diag, "%lld micro-batches: expected at most %d", (long long)count,
                          TRAINING_MICRO_BATCHES);
    t->micro_batches = (uint32_t)count;
    t->micro_size = size;
    t->profiled = profiled;
    return 0;
}
