/* DAPPLE's search: which layers of a chain make a stage, and which devices each stage gets. */
#ifndef PCC_PASSES_STAGES_DAPPLE_SEARCH_H
#define PCC_PASSES_STAGES_DAPPLE_SEARCH_H

#include "ir/base/arena.h"
#include "ir/base/clock.h"
#include "passes/stages/layer_chain.h"
#include "ir/cluster/servers.h"

/* A plan of n stages: stage s has the layers end[s - 1] (the first stage: 0) .. end[s] - 1 on the devices
 * devices[s]. */
struct stage_plan {
    uint32_t n;
    uint32_t *end;
    struct device_set *devices;
    int64_t latency; /* ps of an iteration by the formula (stage_formula.h) */
};

/* Input of the search, beside the layers. */
struct dapple_rules {
    const struct servers *servers;
    uint32_t micro_batches; /* number of micro-batches of an iteration */
    /* samples of a micro-batch, of which each device of a stage must get equally many; 0: shares need not be whole
     * samples */
    int64_t samples;
    int64_t memory;        /* bytes of a device for weights and activations; 0: no limit */
    int64_t weight_copies; /* number of copies of the weights that count in a device's memory */
    bool literal;          /* use the formula as printed (stage_formula) */
    /* number of prefixes (plans of the first layers) that are kept by each of two measures, among those with the same
     * layers and devices; 0: 4 */
    uint32_t beam;
    uint32_t most; /* number of plans to return, at least 2; 0: 64 */
    int64_t work;  /* number of evaluations of the formula, about; 0: 12,000,000 */
};

/* Result of the search. */
struct dapple_found {
    struct stage_plan *plan; /* [nplan] the best by the formula first */
    uint32_t nplan;
    uint64_t evaluated; /* number of evaluations of the formula */
    /* true: all cuts and numbers of devices were tried; false: some were left out because of the work, or the clock
     * ran out */
    bool complete;
};

/* Returns the best plans by the formula that were found, among them the plan with a single stage.  Plans use all
 * devices; if shares must be whole samples, the last stage leaves out devices until the others can share a
 * micro-batch.  Lives in a.  O(layers^2 * ways to use devices * devices) evaluations of O(stages), or `work`
 * evaluations. */
struct dapple_found dapple_search(const struct layer_chain *c, const struct dapple_rules *r,
                                  struct clock *clock, struct arena *a);

/* Returns the time of an iteration of a plan by the formula, ps. */
int64_t stage_plan_latency(const struct layer_chain *c, const struct dapple_rules *r,
                           const struct stage_plan *p, struct arena *scratch);

#endif
