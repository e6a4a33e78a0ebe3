/* Classes of devices that are known by name. */
#ifndef PCC_IR_CLUSTER_PRESETS_H
#define PCC_IR_CLUSTER_PRESETS_H

#include "ir/base/nearest.h"
#include "ir/cluster/cluster.h"

#define PRESET_NAMES                                                                               \
    "v100, a100, h100, h200, b200, t4, l4, a10, a30, l40s, rtx3090, rtx4090, mi300x, npu, cpu"
#define PRESET_DEFAULT "a100"
/* Link of accelerators for which the user gives no link: bytes per s, ps. */
#define LINK_BANDWIDTH INT64_C(25000000000)
#define LINK_LATENCY INT64_C(10000000)

/* Writes *c, one device of the class of that name in any case, of n bytes; false: there is none.  O(presets). */
bool preset_of(const char *name, size_t n, struct device_class *c);
/* The same of the i-th class; false: no more. */
bool preset_at(uint32_t i, struct device_class *c);

/* A link that is known by name. */
struct link_preset {
    const char *name;
    int64_t bandwidth, latency; /* bytes per s, ps */
};
/* The link of that name in any case; NULL: there is none.  The i-th; NULL: no more. */
const struct link_preset *link_preset_of(const char *name);
const struct link_preset *link_preset_at(uint32_t i);
/* The name of the i-th whole cluster; NULL: no more. */
const char *cluster_preset_name(uint32_t i);
/* A whole cluster by its name: "dapple-a"; false: there is none of that name. */
bool cluster_preset(struct cluster *c, const char *name);
/* How many devices s[0 .. n) says, in digits; 0: none that a cluster may have. */
uint32_t preset_count(const char *s, size_t n);
/* The class that name[0 .. n) is nearest to; NULL: none is near.  *count becomes that of "2a100" and "a100x2". */
const char *preset_near(const char *name, size_t n, uint32_t *count);

#endif
