/* The execution model: how a plan runs on the devices of a cluster, and what makes one better than another.
 *
 * The cluster says what the hardware is; this says what a runtime makes of it: whether transfers hide
 * behind computing, in which order a pipeline trains, what parts and copies cost beside computing.
 * Everything that tells a time (planners, judge, rounds) asks here.  A zeroed struct is what is usual. */
#ifndef PCC_IR_CLUSTER_EXEC_MODEL_H
#define PCC_IR_CLUSTER_EXEC_MODEL_H

#include "ir/base/options.h"
#include "ir/cluster/cluster.h"

/* The samples that go through a plan. */
enum exec_feed {
    FEED_STEADY,       /* samples behind each other, without end: devices work on several at once */
    FEED_ALONE,        /* a single sample */
    FEED_MICRO_BATCHES /* the micro-batches of an iteration of training, through stages */
};

/* Kinds of runs, as bits.  A setting has an effect in an execution model if both have a bit in common. */
enum {
    ABOUT_STEP = 1,      /* one sample, node by node: hops, dispatch, live memory */
    ABOUT_SUBGRAPHS = 2, /* one sample, by subgraphs */
    ABOUT_ITERATION = 4  /* an iteration of training */
};

/* An execution model: the time (ps) that plans are to make small, and how a plan runs.  The models are rows of a table
 * (tools/lib/exec/kinds.c; the README.md beside it adds one), which ends with NULL and begins with the time per
 * sample. ir, backends and passes each declare their own part of a model: runs, shows, plans. */
struct exec_kind {
    const char *name;  /* "iteration-time": of --objective and in files */
    const char *text;  /* "iteration time": what a value is */
    const char *unit;  /* "per iteration": stands behind a value */
    const char *paper; /* the value's key in the placement paper's splits; NULL: they have none */
    enum exec_feed feed;
    bool subgraphs; /* accelerators run whole subgraphs, by slots; hosts of a class are one place */
    /* ABOUT_*: settings that change values, beside the settings common to all models */
    unsigned about;
    /* ir/exec/exec_runs.h; NULL: plans are not run, load_verdict() alone */
    const struct exec_runs *runs;
    const struct exec_shows *shows; /* backends/backends.h */
    const struct exec_plans *plans; /* passes/passes.h; NULL: no planner of its own */
};
/* How the row of the time per sample begins, which is also what a model without a table has. */
#define EXEC_USUAL                                                                                 \
    .name = "time-per-sample", .text = "time per sample", .unit = "per sample", .paper = "maxLoad"
enum { TIME_PER_SAMPLE }; /* its row in kinds */

/* How the transfers of a device go with its computing (placement paper, H.1): SUM: one after the other; MAX: at the
 * same time, for different samples; DUPLEX: so, and transfers in and out at the same time, too. */
enum overlap { OVERLAP_SUM, OVERLAP_MAX, OVERLAP_DUPLEX, OVERLAPS };

/* How a value gets from device to device.  HOST: out over the link of the device that made it, once, then in over
 * the link of each device that reads it; over the inner links if all that have to do with the value are of one group.
 * DIRECT: in one hop, by their route (cluster_route): over the link of the two devices, if the cluster names one;
 * else over that of the device that made it, or over its inner link if both are of one group.  Between the host and a
 * device there is one hop always, over the device's link; between devices of host classes a value is there at once. */
enum network { NETWORK_HOST, NETWORK_DIRECT, NETWORKS };

/* What a hop holds while it lasts.  PORT: the out-port of the sender and the in-port of the receiver.  NONE: nothing.
 * LINK: the way from one device (or the host) to the other.  HALF: the one channel of each.  RX: what the receiver
 * takes in by.  BLOCKING: the computing lanes of both; DIRECT only.  BAECHI: channels that are booked ahead of time, to
 * compare with Baechi's figures (booked.h); DIRECT only; nodes are taken as they become ready, whatever the dispatch.
 * The host holds nothing but a way. */
enum contention {
    CONTENTION_PORT,
    CONTENTION_NONE,
    CONTENTION_LINK,
    CONTENTION_HALF,
    CONTENTION_RX,
    CONTENTION_BLOCKING,
    CONTENTION_BAECHI,
    CONTENTIONS
};

/* Which ready node a device takes next: the first in the plan's order, the first that became ready, or the one with
 * the longest path to the end, hops included; ties by number. */
enum dispatch { DISPATCH_PLAN, DISPATCH_FIFO, DISPATCH_LEVEL, DISPATCHES };

/* Settings of a step. */
struct step_model {
    enum network network;
    enum contention contention;
    enum dispatch dispatch;
};

/* The bytes that must fit a device.  SUM: all results of its nodes, and the weights.  LIVE: the results that exist at
 * the same time while the step runs, and the weights.  PAPER: by the table of Baechi-PyTorch's paper
 * (paper_memory.h).  USUAL: LIVE.  The time per sample always uses SUM: several samples are on their way at once. */
enum memory_model { MEMORY_USUAL, MEMORY_SUM, MEMORY_LIVE, MEMORY_PAPER, MEMORY_MODELS };

/* The CPUs that run host nodes in a latency.  LIST: the cluster's CPUs, one node each at a time.  UNBOUNDED: as many
 * CPUs as there are ready nodes. */
enum cpus { CPUS_LIST, CPUS_UNBOUNDED, CPUS_WAYS };
/* Whether subgraphs of one accelerator that have no slots keep out of each other's way, or run at once, as the
 * placement paper evaluated them. */
enum pieces_run { PIECES_EXCLUSIVE, PIECES_APART, PIECES_WAYS };

struct latency_model {
    enum cpus cpus;
    enum pieces_run pieces;
};

/* In which order stages train.  For the time per sample there are two (placement paper, 5.3 and D; exec_apart): GPIPE,
 * all forward samples of a batch before the backward ones, else a forward and a backward sample in turn.  For an
 * iteration, DAPPLE: some micro-batches forward, then a backward and a forward one in turn.  GPIPE: all forward, then
 * all backward.  ZB_H1: as DAPPLE, with the gradients of weights apart.  INTERLEAVED: a device has several stages and
 * takes a few micro-batches through each in turn.  PIPEDREAM: as DAPPLE, without end, and devices of a stage take
 * micro-batches in turn rather than in slices. */
enum training_schedule {
    TRAINING_DAPPLE,
    TRAINING_GPIPE,
    TRAINING_ZB_H1,
    TRAINING_INTERLEAVED,
    TRAINING_PIPEDREAM,
    TRAINING_SCHEDULES
};

/* How many forward passes a stage does before its first backward pass, if it is no number >= 1.  A, B: DAPPLE's
 * policies; BEST: whichever is better. */
enum { WARM_UP_B = -2, WARM_UP_A = -1, WARM_UP_BEST = 0 };

/* Whether stages run forward once more before backward, rather than keep what it made. */
enum recompute { RECOMPUTE_AUTO, RECOMPUTE_NONE, RECOMPUTE_ALL, RECOMPUTES };

/* When the gradients of a stage are exchanged.  AFTER: after its last backward pass.  BESIDE: each as soon as it is
 * there in that pass.  ACROSS: so, and beside the first forward pass of the next iteration. */
enum reduce_when { REDUCE_AFTER, REDUCE_BESIDE, REDUCE_ACROSS, REDUCE_WHENS };

enum { TRAINING_MICRO_BATCHES = 1000000 }; /* at most */

/* An iteration of training.  Zero: one micro-batch of the size that costs are about. */
struct training {
    uint32_t micro_batches; /* 0: one */
    int64_t micro_size;     /* samples of a micro-batch, and of what costs are about; 0: the same */
    int64_t profiled;
    enum training_schedule schedule;
    uint32_t per_device; /* INTERLEAVED: how many stages a device has; 0: planners choose */
    int64_t warm_up;
    enum recompute recompute;
    enum reduce_when reduce_when;
    bool half_duplex;     /* a link moves values or gradients, not both at a time */
    bool any_slices;      /* a device's share of a micro-batch may be a part of a sample */
    bool own_reduce_lane; /* AllReduces take nothing of the links between stages */
    int64_t workspace;    /* bytes of each device beside weights and activations */
    /* millionths of a backward pass that make gradients of weights; 0: a half */
    int64_t weight_share;
};

/* How many micro-batches an iteration has, at least one. */
uint32_t training_count(const struct training *t);
/* Scales x (ps or bytes of the whole cost) to one micro-batch on each of n devices that share the micro-batch;
 * rounded up once. */
int64_t training_share(const struct training *t, int64_t x, uint32_t n);

struct exec_model {
    uint32_t objective;                   /* a row of kinds */
    const struct exec_kind *const *kinds; /* all that there are; NULL: the time per sample alone */
    struct training training;
    struct step_model step;
    struct latency_model latency;
    enum memory_model memory; /* read with exec_memory */
    uint32_t optimizer; /* copies of the weights that the optimizer keeps beside them: 2 for Adam */
    enum overlap overlap;
    bool replicate; /* a stage may run on several devices of a class that take turns (H.2) */
    bool io_free;   /* model inputs and outputs cost no transfer */
    /* ps that each part costs its device beside computing, once for each training pass (forward, backward) with nodes
     * in the part */
    int64_t part_cost;
    int64_t sync_bandwidth; /* bytes per second between copies of a stage; 0: that of the link */
    int64_t efficiency;     /* read with exec_efficiency; 0: not said */
};

/* The execution model of an objective, and the one of e's own.  Never NULL. */
const struct exec_kind *exec_kind_of(const struct exec_model *e, uint32_t objective);
const struct exec_kind *exec_kind(const struct exec_model *e);

/* "dapple", ..., "host", ...; NULL at the end.  The first memory model is no word for people: "". */
extern const char *const training_schedule_name[TRAINING_SCHEDULES + 1],
    *const network_name[NETWORKS + 1], *const contention_name[CONTENTIONS + 1],
                                           *const dispatch_name[DISPATCHES + 1],
                                               *const memory_model_name[MEMORY_MODELS + 1],
                                                   *const cpus_name[CPUS_WAYS + 1],
                                                       *const pieces_name[PIECES_WAYS + 1];

/* The settings of a model: fields of struct exec_model; ends with a zero row, at most 64. */
extern const struct opt exec_settings[];
/* The setting of a name; the name must exist. */
const struct opt *exec_setting(const char *name);
/* 1 << (number of the setting): a member of a set of settings. */
uint64_t exec_bit(const struct opt *o);
/* The setting with its values for e: of "objective" the names of e's kinds.  Lives in a. */
struct opt exec_values(const struct exec_model *e, const struct opt *o, struct arena *a);
/* Whether the setting changes values of e's objective. */
bool exec_counts(const struct exec_model *e, const struct opt *o);
/* The word of a setting that JSON of plans has beside the figures of e ("objective"); NULL: none, they do not rest on
 * it.  Lives in a. */
const char *exec_told(const struct exec_model *e, const struct opt *o, struct arena *a);
/* The number of an objective; -1: there is none of that name. */
int exec_objective(const struct exec_model *e, const char *name);
/* Whether samples that follow each other go forward all before one goes back (GPIPE). */
bool exec_apart(const struct exec_model *e);
/* Why a model cannot be run: NULL, or "--contention=blocking needs --network=direct". */
const char *exec_refuses(const struct exec_model *e, struct arena *a);

/* The memory model, never USUAL. */
enum memory_model exec_memory(const struct exec_model *e);

/* How many times a device holds its parameters: once as weights; in a step or iteration of training also the
 * optimizer's copies, and in an iteration, or under PAPER (gradients of the previous step, not freed yet), the
 * gradients. */
int64_t exec_weight_copies(const struct exec_model *e, bool training);

/* Share of the devices' peak rates that is reached, in millionths; all of them (1000000) where nothing was said. */
int64_t exec_efficiency(const struct exec_model *e);
/* Load of a device, ps, from its computing and its transfers in and out. */
int64_t exec_load(const struct exec_model *e, int64_t compute, int64_t in, int64_t out);
/* ps for each sample of the exchange that keeps `weights` bytes equal on `copies` devices of a class: (copies - 1) /
 * copies * weights / rate (placement paper, H.2); 0 for one. */
int64_t exec_sync(const struct exec_model *e, const struct device_class *cls, int64_t weights,
                  uint32_t copies);
/* Load, ps, of `copies` devices that take samples in turn; `load`: ps that one sample takes of one of these devices. */
int64_t exec_shared_load(const struct exec_model *e, int64_t load, int64_t sync, uint32_t copies);

#endif
