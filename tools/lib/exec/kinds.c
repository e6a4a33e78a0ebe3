/* The table of all execution models, in the order in which help and messages list them (kinds.h). */
#include "tools/lib/exec/kinds.h"

extern const struct exec_kind exec_sample, exec_makespan, exec_iteration, exec_latency;

const struct exec_kind *const exec_kinds[] = {
    &exec_sample, &exec_makespan, &exec_iteration, &exec_latency, NULL,
};
