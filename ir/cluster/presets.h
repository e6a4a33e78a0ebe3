/* Device classes, links and whole clusters that users can name, such as a100, nvlink3 and dapple-a. */
#ifndef PCC_IR_CLUSTER_PRESETS_H
#define PCC_IR_CLUSTER_PRESETS_H

#include "ir/base/nearest.h"
#include "ir/cluster/kernel_rates.h"

#define PRESET_DEFAULT "a100"
/* The link between accelerators and the host where the user gives none: bandwidth in bytes per second, latency in
 * ps. */
#define LINK_BANDWIDTH INT64_C(25000000000)
#define LINK_LATENCY INT64_C(10000000)

/* The maker of the GPU that a class stands for; the maker's program lists such GPUs by the class's name.  NO_GPU: the
 * class is no GPU, or a GPU that no such program lists.  NPU: the class is an NPU. */
enum gpu_maker { NO_GPU, NVIDIA, AMD, INTEL, GPU_MAKERS, NPU = GPU_MAKERS };

/* Makes *c the class called name[0 .. n) (capitals do not matter), with one device; returns false if there is no
 * such class.  The name may also be the class's other name ("4090"), or the name of a processor with a number of
 * cores behind it ("xeon32"): then c->name is made in a.  a may be NULL if the name ends in no number of cores.
 * O(presets). */
bool preset_of(const char *name, size_t n, struct arena *a, struct device_class *c);
/* Makes *c the i-th class, with one device; returns false if there are not more than i classes. */
bool preset_at(uint32_t i, struct device_class *c);
/* Returns the other name of the i-th class, "" if it has none; NULL: there are not more than i classes. */
const char *preset_also(uint32_t i);
/* Returns the maker of the i-th class, which must exist (see enum gpu_maker). */
enum gpu_maker preset_maker(uint32_t i);
/* Returns where the kernel rates of the i-th class come from (kernel_rates.h); the class must exist. */
enum kernel_source preset_kernels(uint32_t i);
/* Whether the class with this name is an NPU. */
bool preset_is_npu(const char *name);
/* Whether devices of the class count as GPUs: they are accelerators, but no NPUs. */
bool preset_is_gpu(const struct device_class *c);
/* Writes to number[0 .. n) the number by which runtimes know each device, whose class has the name class[i].  GPUs of
 * one maker count from 0 in their order, whatever their classes, since a runtime knows only the GPUs of its maker.  A
 * GPU whose class is no preset counts as one of the maker of the first GPU that is a preset; GPUs of presets with
 * NO_GPU count by themselves.  CPUs (class[i] NULL) and NPUs get -1.  O(n * presets). */
void gpus_number(const char *const *class, uint32_t n, int32_t *number);
/* Does the same for the devices of a cluster. */
void cluster_number_gpus(const struct cluster *c, struct arena *a, int32_t *number);
/* Whether the class with this name is a preset that is a GPU of another maker than this one. */
bool preset_is_other_gpu(const char *name, enum gpu_maker maker);

/* A link that is known by name. */
struct link_preset {
    const char *name;
    int64_t bandwidth, latency; /* bytes per second; ps per transfer */
    bool measured;              /* the bandwidth is published as measured; false: it is estimated */
};
/* Returns the link with this name (capitals do not matter); NULL: there is none. */
const struct link_preset *link_preset_of(const char *name);
/* Returns the i-th link; NULL: there are not more than i links. */
const struct link_preset *link_preset_at(uint32_t i);
/* Returns the name of the i-th preset of a whole cluster; NULL: there are not more than i. */
const char *cluster_preset_name(uint32_t i);
/* Makes *c the whole cluster with this name, such as "dapple-a" (capitals do not matter); returns false if there is no
 * such cluster. */
bool cluster_preset(struct cluster *c, const char *name);
/* Returns the number of devices that s[0 .. n) stands for; 0 if it is no number from 1 to CLUSTER_DEVICES. */
uint32_t preset_count(const char *s, size_t n);
/* Returns the name of the class that the mistyped name[0 .. n) is nearest to; NULL: none is near.  If name[] is a class
 * and a number of devices, such as "2a100" or "a100x2", writes the number to *count; else *count does not change. */
const char *preset_near(const char *name, size_t n, uint32_t *count);

#endif
