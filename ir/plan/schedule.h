/* Execution plans: what each device does, in which order, whatever the times turn out to be.
 *
 * A lane is a list that is worked off in order.  Each device has a list of what it computes, among which it makes room
 * for tensors and frees them; a list of what it sends; and for each device that it receives from a list of that.  The
 * host sends the model's inputs and receives its outputs; its memory is not counted.
 *
 *     COMPUTE part       waits for the RECV of each input that another device makes
 *     ALLOC tensor       room for one that comes from elsewhere; never waits
 *     SEND tensor, dev   waits for the COMPUTE that makes it and, unless it goes to the host, for the ALLOC there
 *     RECV tensor, dev   waits for the SEND
 *     FREE tensor        where it is made it waits for all SENDs of it
 *
 * What a part makes has its room from its COMPUTE on.  So the memory of a device can be followed along one list, and
 * its peak is the same for every timing.
 *
 * Lists are about rounds: in round r a list does each of its instructions once, for sample r + offset, if there is one
 * such; the rounds of a phase follow each other, then those of the next phase (GPipe: of the backward pass). */
#ifndef PCC_IR_PLAN_SCHEDULE_H
#define PCC_IR_PLAN_SCHEDULE_H

#include "ir/base/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct sample_work;

enum do_kind { DO_COMPUTE, DO_SEND, DO_RECV, DO_ALLOC, DO_FREE };

struct instruction {
    uint8_t kind;   /* enum do_kind */
    uint8_t phase;  /* not falling along a list */
    int32_t offset; /* of the sample from the round */
    uint32_t what;  /* COMPUTE: the part; else the tensor */
    uint32_t other; /* SEND: the device it goes to; RECV: from; the host is ndev */
};

struct schedule {
    const struct sample_work *work; /* the parts and tensors that instructions refer to */
    uint32_t nlane;
    uint32_t *at; /* [nlane + 1] lane l is item[at[l] .. at[l + 1]) */
    struct instruction *item;
    uint32_t phases;
    uint32_t in_flight; /* samples that queue and peak have been worked out for: schedule_prove() */
    uint32_t *queue;    /* [lane] RECV: most ALLOCs ahead of their RECVs */
    int64_t *peak;      /* [dev] most bytes at once */
};

/* Lanes of a work with ndev devices: computing of d < ndev; sending of d <= ndev, the host; receiving of `to` what
 * comes from `from`. */
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
    return lane_recv(ndev, ndev + 1, 0);
}

/* How a plan goes through its parts: in rounds that follow each other, or once, with times to go by. */
struct rhythm {
    /* what is listed: the work of the parts, or that of all micro-batches of an iteration; NULL: it cannot be listed */
    struct sample_work *work;
    const char *why_not;   /* then */
    const uint32_t *level; /* [part] how many rounds after the first the same sample comes to it */
    const uint8_t *phase;  /* [part] */
    bool repeats;
    /* without rounds, where levels and phases are 0: ps at which a part starts and ends, and at which a tensor has left
     * its device */
    const int64_t *start, *end; /* [part] */
    const int64_t *sent;        /* [tensor] */
    /* inputs of the model have room from the part on that stands before their first reader */
    bool close;
};

/* The lists for a work whose parts are numbered in an order that is legal to run: a part's level is at least that of
 * each part that it reads of, one more if that one is on another device, and its phase is no earlier.  A device takes
 * its parts by phase, level and number.
 *
 * In rounds, room for a tensor is made before the first part of the device that comes behind the one that makes it; for
 * an input of the model a round before the part that reads it.  A tensor is freed behind its last reader, and one that
 * is sent not before a round later.  So transfers that take no time never make a device wait beyond the round, and a
 * round takes no longer than the busiest device computes in it.
 *
 * Without rounds nothing waits for room if all takes the times that y tells: inputs have theirs from the beginning (or,
 * y->close, a part ahead),
 * what comes from a device by the time it is made there, and what is sent is freed before the first part that starts
 * after it has left.
 *
 * in_flight, queue and peak are not filled in.  Lives in a.  O(D^2 + uses log uses). */
struct schedule *schedule_make(const struct sample_work *w, const struct rhythm *y,
                               struct arena *a);
/* How many samples show all that the lists ever do. */
uint32_t schedule_samples(const struct schedule *s);

#endif
