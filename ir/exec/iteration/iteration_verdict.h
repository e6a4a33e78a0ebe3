/* The verdict on a plan of stages: an iteration of training, run on the event core. */
#ifndef PCC_IR_EXEC_ITERATION_VERDICT_H
#define PCC_IR_EXEC_ITERATION_VERDICT_H

#include "ir/cluster/servers.h"
#include "ir/dag/scene.h"
#include "ir/exec/events.h"
#include "ir/exec/exec_runs.h"
#include "ir/exec/iteration/iteration.h"
#include "ir/exec/iteration/reduce_overlap.h"
#include "ir/plan/plan.h"
#include "ir/plan/stages.h"

/* Work and bytes of a whole stage for one micro-batch, before they are divided among devices; bytes and ps. */
struct stage_sums {
    int64_t forward, backward;
    /* the share of `backward` that makes gradients of weights; only if weight_pass_apart() */
    int64_t weight;
    int64_t parameter, stored;
    int64_t constant;        /* lasting bytes beside weights, which have no gradients */
    int64_t send, send_back; /* bytes sent to later stages; gradient bytes sent back from there */
    /* the stage's gradients, by ps of `backward`; only where AllReduces overlap the backward pass */
    struct reduce_parts parts;
};

/* An iteration that is set up, and has run. */
struct iteration_run {
    struct iteration x;
    /* of a verdict: the plan's stages, or, of a plan without, one stage for each of its devices */
    const struct stages *stages;
    struct stage_work *stage;
    int64_t *lasting; /* [place] lasting bytes of each device of the place */
    int64_t *version; /* [place] bytes of one copy of the weights among them */
    int64_t *memory;  /* [place] -1: without end */
    struct task_graph g;
    struct timeline t;
    int64_t value; /* ps: of an iteration */
};

/* Stages on devices. */
struct stages_on {
    uint32_t n, nplace;           /* stage k is on place k % nplace: stages_places() */
    const struct stage_sums *sum; /* [stage] */
    const struct device_set *set; /* [stage] the stage's devices, counted by server */
};

/* Sets up an iteration: time and memory of each stage on its devices, by the scene's model.  ahead is 1 where the
 * schedule does not set it. */
struct iteration_run iteration_set_up(const struct scene *s, const struct servers *servers,
                                      const struct stages_on *on, struct arena *a);
/* Why the scene's schedule cannot run nstage stages on nplace places, in a; NULL: it can. */
const char *iteration_refuses(const struct scene *s, uint32_t nstage, uint32_t nplace,
                              struct arena *a);
/* Runs it, with stage[].ahead and recompute as they are, and fills the rest.  O(stages * micro-batches * log). */
void iteration_run(struct iteration_run *r, const struct scene *s, struct arena *a);
/* The most micro-batches that stage s, alone on its devices, can hold in their memory, and whether by recomputing; 0:
 * none. */
uint32_t iteration_room(const struct iteration_run *r, const struct scene *s, uint32_t stage,
                        bool recompute);

/* The verdict of a plan that has stages: value, the time of an iteration; of each device its work and the most bytes
 * at once; run, a struct iteration_run; stages.  Lives in a.  O(nodes + pins) and the run. */
struct verdict iteration_verdict(const struct scene *s, const struct plan *p, struct arena *a);
/* No plan takes less for an iteration: all work of all micro-batches, shared by all accelerators.  Texts live in a.
 * O(nodes). */
struct exec_bound iteration_bound(const struct scene *s, struct arena *a);

/* Share of a run that the devices of its stages spend computing, 0 .. 1.  The run must have stages. */
double iteration_busy(const struct iteration_run *t);

#endif
