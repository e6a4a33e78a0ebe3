/* What a device's work takes under an execution model (exec_model.h).
 *
 * Source: the placement paper, 5.1 (loads), H.1 (overlap) and H.2 (copies).  O(1) each. */
#include "ir/cluster/exec_model.h"

#include "ir/base/units.h"

#include <assert.h>
#include <string.h>

const char *const objective_name[OBJECTIVES + 1] = {"time-per-sample", "makespan", "iteration-time",
                                                    "latency", NULL};
const char *const objective_text[OBJECTIVES] = {"time per sample", "makespan", "iteration time",
                                                "latency"};
const char *const objective_unit[OBJECTIVES] = {"per sample", "of makespan", "per iteration",
                                                "of latency"};
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

const char *const *basis_words(enum basis b)
{
    static const char *const *const words[BASES] = {
        objective_name,    network_name,   contention_name, dispatch_name,
        memory_model_name, optimizer_name, cpus_name,       pieces_name};
    assert(b < BASES);
    return words[b];
}

uint32_t basis_get(const struct exec_model *e, enum basis b)
{
    const uint32_t word[BASES] = {e->objective,     e->step.network,  e->step.contention,
                                  e->step.dispatch, e->memory,        e->optimizer,
                                  e->latency.cpus,  e->latency.pieces};
    assert(b < BASES);
    return word[b];
}

void basis_set(struct exec_model *e, enum basis b, uint32_t word)
{
    switch (b) {
    case BASIS_OBJECTIVE:
        e->objective = (enum objective)word;
        break;
    case BASIS_NETWORK:
        e->step.network = (enum network)word;
        break;
    case BASIS_CONTENTION:
        e->step.contention = (enum contention)word;
        break;
    case BASIS_DISPATCH:
        e->step.dispatch = (enum dispatch)word;
        break;
    case BASIS_MEMORY:
        e->memory = (enum memory_model)word;
        break;
    case BASIS_OPTIMIZER:
        e->optimizer = word;
        break;
    case BASIS_CPUS:
        e->latency.cpus = (enum cpus)word;
        break;
    case BASIS_PIECES:
        e->latency.pieces = (enum pieces_run)word;
        break;
    case BASES:
        assert(false);
    }
}

bool basis_counts(const struct exec_model *e, enum basis b)
{
    if (b == BASIS_CPUS || b == BASIS_PIECES)
        return e->objective == OBJECTIVE_LATENCY;
    return b != BASIS_OBJECTIVE && e->objective == OBJECTIVE_MAKESPAN;
}

int basis_find(enum basis b, const char *word)
{
    const char *const *names = basis_words(b);
    for (int i = b == BASIS_MEMORY; names[i]; i++) /* "usual" is no word for people */
        if (!strcmp(names[i], word))
            return i;
    return -1;
}

const char *basis_choices(enum basis b, struct arena *a)
{
    const char *const *names = basis_words(b) + (b == BASIS_MEMORY), *text = names[0];
    for (int i = 1; names[i]; i++)
        text = arena_fmt(a, "%s%s%s", text, names[i + 1] ? ", " : " or ", names[i]);
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
    if (e->objective != OBJECTIVE_MAKESPAN)
        return MEMORY_SUM;
    return e->memory == MEMORY_USUAL ? MEMORY_LIVE : e->memory;
}

int64_t exec_weight_copies(const struct exec_model *e, bool training)
{
    if (!training || e->objective == OBJECTIVE_SAMPLE || e->objective == OBJECTIVE_LATENCY)
        return 1;
    if (e->objective == OBJECTIVE_ITERATION)
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
