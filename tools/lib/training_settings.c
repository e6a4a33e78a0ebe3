/* Settings of an iteration of training: batches, schedule, what links and memory have to do with it (settings.h).
 *
 * Three sizes belong together: the samples of a micro-batch, how many micro-batches there are, and the samples of all
 * of them.  Two of them give the third. */
#include "tools/lib/settings.h"

#include "ir/base/strings.h"
#include "ir/base/units.h"

#include <string.h>

/* A number >= 1; 0: it was not given; -1 and an error. */
static int64_t read_size(struct pcc *p, const char *name)
{
    const char *text = given(p, name);
    int64_t n;
    if (!text)
        return 0;
    if (!count_parse(text, &n) || n < 1 || n > UINT32_MAX)
        return diag_error(&p->diag, "--%s '%s': expected a number from 1 to %u", name, text,
                          UINT32_MAX);
    return n;
}

/* The batch that a profile was measured for, as its name says: "bert-48-pbs-2.txt". */
static int64_t batch_of_name(const char *path)
{
    const char *at = strstr(path_base(path), "pbs-");
    int64_t n = 0;
    for (at = at ? at + 4 : ""; *at >= '0' && *at <= '9' && n < 100000000; at++)
        n = 10 * n + (*at - '0');
    return n;
}

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

static int read_batches(struct pcc *p, struct training *t)
{
    int64_t size = read_size(p, "micro-batch-size"), count = read_size(p, "micro-batches");
    int64_t global = read_size(p, "global-batch"), profiled = read_size(p, "profiled-batch");
    if (size < 0 || count < 0 || global < 0 || profiled < 0)
        return -1;
    profiled = profiled ? profiled : batch_of_name(p->name);
    if ((size || global) && !profiled)
        return diag_error(&p->diag, "--%s needs --profiled-batch, the samples that costs are about",
                          size ? "micro-batch-size" : "global-batch");
    if (!size && global && !count)
        size = profiled;
    if (check_sizes(p, size, count, global))
        return -1;
    size = size ? size : global && count ? global / count : profiled;
    count = count ? count : global ? global / size : 1;
    if (count > TRAINING_MICRO_BATCHES)
        return diag_error(&p->diag, "%lld micro-batches: expected at most %d", (long long)count,
                          TRAINING_MICRO_BATCHES);
    t->micro_batches = (uint32_t)count;
    t->micro_size = size;
    t->profiled = profiled;
    return 0;
}

/* The place of a word among names, 0 if it is not given; -1 and an error. */
static int read_word(struct pcc *p, const char *name, const char *const *words)
{
    const char *text = given(p, name), *all = words[0];
    for (int i = 0; text && words[i]; i++)
        if (!strcmp(text, words[i]))
            return i;
    for (int i = 1; words[i]; i++)
        all = arena_fmt(p->x.use.mem, "%s%s%s", all, words[i + 1] ? ", " : " or ", words[i]);
    return text ? diag_error(&p->diag, "--%s '%s': expected %s", name, text, all) : 0;
}

static int read_warm_up(struct pcc *p, struct training *t)
{
    const char *text = given(p, "warmup");
    int64_t n;
    if (!text)
        return 0;
    t->warm_up = !strcmp(text, "best") ? WARM_UP_BEST
                 : !strcmp(text, "pa") ? WARM_UP_A
                 : !strcmp(text, "pb") ? WARM_UP_B
                                       : WARM_UP_COUNT;
    if (t->warm_up != WARM_UP_COUNT)
        return 0;
    if (!count_parse(text, &n) || n < 1 || n > UINT32_MAX)
        return diag_error(&p->diag, "--warmup '%s': expected best, pa, pb or a number >= 1", text);
    t->warm_up_count = (uint32_t)n;
    return 0;
}

int settings_training(struct pcc *p)
{
    static const char *const slices[] = {"whole", "any", NULL},
                             *const duplex[] = {"full", "half", NULL},
                             *const lane[] = {"shared", "own", NULL};
    struct training *t = &p->x.scene.model.training;
    const char *workspace = given(p, "workspace"), *share = given(p, "weight-gradient-share");
    if (read_batches(p, t) || read_warm_up(p, t))
        return -1;
    int schedule = read_word(p, "schedule", training_schedule_name);
    int again = read_word(p, "recompute", recompute_name), any = read_word(p, "slices", slices);
    int when = read_word(p, "allreduce-overlap", reduce_when_name);
    int half = read_word(p, "duplex", duplex), own = read_word(p, "allreduce-lane", lane);
    if (schedule < 0 || again < 0 || any < 0 || half < 0 || own < 0 || when < 0)
        return -1;
    t->schedule = (enum training_schedule)schedule;
    bool size = given(p, "micro-batch-size") || given(p, "micro-batches");
    p->settings.trained =
        (size ? TRAINING_SAID_SIZE : 0U) | (given(p, "schedule") ? TRAINING_SAID_SCHEDULE : 0U);
    t->recompute = (enum recompute)again;
    t->any_slices = any == 1;
    t->half_duplex = half == 1;
    t->reduce_when = (enum reduce_when)when;
    t->own_reduce_lane = own == 1;
    int64_t each = read_size(p, "stages-per-device");
    if (each < 0)
        return -1;
    t->per_device = (uint32_t)each;
    if (workspace && !bytes_parse(workspace, &t->workspace))
        return diag_error(&p->diag, "--workspace '%s': expected a size such as 1GiB", workspace);
    if (share && !share_parse(share, &t->weight_share))
        return diag_error(&p->diag, "--weight-gradient-share '%s': expected a share in 0.000001..1",
                          share);
    return 0;
}
