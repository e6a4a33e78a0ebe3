/* Functions shared by the planners that divide a model into stages for training. */
#ifndef PCC_PASSES_STAGES_TRAIN_H
#define PCC_PASSES_STAGES_TRAIN_H

#include "ir/exec/iteration/iteration_verdict.h"
#include "passes/passes.h"
#include "passes/stages/layer_chain.h"
#include "passes/problem/stage_states.h"

struct stage_layout;

/* Bytes or ps that concern two layers and all layers between them. */
struct layer_span {
    uint32_t from, to; /* layers; `to` may be the lower one */
    int64_t amount;    /* bytes or ps */
    /* for an amount in ps, its part that does not depend on the slice of a micro-batch; for bytes 0 */
    int64_t overhead;
    /* for an amount in bytes, the number of values that have these bytes; for ps 0 */
    int64_t values;
};
/* A growing list of spans. */
struct layer_spans {
    struct layer_span *span;
    uint32_t n, cap;
};

/* The ps that the updates of a layer take each of several devices whole.  If updates are apart (update_pass_wanted()):
 * each: beside each backward pass, to add gradients up; once: once an iteration; weight: the share of `each` for which
 * no other layer waits.  If they are within backward passes: within; within_overhead: the share of `within` that does
 * not depend on the slice. */
struct layer_update {
    int64_t each, weight, once, within, within_overhead;
};

/* Where plans update. */
struct update_rules {
    const uint8_t
        *own; /* [node] 1: the node is one of an update that may be apart; NULL: there is none */
    /* for each value of the model that is a number of samples, the layer that makes it and a layer that reads it.  If
     * the stages of these two are on unequal numbers of devices, updates are within backward passes */
    struct layer_spans counts;
    bool needs_apart; /* such plans are not run */
};

/* Updates by values that follow from gradients of several stages, such as their norm.  Only --schedule=gpipe runs them,
 * on stages of one device each; with other schedules layers that are updated so must share a stage. */
struct joint_updates {
    bool possible; /* the model has such values between layers that may else be in two stages */
    bool wanted;   /* layers are parted as gpipe may part them */
    /* if wanted: for each value of joint updates, the layer of its maker and the layer of each reader */
    struct layer_spans value;
};

/* How a plan is run beside the usual runs (train_try). */
enum more_runs {
    NO_MORE_RUNS,
    /* if the plan has few stages and memory is short: with every set of stages that recompute */
    EVERY_RECOMPUTE,
    FARTHER_AHEAD /* with stages that run further ahead than by DAPPLE's policies */
};

/* A plan that the judge refused since its lists need more memory than there is. */
struct refusal {
    /* [place] bytes that the lists need beyond the sums of the place's stages; NULL: no plan was refused */
    int64_t *lacked;
    int64_t value; /* ps of an iteration */
    /* settings of the plan */
    int64_t micro_size;
    uint32_t micro_batches;
    enum training_schedule schedule;
};

/* A model that is trained, as a row of layers: the vertices of the level that contract leaves, each with its forward
 * and backward nodes.  Times and bytes are for the samples that the costs are about, not for a micro-batch. */
struct train {
    struct ctx *x;
    const char *planner;     /* name of the planner, for messages */
    struct servers servers;  /* the accelerators */
    struct layers_of layers; /* times, bytes and edges (stage_states.h) */
    int64_t *stored;         /* [layer] bytes that the forward pass keeps for the backward pass */
    int64_t *constant;       /* [layer] bytes of constants, which training does not change */
    /* [layer] what updates take beside layers.backward, which has no updates if they may be apart; NULL: updates are
     * within backward passes, and layers.backward has them */
    struct layer_update *update;
    struct update_rules rules;
    const uint32_t *layer; /* [base vertex] its layer */
    struct joint_updates joint;
    struct clock clock;
    /* [number of places] the last refused plan on that many places, for train_fit() */
    struct refusal *refusal;
    /* memory of refusal[].lacked, which must outlive the scratch of a try */
    struct arena *refusals;
    /* Only for a graph in ONNX, else empty.  values: bytes that forward nodes make, from their layer to the last layer
     * that reads them.  gradients: bytes that backward nodes make, from their layer down to the first layer that reads
     * them.  waiting: ps of backward nodes, from their layer down to the first layer with a node that needs their
     * results, directly or not; if both layers are in one stage, the nodes only make gradients of weights there
     * (ir/plan/weight_pass.h). */
    struct layer_spans values, gradients, waiting;
    /* plans by PipeDream's rules; they depend neither on the schedule nor on the batch.  plan NULL: not found yet; the
     * first call of dapple_best() (dapple_plans.h) finds them */
    struct {
        struct stage_layout *plan;
        uint32_t n;
        uint32_t nusual; /* the first nusual of these plans are found without `wide`, too */
    } pipedream;
    /* true: finds more plans by PipeDream's rules than dapple-place runs, and tries more changes of the best plan */
    bool wide;
    bool
        single; /* among these changes are single layers that move to another stage, at a border or not */
    /* all settings that the planner chooses among, so that the bound holds for each of them; NULL: only the scene's */
    const struct training *offered;
    uint32_t noffered;
    bool too_long;       /* a tried plan was too long (struct stage_layout) */
    enum more_runs more; /* which further runs each tried plan gets */
    /* of the tried plans that are odd (struct stage_layout): their number, and the largest number of places among
     * them */
    struct {
        uint32_t plans, places;
    } odd;
    /* collects the formula's errors for the plans that dapple_best() runs (formula_errors.h); NULL: not wanted */
    struct formula_errors *errors;
    /* effort that train_fit() has spent on judging: for each plan judged, its nodes plus its values times
     * micro-batches */
    uint64_t judged;
    bool refused; /* the judge refused a plan that fitted by the sums of its stages */
    /* ps of the fastest plan that train_fit() found to fit; INT64_MAX: none yet */
    int64_t accepted;
    /* [place] bytes of each device that the sums of its stages leave free, since lists may need more; NULL: 0 */
    const int64_t *beyond;
    int64_t spare; /* bytes of each device that the sums leave free in any case */
};

/* A plan of n stages. */
struct stage_layout {
    uint32_t n;
    const uint32_t *stage_of;     /* [layer] its stage */
    const struct device_set *set; /* [stage] the stage's devices, as a number for each server */
    /* number of places: stage k is on the devices of stage k % places; 0: n places */
    uint32_t places;
    /* filled by train_try; the two arrays stay NULL if the plan cannot be run or does not fit the memory */
    uint32_t *ahead; /* [stage] number of forward passes before the first backward pass */
    /* [stage] 1: the stage runs its forward pass again before the backward pass */
    uint8_t *recompute;
    bool uneven; /* slices of a micro-batch on some stage would not be whole samples */
    bool odd;    /* the schedule cannot run this number of micro-batches on this many places */
    /* its updates would be within backward passes (train_updates_within), but are needed apart */
    bool within;
    /* the plan fits the memory, but an iteration takes 2^63 ps or more, which cannot be counted */
    bool too_long;
    /* why the judge refused the plan, if train_fit() asked; NULL: the judge did not refuse it */
    const char *why_not;
    /* ps of an iteration; INT64_MAX: does not fit the memory, is uneven, odd or too long, or its updates read what
     * other stages make and cannot be run */
    int64_t value;
};

/* Fills *t for the model, the cluster and the schedule of x.  planner: the planner's name, for messages.  Returns 0; -1
 * with an error if the model has no backward pass or the accelerators are not servers as servers.h wants them. */
int train_begin(struct train *t, struct ctx *x, const char *planner);
/* Returns whether the user has asked for updates apart, by --update or by options that say how. */
bool train_must_update_apart(const struct training *m);
/* Whether the plan's updates are within backward passes though they are wanted apart, since stages on unequal numbers
 * of devices pass numbers of samples (struct update_rules); such a plan has no steps of training.  Reads the scene's
 * settings. */
bool train_updates_within(const struct train *t, const struct stage_layout *p);
/* Adds a note if a plan whose updates are apart, `apart` ps, is taken in place of a quicker one whose updates are
 * within, `within` ps: only the first one has steps of training. */
void train_note_apart(const struct train *t, int64_t apart, int64_t within);
/* Returns the layer of a placed node. */
uint32_t train_layer(const struct train *t, nid n);
/* Returns the layers as a chain, with sums over the layers before each layer, for one micro-batch of the scene's
 * size. */
struct layer_chain train_chain(const struct train *t);
/* Sets the size of micro-batches to `size` samples, and their number so that the batch has `global` samples, which
 * `size` must divide. */
void train_set_size(struct training *m, int64_t global, int64_t size);
/* Returns whether the user has set the size or the number of micro-batches. */
bool train_size_said(const struct ctx *x);
/* Returns an array: [stage] its sums, for the samples that the costs are about.  Lives in a. */
struct stage_sums *train_sums(const struct train *t, const struct stage_layout *p, struct arena *a);
/* Runs the plan with all choices of `ahead` and `recompute` that the scene's settings allow, and writes the fastest one
 * that fits the memory to *p; sets p->uneven, p->odd and p->too_long, too.  New arrays are in the scratch arena. */
void train_try(const struct train *t, struct stage_layout *p);
/* Returns whether p is to be kept instead of *best: p is faster; or *best is no plan; or neither can be run, and p
 * tells more about the reason, because it is neither odd nor uneven. */
bool train_better(const struct stage_layout *p, const struct stage_layout *best);
/* Runs a plan that fits with more forward passes before the first backward pass than DAPPLE's policies want, as long as
 * that helps: it hides slow transfers.  Does nothing if the user or the schedule sets the number of these passes.
 * Writes the fastest run to *p. */
void train_farther(const struct train *t, struct stage_layout *p);
/* Returns a plan of n stages: stage k has the layers from end[k - 1] (the first stage: from 0) up to, but without,
 * end[k], on the devices set[k]. */
struct stage_layout train_cut(const struct train *t, uint32_t n, const uint32_t *end,
                              const struct device_set *set);
/* Returns a plan of n stages, at most as many as layers, whose longest stage is as short as possible; stage k is on the
 * devices set[k % places]. */
struct stage_layout train_even(const struct train *t, const struct layer_chain *chain, uint32_t n,
                               uint32_t places, const struct device_set *set);
/* Makes p, a plan that was run, fit the memory by the judge's count, too; does nothing if p takes `limit` ps or more.
 * If p does not fit, tries fewer forward passes ahead, and more stages that recompute.  If no such plan fits, or takes
 * less than `limit` ps, sets p->value to INT64_MAX, and p->why_not. */
void train_fit(struct train *t, struct stage_layout *p, int64_t limit);
/* Calls train_fit(), for planners that still search, unless it was called for many plans already or time is up.  In
 * these two cases, if the judge has refused a plan before and there is a limit, sets p->value to INT64_MAX.  Does
 * nothing if p takes as long as t->accepted, or longer: p may then not fit. */
void train_fit_early(struct train *t, struct stage_layout *p, int64_t limit);
/* Forgets what the judge has said of plans: a search among other plans begins. */
void train_fit_anew(struct train *t);
/* Returns the plan p, which was run, with stages and the device of each node, without a claim, in a. */
struct plan *train_plan(const struct train *t, const struct stage_layout *p, struct arena *a);
/* Makes p the result of the planner, with its value, bound and claim; adds a note if some of the tried plans were odd.
 * found_by: words for the claim on how the plan was found.  Calls train_fit().  Returns 0; PASS_INFEASIBLE with an
 * error if the value of p is INT64_MAX then, or the judge refuses p. */
int train_leave(struct train *t, struct stage_layout *p, const char *found_by);

/* The default planner for the time of an iteration: pipeline_place.c. */
extern const struct planner planner_pipeline_place;

#endif
