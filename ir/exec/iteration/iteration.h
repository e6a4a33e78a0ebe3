/* One iteration of training by stages and micro-batches: the work of each device, and its order.
 *
 * Source: DAPPLE (arXiv 2007.01045), III-C and V; GPipe; PipeDream's 1F1B and its round robin; interleaved stages
 * (Megatron-LM); ZB-H1 of "Zero Bubble Pipeline Parallelism".  A micro-batch goes forward through all stages from
 * stage 0 on, and backward through them in reverse.  Stage s is on place s % nplace.  A place is one device; or
 * several devices that share each micro-batch in equal slices, which count as one device here, with times and bytes
 * of a slice; or `turns` devices that take whole micro-batches in turn.  The places of neighbouring stages have a
 * link between them: a lane for values and one for gradients, or one lane for both (half duplex).  Transfers that
 * wait for a lane are served first come, first served.  After its last backward pass the devices of a stage make
 * their gradients equal (AllReduce). */
#ifndef PCC_IR_EXEC_ITERATION_H
#define PCC_IR_EXEC_ITERATION_H

#include "ir/exec/tasks.h"

/* The order in which a device runs its passes.  GPIPE: all micro-batches forward, then all backward, the last one
 * first.  1F1B: `ahead` forward passes, then a backward and a forward pass in turn.  INTERLEAVED: a place has several
 * stages; nplace micro-batches go through its first stage, then the same ones through its second stage, and so on.
 * ZB_H1: as 1F1B, but the gradients of weights are computed in passes of their own, `lag` backward passes later, at
 * times at which the device would else wait. */
enum iteration_order {
    ITERATION_GPIPE,
    ITERATION_1F1B,
    ITERATION_INTERLEAVED,
    ITERATION_ZB_H1,
    ITERATION_ORDERS
};

/* Work of a stage for one micro-batch, on each of its devices; times in ps. */
struct stage_work {
    /* times of the passes; `backward` does not include the forward pass that is repeated with `recompute` */
    int64_t forward, backward;
    int64_t weight;    /* ZB_H1: the share of `backward` that only computes gradients of weights */
    int64_t send;      /* transfer of values to the next stage; 0: there is none */
    int64_t send_back; /* transfer of gradients from the next stage; 0: there is none */
    int64_t reduce;    /* the AllReduce, once an iteration; 0: there is none */
    /* the update, once an iteration, after the AllReduce; 0: no update apart from the passes */
    int64_t update;
    int64_t stored; /* bytes that the forward pass keeps for the backward pass */
    /* the part of `stored`, in bytes, that is kept even if the stage recomputes the rest */
    int64_t checkpoint;
    uint32_t turns; /* number of devices that take micro-batches in turn; 0: one */
    uint32_t ahead; /* forward passes before the first backward pass, >= 1 */
    uint32_t lag;   /* ZB_H1: number of backward passes by which gradients of weights are late */
    bool recompute; /* the forward pass is run once more before the backward pass */
    bool reduce_shares; /* the AllReduce occupies the link to the stage before */
};

/* An iteration of training: its stages, and how their passes follow each other. */
struct iteration {
    enum iteration_order order;
    uint32_t nstage, nplace; /* nplace divides nstage; they are equal except for INTERLEAVED */
    uint32_t micro_batches;  /* >= 1; INTERLEAVED: a multiple of nplace */
    bool half_duplex;        /* a link moves values or gradients, not both at the same time */
    bool joint_update;       /* no stage updates before all stages have their gradients */
    bool forward_only;       /* without a backward pass: the last stage ends a micro-batch */
    const struct stage_work *stage; /* [stage] work of the stage, for nstage stages */
};

/* The tasks of an iteration.  FORWARD, BACKWARD: a pass of a stage.  WEIGHT: gradients of weights by themselves
 * (ZB_H1).  SEND, SEND_BACK: values to the next stage, gradients from it.  REDUCE: the AllReduce of a stage.
 * UPDATE: its update, on its devices. */
enum iteration_kind {
    ITERATION_FORWARD,
    ITERATION_BACKWARD,
    ITERATION_WEIGHT,
    ITERATION_SEND,
    ITERATION_SEND_BACK,
    ITERATION_REDUCE,
    ITERATION_UPDATE,
    ITERATION_KINDS
};

/* One pass of a device: kind is FORWARD, BACKWARD or WEIGHT. */
struct iteration_entry {
    enum iteration_kind kind;
    uint32_t stage, micro_batch;
};

/* Returns the number of devices that take micro-batches in turn on a place: 1 or more. */
uint32_t iteration_turns(const struct iteration *x, uint32_t place);
/* iteration_list returns the passes of a device in the order in which the device runs them, in a; O(passes).
 * iteration_length returns their number.  turn: which of the devices that take turns on the place, from 0. */
uint32_t iteration_length(const struct iteration *x, uint32_t place, uint32_t turn);
struct iteration_entry *iteration_list(const struct iteration *x, uint32_t place, uint32_t turn,
                                       struct arena *a);

/* Return stage_work.ahead by DAPPLE's policies A and B, but at most `most`, the number of micro-batches that fit the
 * memory of the stage.  A: the number of stages from this one to the last.  B: 2 A - 1, so that the links between
 * stages are busy, too. */
uint32_t iteration_ahead_a(uint32_t nstage, uint32_t stage, uint32_t most);
uint32_t iteration_ahead_b(uint32_t nstage, uint32_t stage, uint32_t most);
/* Returns, for an INTERLEAVED iteration, the number of forward passes of a place, through all its stages together,
 * before its first backward pass. */
uint32_t iteration_ahead_interleaved(const struct iteration *x, uint32_t place);
/* Returns stage_work.ahead of stage `at` by PipeDream's rule: the number of devices of this and all later stages,
 * divided by the number of devices of the stage, rounded up. */
uint32_t iteration_ahead_turns(const struct stage_work *stage, uint32_t nstage, uint32_t at);
/* Prevents deadlocks: lowers `ahead` of stages that would wait for a micro-batch which the stage before sends only
 * after it has got a gradient back.  Afterwards (ahead - 1) * turns of each stage is less than ahead * turns of the
 * stage before. */
void iteration_settle_ahead(struct stage_work *stage, uint32_t nstage);

/* Returns the tasks, lanes, lists and buffers of an iteration, for events_run(), in a.  Devices are numbered place by
 * place; lane d < ndev is device d, the other lanes are links.  task.kind is an iteration_kind, task.number the stage
 * (of SEND and SEND_BACK the stage before the link); task.from and task.to are not set.  The instances of a task are
 * the micro-batches.  If devices of any place take turns, there is instead a task for each pass and micro-batch, the
 * micro-batches of a pass one behind the other, and a single task for each REDUCE and UPDATE.  lasting, memory:
 * [device], as in struct task_graph.  O(stages * micro-batches). */
struct task_graph iteration_tasks(const struct iteration *x, const int64_t *lasting,
                                  const int64_t *memory, struct arena *a);
/* Returns the number of devices of all places, where devices that share micro-batches in slices count as one. */
uint32_t iteration_devices(const struct iteration *x);

#endif
