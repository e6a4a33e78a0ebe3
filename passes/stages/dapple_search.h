/* DAPPLE's search over stages of a chain of layers and the devices that each is given. */
#ifndef PCC_PASSES_STAGES_DAPPLE_SEARCH_H
#define PCC_PASSES_STAGES_DAPPLE_SEARCH_H

#include "ir/base/arena.h"
#include "ir/base/clock.h"
#include "passes/stages/layer_chain.h"
#include "ir/cluster/servers.h"

/* Stage s has the layers from that of stage s - 1's end (the first one: 0) to end[s], and devices[s]. */
struct stage_plan {
    uint32_t n;
    uint32_t *end;
    struct device_set *devices;
    int64_t latency; /* ps by the formula */
};

struct dapple_rules {
    const struct servers *servers;
    uint32_t micro_batches;
    int64_t
        samples;    /* of a micro-batch, which devices of a stage share in whole; 0: in any parts */
    int64_t memory; /* bytes of a device for weights and activations; 0: without end */
    int64_t weight_copies; /* that training keeps; memory only */
    bool literal;          /* by the formula as printed */
    uint32_t
        beam; /* prefixes that are kept for each way to get so far, by each of two keys; 0: 4 */
    uint32_t most; /* plans that are given back, at least 2; 0: 64 */
    int64_t work;  /* evaluations of the formula, about; 0: 4,000,000 */
};

struct dapple_found {
    struct stage_plan *plan; /* the best by the formula first */
    uint32_t nplan;
    uint64_t evaluated;
    bool
        complete; /* all cuts and numbers of devices were tried; else some were left out, or the clock ended it */
};

/* Plans that use all devices, or where samples are whole as many for the last stage as can share, among them the one of
 * a single stage.  Lives in a.  O(layers^2 * ways to use devices * devices) evaluations of O(stages), or `work` of
 * them. */
struct dapple_found dapple_search(const struct layer_chain *c, const struct dapple_rules *r,
                                  struct clock *clock, struct arena *a);

/* The formula's latency of a plan, ps. */
int64_t stage_plan_latency(const struct layer_chain *c, const struct dapple_rules *r,
                           const struct stage_plan *p, struct arena *scratch);

#endif
