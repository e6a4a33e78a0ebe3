/* The verdict on a plan with stages, whose value is the time of an iteration of training (iteration.h). */
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

/* Work and bytes of a whole stage for the batch that the costs are about, as if one device did all.
 * iteration_set_up() scales them to a micro-batch and divides them among devices. */
struct stage_sums {
    int64_t forward, backward; /* ps of the passes */
    /* ps of `backward` that only make gradients of weights; 0 unless weight_pass_apart()
     * (weight_pass.h) */
    int64_t weight;
    /* ps of forward, backward and weight that each device takes whole, however small its slice is; adding gradients
     * up is such work */
    struct {
        int64_t forward, backward, weight;
    } overhead;
    /* ps of the update, once an iteration, on each device whole; 0: updates are within backward */
    int64_t update;
    int64_t parameter; /* bytes of the weights that training changes */
    int64_t stored;    /* bytes that the forward pass keeps for the backward pass */
    /* bytes that stay all the time and that training does not change, such as folded constants */
    int64_t constant;
    int64_t send;      /* bytes that go forward over the link to the next stage */
    int64_t send_back; /* bytes of the gradients that come back over the link to the next stage */
    /* numbers of values and of gradients that make up `send` and `send_back`; in a profile 0 */
    int64_t values, gradients;
    /* gradients of the stage by the time in `backward` at which they are ready; empty with REDUCE_AFTER */
    struct reduce_parts parts;
};

/* An iteration: iteration_set_up() fills x, stage, lasting, version and memory, iteration_run() the rest. */
struct iteration_run {
    struct iteration x;
    /* set in verdicts: the stages of the plan; for a plan without stages one for each device with nodes */
    const struct stages *stages;
    struct stage_work *stage; /* [stage] work of the stage in an iteration */
    int64_t *lasting;         /* [place] bytes that stay on each device of the place all the time */
    /* [place] bytes of one version of the weights, included in `lasting` */
    int64_t *version;
    int64_t *memory; /* [place] bytes of each of its devices; -1: no limit */
    struct task_graph g;
    struct timeline t;
    int64_t value; /* ps: time of an iteration; INT64_MAX: not known */
};

/* The stages that an iteration is set up for: their sums and their devices. */
struct stages_on {
    uint32_t n, nplace; /* number of stages and of places; stage k is on place k % nplace */
    const struct stage_sums *sum; /* [stage] sums over the nodes of the stage */
    const struct device_set *set; /* [stage] number of its devices in each server (servers.h) */
    bool joint_update;            /* struct iteration */
};

/* Returns an iteration, ready to run, with times and bytes of each stage on its devices by the scene's model.
 * stage[].ahead is 1 unless the schedule sets it; callers may change it, and recompute.  Lives in a. */
struct iteration_run iteration_set_up(const struct scene *s, const struct servers *servers,
                                      const struct stages_on *on, struct arena *a);
/* Returns NULL if the scene's schedule can run nstage stages on nplace places, else the reason why not, in a. */
const char *iteration_refuses(const struct scene *s, uint32_t nstage, uint32_t nplace,
                              struct arena *a);
/* Runs the iteration on the event core and sets r->g, r->t and r->value.  r->t.status is RUN_STOPPED if it has too
 * many tasks.  With TRAINING_PIPEDREAM the value is the time that the micro-batches take in the steady state.  Lives
 * in a.  O(stages * micro-batches * log). */
void iteration_run(struct iteration_run *r, const struct scene *s, struct arena *a);
/* Returns whether a stage keeps, from a micro-batch's forward to its backward pass, just the values that its backward
 * nodes read.  So it is for an ONNX graph with a backward pass, since the lists of its devices (schedule.h) free each
 * other value after its last reader.  If false, a stage keeps all that its forward nodes make. */
bool iteration_keeps_values(const struct scene *s);
/* Returns the most micro-batches that a stage can keep in the memory of its devices at once, between their forward and
 * backward passes; 0: none fits.  recompute: whether the stage computes forward again.  The stage must not share its
 * place with others. */
uint32_t iteration_room(const struct iteration_run *r, const struct scene *s, uint32_t stage,
                        bool recompute);

/* Returns the verdict on a plan.  value: the time of an iteration.  load[dev]: compute and load are the time that the
 * device computes, sync that of its AllReduces, used the most bytes in its memory at once.  run: a struct
 * iteration_run.  stages: those of the plan; a plan without stages gets one for each device that it uses.  Lives in
 * a.  O(nodes + pins) and the run. */
struct verdict iteration_verdict(const struct scene *s, const struct plan *p, struct arena *a);
/* Returns a lower bound on the time of an iteration for all plans: all work of all micro-batches and of updates, shared
 * by all accelerators.  Texts live in a.  O(nodes). */
struct exec_bound iteration_bound(const struct scene *s, struct arena *a);

/* Returns the share of the iteration's time, 0 .. 1, in which the devices of the stages compute, on average over
 * these devices.  t->stages must be set. */
double iteration_busy(const struct iteration_run *t);

#endif
