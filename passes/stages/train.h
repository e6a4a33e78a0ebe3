/* Plans that train: functions shared by the planners of stages. */
#ifndef PCC_PASSES_STAGES_TRAIN_H
#define PCC_PASSES_STAGES_TRAIN_H

#include "ir/exec/iteration/iteration_verdict.h"
#include "passes/passes.h"
#include "passes/stages/layer_chain.h"
#include "passes/problem/stage_states.h"

struct stage_layout;

/* From layer to layer. */
struct layer_span {
    uint32_t from, to;
    int64_t amount;
};
struct layer_spans {
    struct layer_span *span;
    uint32_t n, cap;
};

/* The model as layers: the vertices of the level that contract leaves, forward and backward nodes together. */
struct train {
    struct ctx *x;
    const char *planner;
    struct servers servers;
    struct layers_of layers;
    int64_t *stored;       /* [layer] bytes that forward leaves for backward */
    int64_t *constant;     /* [layer] constant bytes beside weights */
    const uint32_t *layer; /* [base vertex] */
    struct clock clock;
    /* of a graph in ONNX: bytes from the layer that makes them to the last that reads them forward, to the first that
     * does backward; and ps of backward nodes to the first layer for which they, or what is made of them, are wanted:
     * if that is in the same stage, they make gradients of weights (weight_pass.h) */
    struct layer_spans values, gradients, waiting;
    /* PipeDream's plans, which neither schedule nor batch changes: dapple_best() */
    struct stage_layout *pipedream;
    uint32_t npipedream;
    /* models that the planner chooses from, which a bound is to hold for; NULL: that of the scene */
    const struct training *offered;
    uint32_t noffered;
    struct {
        uint32_t plans, places;
    } odd; /* plans that were tried and are odd: how many, and the most places that one's stages are on */
    /* errors of the formula in the plans that dapple_best() runs; NULL: not wanted */
    struct formula_errors *errors;
};

/* Layers on stages, and devices for these. */
struct stage_layout {
    uint32_t n;
    const uint32_t *stage_of;     /* [layer] */
    const struct device_set *set; /* [stage] */
    uint32_t
        places; /* number of places: stage k is on the devices of stage k % places; 0: n places */
    /* filled by train_try: */
    uint32_t *ahead;
    uint8_t *recompute;
    bool uneven;   /* devices of a stage would have to share a sample: it cannot be run */
    bool odd;      /* the schedule cannot run this number of micro-batches */
    int64_t value; /* ps of an iteration; INT64_MAX: it has no room, is uneven or odd */
};

/* 0, or -1 and an error: the model is not trained, or devices are of several kinds. */
int train_begin(struct train *t, struct ctx *x, const char *planner);
/* The layer of a placed node. */
uint32_t train_layer(const struct train *t, nid n);
/* The layers one after the other, for a micro-batch. */
struct layer_chain train_chain(const struct train *t);
/* Divides a batch of so many samples into micro-batches of `size`. */
void train_set_size(struct training *m, int64_t global, int64_t size);
/* Whether the user says how large micro-batches are, or how many there are. */
bool train_size_said(const struct ctx *x);
/* Sums of each stage, before they are scaled.  Lives in a. */
struct stage_sums *train_sums(const struct train *t, const struct stage_layout *p, struct arena *a);
/* Runs stages with the best order of forward and backward passes that the model's settings allow. */
void train_try(const struct train *t, struct stage_layout *p);
/* A plan by layers that end at end[stage]. */
struct stage_layout train_cut(const struct train *t, uint32_t n, const uint32_t *end,
                              const struct device_set *set);
/* A plan of n stages of about the same time, in turn on the places `set`. */
struct stage_layout train_even(const struct train *t, const struct layer_chain *chain, uint32_t n,
                               uint32_t places, const struct device_set *set);
/* Leaves the plan; what tells how it was found.  0, or PASS_INFEASIBLE and an error if no device has room. */
int train_leave(const struct train *t, const struct stage_layout *p, const char *what);

/* The default for the time of an iteration: pipeline_place.c. */
extern const struct planner planner_pipeline_place;

#endif
