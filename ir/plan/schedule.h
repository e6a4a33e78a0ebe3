/* Schedules (execution plans): lists of instructions for each device, which are right however long each instruction
 * takes.
 *
 * A lane is a list of instructions that are executed in order.  Each device has one lane for computing, allocating and
 * freeing memory, one lane for sending, and one lane for receiving from each other device.  The host sends the model's
 * inputs and receives its outputs; its memory is not counted.
 *
 *     COMPUTE part       runs a part; waits for the RECV of each input that another device makes
 *     ALLOC tensor       allocates memory for a tensor that this device will receive; never waits
 *     SEND tensor, dev   waits for the COMPUTE that makes the tensor and, unless dev is the host, for its ALLOC on dev
 *     RECV tensor, dev   waits for the SEND of the tensor by dev
 *     FREE tensor        frees its memory; on the device that makes the tensor, waits for all SENDs of the tensor
 *     ADD tensor         FREE of a gradient of a micro-batch, which is first added to the sum on its device
 *     REDUCE part        makes the sums that the part reads equal on all devices that run it; waits for their ADDs
 *
 * COMPUTE allocates the part's own outputs.  So the computing lane alone determines the memory of a device over time,
 * and the peak does not depend on times.
 *
 * Lists are executed in rounds: in round r a list executes each of its instructions once, for sample r + offset, if
 * that sample exists.  All rounds of a phase come before the rounds of the next phase (GPipe: phase 1 is the backward
 * pass). */
#ifndef PCC_IR_PLAN_SCHEDULE_H
#define PCC_IR_PLAN_SCHEDULE_H

#include "ir/base/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct sample_work;

enum do_kind { DO_COMPUTE, DO_SEND, DO_RECV, DO_ALLOC, DO_FREE, DO_ADD, DO_REDUCE };

/* An entry of a list. */
struct instruction {
    uint8_t kind;   /* enum do_kind */
    uint8_t phase;  /* 0, 1, ...; never decreases along a list */
    int32_t offset; /* number of the sample minus number of the round */
    uint32_t what;  /* COMPUTE, REDUCE: number of the part; else number of the tensor (work.h) */
    uint32_t other; /* SEND: receiving device; RECV: sending device; ndev: the host; else unused */
};

/* Whether an instruction is about a part. */
static inline bool is_about_part(const struct instruction *i)
{
    return i->kind == DO_COMPUTE || i->kind == DO_REDUCE;
}

/* The lists of all lanes, and the memory that they need. */
struct schedule {
    const struct sample_work *work; /* the parts and tensors that instructions refer to */
    uint32_t nlane;
    uint32_t *at; /* [nlane + 1] lane l is item[at[l] .. at[l + 1]) */
    struct instruction *item;
    uint32_t phases;    /* number of phases, >= 1 */
    uint32_t in_flight; /* number of samples for which schedule_prove() computes queue and peak */
    /* [lane] of a receiving lane: the most tensors at one time whose ALLOC is done and whose RECV is not; of other
     * lanes 0 */
    uint32_t *queue;
    int64_t *peak; /* [device] most bytes at one time */
};

/* Return the number of a lane, for ndev devices; device ndev is the host.  lane_compute(): computing, of d < ndev.
 * lane_send(): sending, of d <= ndev.  lane_recv(): receiving, of `to`, from `from`.  lane_count(): number of lanes. */
static inline uint32_t lane_compute(uint32_t d)
{
    return d;
}
static inline uint32_t lane_send(uint32_t ndev, uint32_t d)
{
    return ndev + d;
}
static inline uint32_t lane_recv(uint32_t ndev, uint32_t to, uint32_t from)
{
    return 2 * ndev + 1 + to * (ndev + 1) + from;
}
static inline uint32_t lane_count(uint32_t ndev)
{
    return lane_recv(ndev, ndev + 1, /*from=*/0);
}
/* Returns the device (ndev: the host) that a lane belongs to, of a receiving lane the receiver. */
static inline uint32_t lane_device(uint32_t ndev, uint32_t lane)
{
    uint32_t receiving = lane_recv(ndev, /*to=*/0, /*from=*/0); /* the first receiving lane */
    if (lane < ndev)
        return lane; /* a computing lane */
    if (lane < receiving)
        return lane - ndev; /* a sending lane */
    return (lane - receiving) / (ndev + 1);
}

/* How an execution model runs the parts of a plan: in rounds, sample after sample, or once, at known times. */
struct rhythm {
    /* the work to schedule: of the parts for one sample, or of all micro-batches of an iteration; NULL: there can be no
     * schedule, for the reason why_not */
    struct sample_work *work;
    const char *why_not;
    const uint32_t *level; /* [part] number of rounds from a sample's first part to this part */
    const uint8_t *phase;  /* [part] phase of the part in the schedule */
    /* true: rounds.  false: once; then all levels and phases are 0, and the fields below count */
    bool repeats;
    /* start, end and sent are times in ps, or positions in an order if no times are known */
    const int64_t *start, *end; /* [part] when the part starts and ends */
    const int64_t *sent;        /* [tensor] when the tensor has left its device */
    /* true: memory for an input of the model is allocated one part before its first reader; false: at the beginning */
    bool close;
};

/* Makes the lists for work w with rhythm y.  The parts of w must be numbered in an order in which they can run.  With
 * rounds, a part's level must be at least the level of each producer of its inputs, and larger if the producer is on
 * another device; its phase must not be earlier.  A device runs its parts by phase, level and number.
 *
 * With rounds, memory for a tensor is allocated before the receiving device's first part that comes after the producer
 * in the round; for a model input, one round before its reader.  A tensor is freed after its last reader; a tensor that
 * is sent, also at least one round after it was made.  So if transfers took no time, no device would wait for memory,
 * and a round would take as long as the computing of the busiest device.
 *
 * Without rounds, no transfer waits for memory as long as the times of y hold: memory for model inputs is allocated as
 * y->close says, memory for other tensors by the time their producer ends, and a tensor that is sent is freed before
 * the first part that starts after it has left.
 *
 * Fields in_flight, queue and peak are not filled in.  Lives in a.  O(D^2 + uses log uses). */
struct schedule *schedule_make(const struct sample_work *w, const struct rhythm *y,
                               struct arena *a);
/* Returns the smallest number of samples in flight with the largest memory peaks and queues: more samples change
 * neither. */
uint32_t schedule_samples(const struct schedule *s);
/* Returns the number of samples for which a schedule is checked if the user gives none: schedule_samples(), or fewer
 * if the lists of all samples together would be too long. */
uint32_t schedule_usual_samples(const struct schedule *s);

#endif
