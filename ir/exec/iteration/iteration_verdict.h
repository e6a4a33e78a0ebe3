/* What a plan of stages comes to in training, as the judge's verdict. */
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

/* What a stage holds, for one micro-batch, before it is divided among devices; bytes and ps. */
struct stage_sums {
    int64_t forward, backward;
    int64_t weight; /* of backward, what makes gradients of weights; where weight_pass_apart() */
    int64_t parameter, stored;
    int64_t constant;        /* bytes that are there beside weights, without gradients */
    int64_t send, send_back; /* bytes to the stages behind it, and of gradients from there */
    struct reduce_parts
        parts; /* its gradients, by ps of `backward`; only where these are exchanged beside it */
};

/* An iteration that is set up, and has run. */
struct iteration_run {
    struct iteration x;
    const struct stages
        *stages; /* of a verdict: the plan's, or if it has none one for each of its devices */
    struct stage_work *stage;
    int64_t *lasting; /* [place] bytes of each of its devices that are there all the time */
    int64_t *version; /* [place] bytes of the weights among them, once */
    int64_t *memory;  /* [place] -1: without end */
    struct task_graph g;
    struct timeline t;
    int64_t value; /* ps: of an iteration */
};

/* Stages on devices. */
struct stages_on {
    uint32_t n, nplace;           /* stage k is on place k % nplace: stages_places() */
    const struct stage_sums *sum; /* [stage] */
    const struct device_set *set; /* [stage] its devices by servers */
};

/* What each stage takes on its devices, by the scene's model.  ahead is 1 where the schedule does not tell it. */
struct iteration_run iteration_set_up(const struct scene *s, const struct servers *servers,
                                      const struct stages_on *on, struct arena *a);
/* Why the scene's schedule cannot be run by stages on so many places, in a; NULL: it can. */
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

/* Share of a run in which the devices of its stages compute, 0 .. 1; of one that has stages. */
double iteration_busy(const struct iteration_run *t);

#endif
