/* The execution model: how a plan runs on the devices of a cluster, and which time a plan is to make small.
 *
 * struct cluster describes the hardware; the execution model describes how a runtime uses it: whether transfers overlap
 * computing, in which order a pipeline trains, what parts and copies cost beside computing.  Planners, the judge and
 * replays take all such rules from here.  With all fields 0 a struct exec_model has the defaults. */
#ifndef PCC_IR_CLUSTER_EXEC_MODEL_H
#define PCC_IR_CLUSTER_EXEC_MODEL_H

#include "ir/base/options.h"
#include "ir/cluster/cluster.h"

/* Which samples go through a plan. */
enum exec_feed {
    FEED_STEADY, /* samples one after the other, without end: devices work on several at once */
    FEED_ALONE,  /* a single sample */
    FEED_MICRO_BATCHES /* the micro-batches of an iteration of training, through stages */
};

/* Kinds of runs, as bits.  A setting has an effect in an execution model if struct opt.about and exec_kind.about have
 * a bit in common.  In brackets: examples of settings that have the kind's bit. */
enum {
    ABOUT_STEP = 1, /* one sample, run node by node (network, contention, dispatch, memory-model) */
    ABOUT_SUBGRAPHS = 2, /* one sample, run subgraph by subgraph (memory-model, cpus, pieces) */
    ABOUT_ITERATION = 4, /* an iteration of training (micro-batches, schedule) */
    ABOUT_ROUNDS = 8,    /* an endless stream of samples (memory-model, in-flight) */
    /* devices run whole parts, so that live memory is what parts need (exec_live_parts()) */
    ABOUT_PARTS = ABOUT_SUBGRAPHS | ABOUT_ROUNDS
};

/* A kind of execution model: the time (ps) that plans are to make small, and how a plan runs.  All kinds are rows of
 * the table tools/lib/exec/kinds.c (the README.md beside it says how to add one), which begins with the time per
 * sample and ends with NULL.  ir, backends and passes declare the types of the last three fields. */
struct exec_kind {
    const char *name;  /* "iteration-time": the word for --objective and in files */
    const char *text;  /* "iteration time": name of its times, for messages */
    const char *unit;  /* "per iteration": printed behind a time */
    const char *paper; /* key of the time in the placement paper's files of splits; NULL: none */
    enum exec_feed feed;
    bool subgraphs; /* accelerators run whole subgraphs; the hosts of a class count as one device */
    /* ABOUT_* bits: the settings that change the times of this kind, beside the settings that count in all kinds */
    unsigned about;
    /* ir/exec/exec_runs.h; NULL: plans are not run, the verdict is load_verdict() */
    const struct exec_runs *runs;
    const struct exec_shows *shows; /* backends/backends.h */
    const struct exec_plans *plans; /* passes/passes.h; NULL: no planner of its own */
};
/* The first fields of the row of the time per sample.  An execution model without a table (kinds == NULL) has only
 * these. */
#define EXEC_USUAL                                                                                 \
    .name = "time-per-sample", .text = "time per sample", .unit = "per sample", .paper = "maxLoad"
enum { TIME_PER_SAMPLE }; /* row of the time per sample in the table */

/* Whether a device computes and moves values at the same time (placement paper, H.1).  SUM: no, it does one after the
 * other.  MAX: yes, for different samples.  DUPLEX: as MAX, and it also moves values in and out at the same time. */
enum overlap { OVERLAP_SUM, OVERLAP_MAX, OVERLAP_DUPLEX, OVERLAPS };

/* How a value gets from device to device.  HOST: in two hops, once over the link of the device that made it to the
 * host, then over the link of each device that reads it; over the inner links if the maker and all readers are in one
 * group.  DIRECT: in one hop, in the time of cluster_route().  Between the host and a device there is always one hop,
 * over the device's link; between devices of host classes a value takes no time. */
enum network { NETWORK_HOST, NETWORK_DIRECT, NETWORKS };

/* What a hop (one transfer of a value) occupies while it lasts, so that other hops wait.  PORT: the out-port of the
 * sender and the in-port of the receiver.  NONE: nothing.  LINK: the link in the direction from sender to receiver.
 * HALF: one channel of the sender and one of the receiver, each for both directions.  RX: the in-port of
 * the receiver.  BLOCKING: both devices, which do not compute meanwhile; network DIRECT only.  BAECHI: channels that
 * are booked ahead of time, to compare with Baechi's figures (booked.h); network DIRECT only; nodes run as they
 * become ready, whatever the dispatch.  The host has no ports, only links. */
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

/* Which ready node a device runs next.  PLAN: the first one in the plan's order.  FIFO: the one that became ready
 * first.  LEVEL: the one with the longest path to the end, hops included; ties by number. */
enum dispatch { DISPATCH_PLAN, DISPATCH_FIFO, DISPATCH_LEVEL, DISPATCHES };

/* Settings of a step (one sample alone, node by node). */
struct step_model {
    enum network network;
    enum contention contention;
    enum dispatch dispatch;
};

/* Which bytes must fit the memory of a device.  SUM: all results of its nodes, and the weights.  LIVE: the values that
 * exist at the same time, of one sample, or of all samples that follow each other, and the weights.  PAPER: by the
 * table of Baechi-PyTorch's paper (paper_memory.h).  USUAL: what is usual for the objective: see exec_memory(). */
enum memory_model { MEMORY_USUAL, MEMORY_SUM, MEMORY_LIVE, MEMORY_PAPER, MEMORY_MODELS };

/* How many CPUs run host nodes when a latency is computed.  LIST: the CPUs of the cluster, one node each at a time.
 * UNBOUNDED: as many CPUs as there are ready nodes. */
enum cpus { CPUS_LIST, CPUS_UNBOUNDED, CPUS_WAYS };
/* How an accelerator runs its subgraphs if the plan has no slots.  EXCLUSIVE: one at a time.  APART: several may run at
 * the same time, as in the placement paper's evaluation. */
enum pieces_run { PIECES_EXCLUSIVE, PIECES_APART, PIECES_WAYS };

/* Settings of a latency (one sample alone, by subgraphs). */
struct latency_model {
    enum cpus cpus;
    enum pieces_run pieces;
};

/* The order in which stages train.  For the time per sample only GPIPE makes a difference (placement paper, 5.3 and
 * D; exec_apart()): all forward samples of a batch come before its backward samples, while otherwise forward and
 * backward samples take turns.  For an iteration: DAPPLE: some micro-batches forward, then a backward and a forward
 * one in turn.  GPIPE: all forward, then all backward.  ZB_H1: as DAPPLE, but gradients of weights are computed
 * separately, later.  INTERLEAVED: a device has several stages and takes a few micro-batches through each in turn.
 * PIPEDREAM: as DAPPLE, without end, and the devices of a stage take whole micro-batches in turn instead of a slice
 * of each. */
enum training_schedule {
    TRAINING_DAPPLE,
    TRAINING_GPIPE,
    TRAINING_ZB_H1,
    TRAINING_INTERLEAVED,
    TRAINING_PIPEDREAM,
    TRAINING_SCHEDULES
};

/* Values of training.warm_up that are no number of forward passes.  A, B: the number by DAPPLE's policy A or B; BEST:
 * by the better policy. */
enum { WARM_UP_B = -2, WARM_UP_A = -1, WARM_UP_BEST = 0 };

/* Whether a stage runs its forward pass once more before the backward pass, instead of keeping the results in memory.
 * AUTO: only where memory is short.  NONE: no stage.  ALL: every stage. */
enum recompute { RECOMPUTE_AUTO, RECOMPUTE_NONE, RECOMPUTE_ALL, RECOMPUTES };

/* When the devices of a stage exchange gradients.  AFTER: after the last backward pass of the stage.  BESIDE: during
 * that pass, each gradient as soon as it is computed.  ACROSS: as BESIDE, and also during the first forward pass of
 * the next iteration. */
enum reduce_when { REDUCE_AFTER, REDUCE_BESIDE, REDUCE_ACROSS, REDUCE_WHENS };

/* Where gradients become new parameters.  APART: in parts of their own, once an iteration, from gradients that were
 * added up.  WITHIN: in the parts that make the gradients, each time.  AUTO: APART if there are several micro-batches
 * and the model allows it. */
enum update_where { UPDATE_AUTO, UPDATE_APART, UPDATE_WITHIN, UPDATES };

enum { TRAINING_MICRO_BATCHES = 1000000 }; /* the most micro-batches of an iteration */

/* Names of a parameter and of its gradient (--gradient), or of an initializer and of its value in the next step
 * (--next). */
struct said_names {
    const char *parameter, *value;
};

/* Settings of an iteration of training.  All fields 0: one micro-batch, with as many samples as the costs are about. */
struct training {
    uint32_t micro_batches; /* number of micro-batches; 0: one */
    int64_t micro_size;     /* samples of a micro-batch; 0: as many as the costs are about */
    int64_t profiled; /* samples that the module's costs are about; used if micro_size is set */
    enum training_schedule schedule;
    uint32_t per_device; /* INTERLEAVED: number of stages per device; 0: planners choose it */
    int64_t warm_up;     /* forward passes before a stage's first backward pass, or WARM_UP_* */
    enum recompute recompute;
    enum reduce_when reduce_when;
    enum update_where update;
    /* updates may be apart even if nodes take samples of a batch together, such as a batch normalisation */
    bool mixing;
    /* how the loss joins the losses of samples (enum loss_join), by the user's word, for models that do not show it; 0:
     * the user does not say */
    uint32_t loss;
    const struct said_names *gradient; /* [ngradient] gradients that the user has named */
    uint32_t ngradient;
    const struct said_names *next; /* [nnext] next values that the user has named */
    uint32_t nnext;
    /* a link never carries values in one direction and gradients in the other one at the same time */
    bool half_duplex;
    bool any_slices;      /* a device's slice of a micro-batch need not be whole samples */
    bool own_reduce_lane; /* AllReduces do not occupy the links between stages */
    int64_t workspace;    /* bytes that each device needs beside weights and activations */
    /* share of a backward pass, in millionths, that gradients of weights take; 0: summed from the nodes that make
     * them, or a half if these nodes are not known */
    int64_t weight_share;
};

/* Returns the number of micro-batches of an iteration, at least 1. */
uint32_t training_count(const struct training *t);
/* Scales x (ps or bytes, for all samples that the costs are about) to one of n devices that share one micro-batch in
 * equal slices; rounded up once. */
int64_t training_share(const struct training *t, int64_t x, uint32_t n);
/* Scales a time, in ps, as training_share() does, except for `overhead` ps of it, which each of the n devices takes
 * in full, whatever its slice is. */
int64_t training_time(const struct training *t, int64_t ps, int64_t overhead, uint32_t n);

struct exec_model {
    uint32_t objective;                   /* index in kinds */
    const struct exec_kind *const *kinds; /* ends with NULL; NULL: only the time per sample */
    struct training training;
    struct step_model step;
    struct latency_model latency;
    enum memory_model memory; /* read with exec_memory() */
    bool sized; /* values have sizes, as in ONNX models; false: only nodes have sizes (profiles) */
    /* the model's file states bytes and times of nodes; then MEMORY_SUM is usual for the time per sample */
    bool by_nodes;
    /* the most samples that are on their way through the devices at once; 0: no limit */
    uint32_t in_flight;
    uint32_t optimizer; /* copies of the weights that the optimizer keeps beside them: 2 for Adam */
    enum overlap overlap;
    bool replicate; /* a stage may run on several devices of a class that take turns (H.2) */
    bool io_free;   /* model inputs and outputs cost no transfer */
    /* ps that each part costs its device beside computing, once for each training pass (forward, backward) that it
     * has nodes of; exec_usual_part_cost() if the user sets none */
    int64_t part_cost;
    int64_t sync_bandwidth; /* bytes per second between copies of a stage; 0: link_bandwidth */
    int64_t efficiency;     /* millionths, read with exec_efficiency(); 0: not set */
};

/* exec_kind_of() returns the row of e->kinds for an objective, exec_kind() the row for e's own objective; never
 * NULL. */
const struct exec_kind *exec_kind_of(const struct exec_model *e, uint32_t objective);
const struct exec_kind *exec_kind(const struct exec_model *e);

/* The words for the values of each enum above, such as "dapple"; NULL ends each list.  MEMORY_USUAL has no word: "". */
extern const char *const training_schedule_name[TRAINING_SCHEDULES + 1],
    *const network_name[NETWORKS + 1], *const contention_name[CONTENTIONS + 1],
                                           *const dispatch_name[DISPATCHES + 1],
                                               *const memory_model_name[MEMORY_MODELS + 1],
                                                   *const cpus_name[CPUS_WAYS + 1],
                                                       *const pieces_name[PIECES_WAYS + 1];

/* The settings of an execution model, each a field of struct exec_model; at most 64, a row of zeros ends the table. */
extern const struct opt exec_settings[];
/* Returns the setting with this name, which must exist. */
const struct opt *exec_setting(const char *name);
/* Returns 1 << (index of o in exec_settings), for sets of settings as bits. */
uint64_t exec_bit(const struct opt *o);
/* Returns a copy of the setting o in which o->names is set: for "objective" to the names of e->kinds, which live in
 * a. */
struct opt exec_values(const struct exec_model *e, const struct opt *o, struct arena *a);
/* Whether the setting o changes the times of e's objective. */
bool exec_counts(const struct exec_model *e, const struct opt *o);
/* Returns the value of the setting o as a word for plan JSON, in a; NULL if plan JSON leaves the setting out: the times
 * of e's objective do not depend on it, its value is "0", or the object "training" has it. */
const char *exec_told(const struct exec_model *e, const struct opt *o, struct arena *a);
/* Returns the index in e->kinds of the objective with this name; -1: there is none. */
int exec_objective(const struct exec_model *e, const char *name);
/* Whether e's objective is not an iteration and the schedule is GPIPE: all samples go forward before the first one goes
 * backward. */
bool exec_apart(const struct exec_model *e);
/* Returns the reason why settings of e exclude each other, in a: "--contention=blocking needs --network=direct"; NULL
 * if they do not. */
const char *exec_refuses(const struct exec_model *e, struct arena *a);

/* Returns the memory model that counts for e's objective, never USUAL.  For a step: the one that is set, or LIVE.
 * For the time per sample and the latency: SUM if e is not sized; else SUM or LIVE if that is set; else SUM if e is
 * by_nodes, LIVE if not.  For an iteration: SUM. */
enum memory_model exec_memory(const struct exec_model *e);
/* Whether the memory of a device is what its parts have at one time (live_memory.h): the memory model is LIVE and the
 * objective is the time per sample or the latency. */
bool exec_live_parts(const struct exec_model *e);

/* Returns how many times a device holds the bytes of its parameters: once as weights; in a step or iteration of a
 * model with a backward pass (`training`), also once for each copy of the optimizer, and once for the gradients in an
 * iteration or under PAPER (which counts gradients of the previous step). */
int64_t exec_weight_copies(const struct exec_model *e, bool training);

/* Returns the part cost, in ps, if the user sets none.  0 for a model that comes with times of its nodes
 * (brings_times), which are taken as they are; else the time that ONNX Runtime takes to run a part
 * (tools/bench/part_cost.py), since estimated or measured times of nodes do not contain it. */
int64_t exec_usual_part_cost(bool brings_times);

/* Returns the share of the devices' peak rates that computing reaches, in millionths; 1000000 if it is not set. */
int64_t exec_efficiency(const struct exec_model *e);
/* Returns the load of a device, in ps, from the ps of its computing and of its transfers in and out, by e->overlap. */
int64_t exec_load(const struct exec_model *e, int64_t compute, int64_t in, int64_t out);
/* Returns the ps per sample of the exchange that keeps `weights` bytes of weights equal on `copies` devices of class
 * cls: (copies - 1) / copies * weights / rate (placement paper, H.2); 0 for one device.  The rate is sync_bandwidth
 * if the user gave it; else that of the link or, if the devices are in one group (inner) and that is faster, of the
 * group's link. */
int64_t exec_sync(const struct exec_model *e, const struct device_class *cls, bool inner,
                  int64_t weights, uint32_t copies);
/* Returns the load per sample, in ps, of each of `copies` devices that take samples in turn.  load: ps that one
 * sample takes on one of these devices; sync: ps per sample from exec_sync(). */
int64_t exec_shared_load(const struct exec_model *e, int64_t load, int64_t sync, uint32_t copies);

#endif
