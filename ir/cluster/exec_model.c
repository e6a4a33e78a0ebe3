/* The settings of an execution model, and the loads and copies of weights that follow from it (exec_model.h).
 *
 * Source: the placement paper, 5.1 (loads), H.1 (overlap) and H.2 (copies).  O(1) each. */
#include "ir/cluster/exec_model.h"

#include "ir/base/units.h"

#include <assert.h>
#include <string.h>

/* ps that ONNX Runtime takes to run a part with four tensors, beside the times of its nodes, on a CPU of a server */
static const int64_t RUNTIME_PART_COST = 5 * (PS_PER_S / 1000000);

const char *const training_schedule_name[TRAINING_SCHEDULES + 1] = {
    "dapple", "gpipe", "zb-h1", "interleaved", "pipedream", NULL};
const char *const network_name[NETWORKS + 1] = {"host", "direct", NULL};
const char *const contention_name[CONTENTIONS + 1] = {"port", "none",     "link",   "half",
                                                      "rx",   "blocking", "baechi", NULL};
const char *const dispatch_name[DISPATCHES + 1] = {"plan", "fifo", "level", NULL};
const char *const cpus_name[CPUS_WAYS + 1] = {"list", "unbounded", NULL};
const char *const pieces_name[PIECES_WAYS + 1] = {"exclusive", "apart", NULL};
const char *const memory_model_name[MEMORY_MODELS + 1] = {"", "sum", "live", "paper", NULL};

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define FIELD(name) offsetof(struct exec_model, name)

/* The rows stand in the order in which the textual IR has the settings. */
const struct opt exec_settings[] = {
    {OPT_CHOICE, "io", FIELD(io_free), .bytes = 1, .names = WORDS("paid", "free"),
     .help = "whether model inputs and outputs cost transfers (default: paid)", .topic = IN_COSTS,
     .key = "io_free", .with = WITH_SHOWN},
    {OPT_SHARE, "efficiency", FIELD(efficiency),
     .help = "share of the peak rates that is reached (default: 1.0)", .topic = IN_COSTS,
     .with = WITH_SHOWN},
    {OPT_CHOICE, "overlap", FIELD(overlap), .bytes = 4, .names = WORDS("sum", "max", "duplex"),
     .help =
         "transfers of a device after its computing, beside it, or in and out apart (default: sum)",
     .topic = IN_COSTS, .with = WITH_PLAN},
    {OPT_CHOICE, "objective", FIELD(objective), .bytes = 4, /* names come from exec_values() */
     .help = "what the plan is to make small: the time of each of many samples, that of one alone "
             "(latency: by subgraphs), or of a training iteration (default: time-per-sample)",
     .topic = IN_PLANNING, .with = WITH_PLAN},
    {OPT_CHOICE, "network", FIELD(step.network), .bytes = 4, .names = network_name,
     .help =
         "one sample: between two accelerators over the host, two hops, or in one (default: host)",
     .topic = IN_DEVICES, .about = ABOUT_STEP, .in_plans = true},
    {OPT_CHOICE, "contention", FIELD(step.contention), .bytes = 4, .names = contention_name,
     .help = "one sample: what a transfer holds while it lasts (default: port; docs/goals.md)",
     .topic = IN_COSTS, .about = ABOUT_STEP, .in_plans = true,
     .rare = 1U << CONTENTION_HALF | 1U << CONTENTION_RX | 1U << CONTENTION_BAECHI,
     .rare_help =
         "as programs have it that pcc is compared with: one channel for both ways, the receiver's "
         "channel alone, or channels that are booked ahead of time"},
    {OPT_CHOICE, "dispatch", FIELD(step.dispatch), .bytes = 4, .names = dispatch_name,
     .help =
         "one sample: who is next on a device: by the plan, by becoming ready, by the longest way to "
         "the end (default: plan)",
     .topic = IN_COSTS, .about = ABOUT_STEP, .in_plans = true},
    {OPT_CHOICE, "memory-model", FIELD(memory), .bytes = 4, .names = memory_model_name,
     .help =
         "a device has room for all that its nodes make, or for what is there at once (default: live; "
         "sum where a file states the memory of nodes)",
     .topic = IN_COSTS, .about = ABOUT_STEP | ABOUT_SUBGRAPHS | ABOUT_ROUNDS, .in_plans = true,
     .rare = 1U << MEMORY_PAPER, .rare_help = "room by the table of Baechi's paper"},
    {OPT_INT, "in-flight", FIELD(in_flight), .bytes = 4, .lo = "1", .hi = "1048576",
     .names = WORDS("auto"),
     .help = "samples on their way at once, for which devices have room, and which a folder's "
             "schedule.json is worked out for (default: as many as ever meet)",
     .topic = IN_PLANNING, .arg = "N", .about = ABOUT_ROUNDS, .in_plans = true},
    {OPT_CHOICE, "optimizer", FIELD(optimizer), .bytes = 4, .names = WORDS("0", "1", "2", "3", "4"),
     .help =
         "one sample, iteration: copies of the weights that an optimizer keeps beside them, in training: "
         "1 for momentum, 2 for Adam (default: 0, or those that the model has)",
     .topic = IN_TRAINING, .arg = "COPIES", .with = WITH_BACKWARD,
     .about = ABOUT_STEP | ABOUT_ITERATION, .in_plans = true},
    {OPT_CHOICE, "cpus", FIELD(latency.cpus), .bytes = 4, .names = cpus_name,
     .help =
         "latency: hosts' nodes run on the CPUs there are, or on as many as need be (default: list)",
     .topic = IN_COMPARING, .about = ABOUT_SUBGRAPHS, .in_plans = true},
    {OPT_CHOICE, "pieces", FIELD(latency.pieces), .bytes = 4, .names = pieces_name,
     .help =
         "latency: subgraphs of an accelerator that have no slots keep out of each other's way, or may "
         "run at once (default: exclusive)",
     .topic = IN_COMPARING, .about = ABOUT_SUBGRAPHS, .in_plans = true},
    /* this key is the one for iterations; for the time per sample ir/text writes the setting with the key "schedule" */
    {OPT_CHOICE, "schedule", FIELD(training.schedule), .bytes = 4, .names = training_schedule_name,
     .help = "in which order a pipeline trains (default: dapple); time-per-sample knows pipedream, "
             "forward and backward in turn (default), and gpipe, one after the other",
     .topic = IN_TRAINING, .key = "training", .with = WITH_PLAN | WITH_BACKWARD, .in_plans = true},
    {OPT_BOOL, "replicate", FIELD(replicate),
     .help =
         "a stage may run on several devices, which take turns (auto-, anneal-, dp- and dpl-place)",
     .topic = IN_DEVICES, .with = WITH_PLAN},
    {OPT_INT, "micro-batches", FIELD(training.micro_batches), .bytes = 4, .lo = "1",
     .hi = "1000000", .help = "into how many micro-batches the batch is divided (default: 1)",
     .topic = IN_TRAINING, .about = ABOUT_ITERATION, .in_plans = true},
    {OPT_INT, "micro-batch-size", FIELD(training.micro_size), .lo = "1", .hi = "4294967295",
     .help = "samples of a micro-batch", .topic = IN_TRAINING, .key = "micro_size",
     .about = ABOUT_ITERATION, .in_plans = true},
    {OPT_INT, "profiled-batch", FIELD(training.profiled), .lo = "1", .hi = "4294967295",
     .help = "samples that costs are about (default: as in a name like bert-pbs-2.txt)",
     .topic = IN_TRAINING, .key = "profiled", .about = ABOUT_ITERATION, .in_plans = true},
    {OPT_INT, "stages-per-device", FIELD(training.per_device), .bytes = 4, .lo = "1",
     .hi = "4294967295",
     .help = "interleaved: how many stages a device has (default: more as long as that helps)",
     .topic = IN_TRAINING, .key = "per_device", .about = ABOUT_ITERATION},
    {OPT_INT, "warmup", FIELD(training.warm_up), .names = WORDS("best", "pa", "pb"), .lo = "1",
     .hi = "4294967295",
     .help =
         "forward passes before a stage's first backward one, by DAPPLE's policies (default: best)",
     .topic = IN_TRAINING, .key = "warm_up", .about = ABOUT_ITERATION},
    {OPT_CHOICE, "recompute", FIELD(training.recompute), .bytes = 4,
     .names = WORDS("auto", "none", "all"),
     .help =
         "run forward once more before backward, to keep less (default: auto, where it must be)",
     .topic = IN_TRAINING, .about = ABOUT_ITERATION},
    {OPT_CHOICE, "allreduce-overlap", FIELD(training.reduce_when), .bytes = 4,
     .names = WORDS("after", "beside", "across"),
     .help =
         "gradients are exchanged after a stage's last backward pass, beside it, or also beside the "
         "next forward pass (default: after)",
     .topic = IN_TRAINING, .key = "reduce_when", .about = ABOUT_ITERATION, .in_plans = true},
    {OPT_CHOICE, "update", FIELD(training.update), .bytes = 4,
     .names = WORDS("auto", "apart", "within"),
     .help =
         "iteration: parameters are updated in parts of their own, once, or within the parts that make "
         "gradients (default: auto, apart where there are several micro-batches)",
     .topic = IN_TRAINING, .about = ABOUT_ITERATION},
    {OPT_BOOL, "allow-batch-dependence", FIELD(training.mixing),
     .help = "iteration: updates apart also where operators take samples of a batch together",
     .topic = IN_TRAINING, .about = ABOUT_ITERATION},
    {OPT_CHOICE, "loss", FIELD(training.loss), .bytes = 4, .names = WORDS("", "mean", "sum"),
     .help =
         "iteration: how the loss joins samples, where the model does not show it; pcc-run tries it",
     .topic = IN_TRAINING, .about = ABOUT_ITERATION},
    {OPT_BYTES, "workspace", FIELD(training.workspace),
     .help = "memory of a device beside weights and activations (default: 0)", .topic = IN_TRAINING,
     .like = "1GiB", .about = ABOUT_ITERATION, .in_plans = true},
    {OPT_SHARE, "weight-gradient-share", FIELD(training.weight_share),
     .help = "zb-h1: share of backward that makes gradients of weights (default: 0.5)",
     .topic = IN_TRAINING, .key = "weight_share", .about = ABOUT_ITERATION},
    {OPT_CHOICE, "duplex", FIELD(training.half_duplex), .bytes = 1, .names = WORDS("full", "half"),
     .help = "whether a link moves values and gradients at a time (default: full)",
     .topic = IN_TRAINING, .key = "half_duplex", .about = ABOUT_ITERATION, .in_plans = true},
    {OPT_CHOICE, "slices", FIELD(training.any_slices), .bytes = 1, .names = WORDS("whole", "any"),
     .help =
         "iteration: whether a device's share of a micro-batch is whole samples (default: whole)",
     .topic = IN_COMPARING, .key = "any_slices", .about = ABOUT_ITERATION, .in_plans = true},
    {OPT_CHOICE, "allreduce-lane", FIELD(training.own_reduce_lane), .bytes = 1,
     .names = WORDS("shared", "own"),
     .help = "iteration: whether an AllReduce takes the link to the stage before (default: shared)",
     .topic = IN_COMPARING, .key = "own_reduce_lane", .about = ABOUT_ITERATION, .in_plans = true},
    {OPT_TIME, "part-cost", FIELD(part_cost), .lo = "0s", .hi = "1s",
     .help = "what a part costs its device beside computing, a sample or pass (default: 5us; 0 "
             "for a model that comes with times)",
     .topic = IN_COSTS, .like = "20us", .with = WITH_PLAN},
    {OPT_RATE, "sync", FIELD(sync_bandwidth), .lo = "1B/s",
     .help = "bytes per second between copies of a training stage (default: the link's)",
     .topic = IN_TRAINING, .like = "25GB/s", .with = WITH_PLAN | WITH_COPIES | WITH_BACKWARD},
    {0}};

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

const struct opt *exec_setting(const char *name)
{
    const struct opt *o = exec_settings;
    while (o->name && strcmp(o->name, name))
        o++;
    assert(o->name);
    return o;
}

uint64_t exec_bit(const struct opt *o)
{
    assert(o >= exec_settings && o - exec_settings < 64);
    return UINT64_C(1) << (o - exec_settings);
}

struct opt exec_values(const struct exec_model *e, const struct opt *o, struct arena *a)
{
    struct opt own = *o;
    uint32_t n = e->kinds ? 0 : 1;
    if (own.kind != OPT_CHOICE || own.names)
        return own;
    while (e->kinds && e->kinds[n])
        n++;
    const char **names = arena_array(a, (size_t)n + 1, sizeof *names);
    for (uint32_t i = 0; i < n; i++)
        names[i] = exec_kind_of(e, i)->name;
    own.names = names;
    return own;
}

bool exec_counts(const struct exec_model *e, const struct opt *o)
{
    return !o->about || o->about & exec_kind(e)->about;
}

const char *exec_told(const struct exec_model *e, const struct opt *o, struct arena *a)
{
    /* not ABOUT_ITERATION: the object "training" has the settings of iterations */
    unsigned alone = ABOUT_STEP | ABOUT_SUBGRAPHS | ABOUT_ROUNDS;
    if (!o->in_plans || !(o->about & exec_kind(e)->about & alone))
        return NULL;
    if (o->off == FIELD(memory))
        return memory_model_name[exec_memory(e)];
    const char *word = opt_get(o, e, a);
    /* not told: a value of "0", and the samples in flight if they have no limit */
    return strcmp(word, "0") && !(o->off == FIELD(in_flight) && !e->in_flight) ? word : NULL;
}

int exec_objective(const struct exec_model *e, const char *name)
{
    /* without a table there is one row */
    for (uint32_t i = 0; e->kinds ? e->kinds[i] != NULL : i == 0; i++)
        if (!strcmp(exec_kind_of(e, i)->name, name))
            return (int)i;
    return -1;
}

bool exec_apart(const struct exec_model *e)
{
    return exec_kind(e)->feed != FEED_MICRO_BATCHES && e->training.schedule == TRAINING_GPIPE;
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
    unsigned about = exec_kind(e)->about;
    if (about & ABOUT_STEP)
        return e->memory != MEMORY_USUAL ? e->memory : MEMORY_LIVE;
    if (!(about & ABOUT_PARTS) || !e->sized)
        return MEMORY_SUM;
    if (e->memory == MEMORY_SUM || e->memory == MEMORY_LIVE)
        return e->memory;
    return e->by_nodes ? MEMORY_SUM : MEMORY_LIVE;
}

bool exec_live_parts(const struct exec_model *e)
{
    return exec_kind(e)->about & ABOUT_PARTS && exec_memory(e) == MEMORY_LIVE;
}

int64_t exec_weight_copies(const struct exec_model *e, bool training)
{
    unsigned about = exec_kind(e)->about;
    if (!training || !(about & (ABOUT_STEP | ABOUT_ITERATION)))
        return 1;
    bool gradients = about & ABOUT_ITERATION || exec_memory(e) == MEMORY_PAPER;
    return 1 + gradients + (int64_t)e->optimizer;
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

int64_t training_time(const struct training *t, int64_t ps, int64_t overhead, uint32_t n)
{
    assert(overhead >= 0 && overhead <= ps);
    return sat_add(overhead, training_share(t, ps - overhead, n));
}

int64_t exec_usual_part_cost(bool brings_times)
{
    return brings_times ? 0 : RUNTIME_PART_COST;
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

/* Returns the bytes per second of the link between two devices of class cls.  inner: whether both are in one group;
 * then the faster of the link and the inner link counts. */
static int64_t rate_between(const struct device_class *cls, bool inner)
{
    int64_t rate = cls->link_bandwidth;
    if (!inner || cls->group < 2)
        return rate;
    /* the inner link is given only by the share of the link's time that a transfer takes on it */
    if (!cls->inner_bandwidth && cls->inner_share)
        return larger(rate, mul_div_ceil(rate, 1000000, cls->inner_share));
    return larger(rate, cls->inner_bandwidth);
}

int64_t exec_sync(const struct exec_model *e, const struct device_class *cls, bool inner,
                  int64_t weights, uint32_t copies)
{
    assert(weights >= 0);
    int64_t rate = e->sync_bandwidth ? e->sync_bandwidth : rate_between(cls, inner);
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
