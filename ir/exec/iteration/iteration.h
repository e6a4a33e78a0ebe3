/* One iteration of training by stages and micro-batches: what each device does, and in which order.
 *
 * Source: DAPPLE (arXiv 2007.01045), III-C and V; GPipe; PipeDream's 1F1B and its round robin; interleaved stages
 * (Megatron-LM); ZB-H1 of "Zero Bubble Pipeline Parallelism".  A micro-batch goes forward through the stages 0, 1, ...
 * and backward through them the other way.  Stage s stands at place s % nplace; a place is a device, or several which
 * share each micro-batch in equal slices (their times and bytes are those of a slice, and one stands for all), or
 * `turns` devices that take micro-batches in turn.  Values go from stage to stage over a link of the two places, one
 * way for values and one for gradients, or one for both (half duplex); what waits for a link is served first come first
 * served.  A stage that has done its last backward pass makes its devices' gradients equal (AllReduce). */
#ifndef PCC_IR_EXEC_ITERATION_H
#define PCC_IR_EXEC_ITERATION_H

#include "ir/exec/tasks.h"

/* In which order a device does its work.  GPIPE: all micro-batches forward, then all backward, the last one first.
 * 1F1B: `ahead` forward ones, then a backward and a forward one in turn.  INTERLEAVED: several stages at a place, in
 * turn for as many micro-batches as there are places.  ZB_H1: as 1F1B, but the gradients of weights are made by
 * themselves, `lag` backward passes later, where the device would wait otherwise. */
enum iteration_order {
    ITERATION_GPIPE,
    ITERATION_1F1B,
    ITERATION_INTERLEAVED,
    ITERATION_ZB_H1,
    ITERATION_ORDERS
};

/* Work of a stage for one micro-batch, on each of its devices; times in ps. */
struct stage_work {
    int64_t forward, backward; /* without the repeated forward pass of recomputing */
    int64_t weight; /* the share of `backward` that only makes gradients of weights; ZB_H1 only */
    int64_t send, send_back; /* values to the next stage, gradients from it; 0: no transfer */
    int64_t reduce;          /* of the AllReduce, once an iteration; 0: none */
    int64_t stored;          /* bytes that forward leaves for backward */
    int64_t checkpoint;      /* bytes of `stored` that are kept when recomputing */
    uint32_t turns;          /* number of devices that take micro-batches in turn; 0: one */
    uint32_t ahead;          /* forward passes before the first backward one, >= 1 */
    uint32_t lag;            /* ZB_H1 */
    bool recompute;          /* forward is run once more before backward */
    bool reduce_shares;      /* the AllReduce takes the link to the stage before */
};

struct iteration {
    enum iteration_order order;
    uint32_t nstage, nplace; /* nplace divides nstage; equal but for INTERLEAVED */
    uint32_t micro_batches;  /* >= 1; INTERLEAVED: a multiple of nplace */
    bool half_duplex;
    const struct stage_work *stage;
};

enum iteration_kind {
    ITERATION_FORWARD,
    ITERATION_BACKWARD,
    ITERATION_WEIGHT,
    ITERATION_SEND,
    ITERATION_SEND_BACK,
    ITERATION_REDUCE,
    ITERATION_KINDS
};

/* A device's work on one micro-batch. */
struct iteration_entry {
    enum iteration_kind kind;
    uint32_t stage, micro_batch;
};

/* The devices that take turns at a place: 1 or more. */
uint32_t iteration_turns(const struct iteration *x, uint32_t place);
/* How many entries the list of device `turn` of a place has; and the list, which lives in a.  O(entries). */
uint32_t iteration_length(const struct iteration *x, uint32_t place, uint32_t turn);
struct iteration_entry *iteration_list(const struct iteration *x, uint32_t place, uint32_t turn,
                                       struct arena *a);

/* `ahead` by DAPPLE's policies.  A: the number of stages from this one on; B: enough to keep the links between stages
 * busy, too.  most: the number of micro-batches that fit the memory of the stage. */
uint32_t iteration_ahead_a(uint32_t nstage, uint32_t stage, uint32_t most);
uint32_t iteration_ahead_b(uint32_t nstage, uint32_t stage, uint32_t most);
/* Of an interleaved iteration: the forward passes of a place before its first backward one, all stages counted. */
uint32_t iteration_ahead_interleaved(const struct iteration *x, uint32_t place);
/* `ahead` of PipeDream: enough micro-batches to keep all devices from this stage on busy, divided among the devices
 * of the stage. */
uint32_t iteration_ahead_turns(const struct stage_work *stage, uint32_t nstage, uint32_t at);
/* Lowers `ahead` where a stage would wait for a micro-batch that the stage before sends only after it has a gradient
 * back, which would be a deadlock.  From stage to stage (ahead - 1) * turns < ahead * turns of the one before. */
void iteration_settle_ahead(struct stage_work *stage, uint32_t nstage);

/* The tasks, lanes, lists and buffers of an iteration, for events_run().  Lane d < ndev is device d: those of place 0,
 * then of place 1; then the links.  task.kind is an iteration_kind, task.number the stage (of transfers the one before
 * the link); task.from and to are not set.  Instances of a task are micro-batches, but where devices take turns: there
 * each micro-batch has tasks of its own, in order.  lasting, memory: [device] as in struct task_graph.  Lives in a.
 * O(stages * micro-batches). */
struct task_graph iteration_tasks(const struct iteration *x, const int64_t *lasting,
                                  const int64_t *memory, struct arena *a);
/* How many devices there are. */
uint32_t iteration_devices(const struct iteration *x);

#endif
