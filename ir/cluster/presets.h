/* Classes of devices that are known by name. */
#ifndef PCC_IR_CLUSTER_PRESETS_H
#define PCC_IR_CLUSTER_PRESETS_H

#include "ir/base/nearest.h"
#include "ir/cluster/cluster.h"

#define PRESET_NAMES "v100, a100, h100, h200, npu, cpu"
#define PRESET_DEFAULT "a100"
/* The link of accelerators whose link nobody names: bytes per s, ps. */
#define LINK_BANDWIDTH INT64_C(25000000000)
#define LINK_LATENCY INT64_C(10000000)

/* The class of that name, of n bytes, with a count of 0; NULL: there is none.  O(presets). */
const struct device_class *preset_of(const char *name, size_t n);
/* A whole cluster by its name: "dapple-a"; false: there is none of that name. */
bool cluster_preset(struct cluster *c, const char *name);
/* "; did you mean 'a100'?", or "" (nearest.h). */
const char *preset_hint(const char *name, size_t n, struct arena *a);

#endif
