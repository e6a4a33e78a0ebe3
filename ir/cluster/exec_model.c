/* What a device's work takes under an execution model (exec_model.h).
 *
 * Source: the placement paper, 5.1 (loads), H.1 (overlap) and H.2 (copies).  O(1) each. */
#include "ir/cluster/exec_model.h"

#include "ir/base/units.h"

#include <assert.h>
#include <string.h>

const char *const training_schedule_name[TRAINING_SCHEDULES + 1] = {
    "dapple", "gpipe", "zb-h1", "interleaved", "pipedream", NULL};
const char *const reduce_when_name[REDUCE_WHENS + 1] = {"after", "beside", "across", NULL};
const char *const recompute_name[RECOMPUTES + 1] = {"auto", "none", "all", NULL};
const char *const overlap_name[OVERLAPS + 1] = {"sum", "max", "duplex", NULL};
const char *const micro_schedule_name[MICRO_SCHEDULES + 1] = {"pipedream", "gpipe", NULL};
const char *const network_name[NETWORKS + 1] = {"host", "direct", NULL};
const char *const contention_name[CONTENTIONS + 1] = {"port", "none",     "link",   "half",
                                                      "rx",   "blocking", "baechi", NULL};
const char *const dispatch_name[DISPATCHES + 1] = {"plan", "fifo", "level", NULL};
const char *const cpus_name[CPUS_WAYS + 1] = {"list", "unbounded", NULL};
const char *const pieces_name[PIECES_WAYS + 1] = {"exclusive", "apart", NULL};
const char *const memory_model_name[MEMORY_MODELS + 1] = {"usual", "sum", "live", "paper", NULL};

const char *const basis_key[BASES + 1] = {"objective", "network",      "contention",
                                          "dispatch",  "memory_model", "optimizer",
                                          "cpus",      "pieces",       NULL};
static const char *const optimizer_name[] = {"0", "1", "2", "3", "4", NULL};

const struct exec_kind *exec_kind_of(const struct exec_model *e, uint32_t objective)
{
    static const struct exec_kind usual = {EXEC_USUAL};
    assert(e->kinds || objective == TIME_PER_SAMPLE);
    return e->kinds ? e->kinds[objective] : &usual;
}

const struct exec_kind *exec_kind(const struct exec_model *e)
{
    return exec_kind_of(e, e->objective);
}

const char *basis_word(const struct exec_model *e, enum basis b, uint32_t number)
{
    static const struct {
        const char *const *word;
        uint32_t n;
    } t[BASES] = {
        [BASIS_NETWORK] = {network_name, NETWORKS},
        [BASIS_CONTENTION] = {contention_name, CONTENTIONS},
        [BASIS_DISPATCH] = {dispatch_name, DISPATCHES},
        [BASIS_MEMORY] = {memory_model_name, MEMORY_MODELS},
        [BASIS_OPTIMIZER] = {optimizer_name, sizeof optimizer_name / sizeof *optimizer_name},
        [BASIS_CPUS] = {cpus_name, CPUS_WAYS},
        [BASIS_PIECES] = {pieces_name, PIECES_WAYS}};
    assert(b < BASES);
    if (b != BASIS_OBJECTIVE)
        return number < t[b].n ? t[b].word[number] : NULL;
    for (uint32_t i = 0; i <= number; i++)
        if (e->kinds ? !e->kinds[i] : i > 0)
            return NULL;
    return exec_kind_of(e, number)->name;
}

uint32_t basis_get(const struct exec_model *e, enum basis b)
{
    const uint32_t number[BASES] = {e->objective,     e->step.network,  e->step.contention,
                                    e->step.dispatch, e->memory,        e->optimizer,
                                    e->latency.cpus,  e->latency.pieces};
    assert(b < BASES);
    return number[b];
}

void basis_set(struct exec_model *e, enum basis b, uint32_t number)
{
    switch (b) {
    case BASIS_OBJECTIVE:
        e->objective = number;
        break;
    case BASIS_NETWORK:
        e->step.network = (enum network)number;
        break;
    case BASIS_CONTENTION:
        e->step.contention = (enum contention)number;
        break;
    case BASIS_DISPATCH:
        e->step.dispatch = (enum dispatch)number;
        break;
    case BASIS_MEMORY:
        e->memory = (enum memory_model)number;
        break;
    case BASIS_OPTIMIZER:
        e->optimizer = number;
        break;
    case BASIS_CPUS:
        e->latency.cpus = (enum cpus)number;
        break;
    case BASIS_PIECES:
        e->latency.pieces = (enum pieces_run)number;
        break;
    case BASES:
        assert(false);
    }
}

bool basis_counts(const struct exec_model *e, enum basis b)
{
    return exec_kind(e)->fields >> b & 1;
}

/* The number of the first word that people use: "usual" is none of theirs. */
static uint32_t first_word(enum basis b)
{
    return b == BASIS_MEMORY;
}

int basis_find(const struct exec_model *e, enum basis b, const char *word)
{
    const char *known;
    for (uint32_t i = first_word(b); (known = basis_word(e, b, i)); i++)
        if (!strcmp(known, word))
            return (int)i;
    return -1;
}

const char *basis_choices(const struct exec_model *e, enum basis b, struct arena *a)
{
    uint32_t i = first_word(b);
    const char *text = basis_word(e, b, i), *word;
    while ((word = basis_word(e, b, ++i)))
        text = arena_fmt(a, "%s%s%s", text, basis_word(e, b, i + 1) ? ", " : " or ", word);
    return text;
}

const char *exec_refuses(const struct exec_model *e, struct arena *a)
{
    if (e->step.contention >= CONTENTION_BLOCKING && e->step.network != NETWORK_DIRECT)
        return arena_fmt(a, "--contention=%s needs --network=direct",
                         contention_name[e->step.contention]);
    return NULL;
}

enum memory_model exec_memory(const struct exec_model *e)
{
    if (!basis_counts(e, BASIS_MEMORY))
        return MEMORY_SUM;
    return e->memory == MEMORY_USUAL ? MEMORY_LIVE : e->memory;
}

int64_t exec_weight_copies(const struct exec_model *e, bool training)
{
    bool stages = exec_kind(e)->feed == FEED_MICRO_BATCHES;
    if (!training || (!stages && !basis_counts(e, BASIS_OPTIMIZER)))
        return 1;
    if (stages)
        return 2 + (int64_t)e->optimizer;
    return 1 + (exec_memory(e) == MEMORY_PAPER) + (int64_t)e->optimizer;
}

uint32_t training_count(const struct training *t)
{
    return t->micro_batches ? t->micro_batches : 1;
}

int64_t training_share(const struct training *t, int64_t x, uint32_t n)
{
    if (!t->micro_size)
        return mul_div_ceil(x, 1, n);
    return mul_div_ceil(x, t->micro_size, sat_mul(t->profiled, n));
}

int64_t exec_efficiency(const struct exec_model *e)
{
    return e->efficiency ? e->efficiency : 1000000;
}

int64_t exec_load(const struct exec_model *e, int64_t compute, int64_t in, int64_t out)
{
    assert(compute >= 0 && in >= 0 && out >= 0);
    if (e->overlap == OVERLAP_SUM)
        return sat_add(compute, sat_add(in, out));
    int64_t move = e->overlap == OVERLAP_MAX ? sat_add(in, out) : larger(in, out);
    return larger(compute, move);
}

int64_t exec_sync(const struct exec_model *e, const struct device_class *cls, int64_t weights,
                  uint32_t copies)
{
    assert(weights >= 0);
    int64_t rate = e->sync_bandwidth ? e->sync_bandwidth : cls->link_bandwidth;
    if (copies < 2 || rate <= 0)
        return 0;
    return mul_div_ceil(sat_mul(weights, copies - 1), PS_PER_S, sat_mul(rate, copies));
}

int64_t exec_shared_load(const struct exec_model *e, int64_t load, int64_t sync, uint32_t copies)
{
    assert(load >= 0 && sync >= 0);
    if (copies < 2 || load == INT64_MAX)
        return load;
    int64_t share = load / copies + (load % copies != 0);
    if (e->overlap == OVERLAP_SUM)
        return sat_add(share, sync);
    return larger(share, sync);
}
