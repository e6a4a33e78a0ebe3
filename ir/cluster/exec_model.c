/* What a device's work takes under an execution model (exec_model.h).
 *
 * Source: the placement paper, 5.1 (loads), H.1 (overlap) and H.2 (copies).  O(1) each. */
#include "ir/cluster/exec_model.h"

#include "ir/base/units.h"

#include <assert.h>

const char *const objective_name[OBJECTIVES + 1] = {"time-per-sample", "makespan", NULL};
const char *const overlap_name[OVERLAPS + 1] = {"sum", "max", "duplex", NULL};
const char *const micro_schedule_name[MICRO_SCHEDULES + 1] = {"pipedream", "gpipe", NULL};
const char *const network_name[NETWORKS + 1] = {"host", "direct", NULL};
const char *const contention_name[CONTENTIONS + 1] = {"port", "none",     "link", "half",
                                                      "rx",   "blocking", NULL};
const char *const dispatch_name[DISPATCHES + 1] = {"plan", "fifo", "level", NULL};
const char *const memory_model_name[MEMORY_MODELS + 1] = {"usual", "sum", "live", NULL};

enum memory_model exec_memory(const struct exec_model *e)
{
    if (e->memory != MEMORY_USUAL)
        return e->memory;
    return e->objective == OBJECTIVE_SAMPLE ? MEMORY_SUM : MEMORY_LIVE;
}

int64_t exec_efficiency(const struct exec_model *e)
{
    return e->efficiency ? e->efficiency : 1000000;
}

int64_t exec_load(const struct exec_model *e, int64_t compute, int64_t in, int64_t out)
{
    assert(compute >= 0 && in >= 0 && out >= 0);
    if (e->overlap == OVERLAP_SUM)
        return sat_add(compute, sat_add(in, out));
    int64_t move = e->overlap == OVERLAP_MAX ? sat_add(in, out) : in > out ? in : out;
    return compute > move ? compute : move;
}

int64_t exec_sync(const struct exec_model *e, const struct device_class *cls, int64_t weights,
                  uint32_t copies)
{
    assert(weights >= 0);
    int64_t rate = e->sync_bandwidth ? e->sync_bandwidth : cls->link_bandwidth;
    if (copies < 2 || rate <= 0)
        return 0;
    return mul_div_ceil(sat_mul(weights, copies - 1), PS_PER_S, sat_mul(rate, copies));
}

int64_t exec_shared_load(const struct exec_model *e, int64_t load, int64_t sync, uint32_t copies)
{
    assert(load >= 0 && sync >= 0);
    if (copies < 2 || load == INT64_MAX)
        return load;
    int64_t share = load / copies + (load % copies != 0);
    if (e->overlap == OVERLAP_SUM)
        return sat_add(share, sync);
    return share > sync ? share : sync;
}
