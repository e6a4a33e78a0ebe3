/* The cluster: classes of devices, each device with a link to the host; links between two devices.
 *
 * Devices of a class may stand in groups (servers of GPUs) that a faster, inner link joins (placement paper, H.3).
 * For a net (placeable.h) whose pins are all in its group, a device pays the time of the inner link, else the time of
 * its link to the host.  The host is in no group.
 *
 * Devices are numbered class by class in the order given.  Names: acc0, acc1, ... over all accelerator classes, cpu0,
 * cpu1, ... over the host classes. */
#ifndef PCC_IR_CLUSTER_CLUSTER_H
#define PCC_IR_CLUSTER_CLUSTER_H

#include "ir/model/module.h"

/* The most classes, devices and levels of links of a cluster. */
enum { CLUSTER_CLASSES = 8, CLUSTER_DEVICES = 1024, CLUSTER_LEVELS = 4 };

/* Figures of what kernels reach on a class of devices, fitted to measured kernels (passes/cost/kernels.h has the
 * model). */
enum kernel_fact {
    /* multiprocessors, each of which computes one tile of a matrix product at a time; 0: there are no figures, and the
     * class computes at its peaks and moves bytes at its bandwidth */
    KERNEL_UNITS,
    KERNEL_TILE,     /* least edge of a tile in a node of several products: 64 or 128 */
    KERNEL_PROLOGUE, /* starting a tile takes as long as summing up this many elements */
    KERNEL_PRODUCT,  /* millionths of the peak that a large product reaches */
    KERNEL_BATCHED,  /* millionths of the peak that a node of several products reaches */
    KERNEL_CONV,     /* millionths of the peak that a convolution reaches */
    KERNEL_STREAM,   /* millionths of the bandwidth that kernels which move bytes reach */
    KERNEL_ROW,      /* elements of the longest row that a layer normalisation reads once */
    /* a card whose power does not suffice to keep its clocks: after KERNEL_BURST ps of a kernel, the rest runs at
     * KERNEL_WARM millionths of the rate; KERNEL_BURST 0: the card keeps its clocks */
    KERNEL_BURST,
    KERNEL_WARM,
    KERNEL_FACTS
};

/* The type in which devices compute what the model has in f32.  AS_MODEL: f32.  TF32: matrix products and
 * convolutions take operands that are cut to TF32.  F16, BF16: all nodes of f32 compute in this type and move half
 * the bytes.  I8: matrix products and convolutions compute in it and move a quarter of the bytes. */
enum precision {
    PRECISION_AS_MODEL,
    PRECISION_TF32,
    PRECISION_F16,
    PRECISION_BF16,
    PRECISION_I8,
    PRECISIONS
};
/* [enum precision] "f32", "tf32", ...; NULL ends the list. */
extern const char *const precision_name[PRECISIONS + 1];

/* A class of equal devices. */
struct device_class {
    const char *name; /* "a100" */
    bool host;        /* a CPU: it uses the memory of the host and pays for no transfer */
    uint32_t count;   /* number of devices */
    int64_t memory;   /* bytes per device that a plan may use; -1: unbounded */
    int64_t reserve;  /* bytes per device kept for the runtime, already subtracted from memory */
    int64_t peak[ELEM_COUNT]; /* operations per second by element type; read with cluster_peak() */
    int64_t tf32;             /* operations per second of products in TF32; 0: not known */
    /* the type that computes what the model has in f32; set by cluster_set_precision() */
    enum precision precision;
    int64_t bandwidth;            /* bytes per second of the device's own memory */
    int64_t overhead;             /* ps that each operator takes besides computing */
    int64_t kernel[KERNEL_FACTS]; /* what kernels reach of peak and bandwidth */
    int64_t link_latency;         /* ps per transfer over the link to the host */
    int64_t link_bandwidth;       /* bytes per second over the link to the host; 0: host classes */
    uint32_t group;               /* number of devices in a group, divides count; 0: no groups */
    int64_t inner_latency;        /* ps per transfer within a group */
    /* bytes per second within a group; 0: not known, inner_share counts alone */
    int64_t inner_bandwidth;
    /* time of a transfer within a group, in millionths of its time over the link to the host; counts where that time
     * was measured or inner_bandwidth is 0.  0: no share is given, the two bandwidths count */
    int64_t inner_share;
    /* [nops] operator types, ascending.  ops_only: the class runs only these; else it runs all operators but these */
    const char *const *ops;
    uint32_t nops; /* 0: the class runs all operators */
    bool ops_only;
    const char *note; /* where the figures come from, in words for users; NULL: nothing is said */
};

/* A link between two accelerators.  A transfer between the two in one hop takes this link instead of the links of their
 * classes. */
struct device_link {
    uint32_t from, to;          /* devices */
    bool oneway;                /* only from -> to; false: both ways */
    int64_t latency, bandwidth; /* ps per transfer, bytes per second */
};

/* A level of links: each link joins `size` units to a larger unit, a unit of the next level.  The units of the
 * innermost level are devices; for instance 8 devices make a server, 2 servers a rack. */
struct cluster_level {
    uint32_t size;
    int64_t latency, bandwidth; /* ps per transfer, bytes per second */
    int64_t reduce; /* bytes per second of an AllReduce over these links; 0: no rate of its own */
};

struct cluster {
    struct device_class cls[CLUSTER_CLASSES];
    uint32_t ncls, ndev; /* number of classes; number of devices of all classes */
    /* bytes per second of an AllReduce over several groups; 0: the bandwidth of the link to the host counts */
    int64_t reduce_bandwidth;
    /* levels of links between the accelerators, innermost first.  The outermost level is also the link of the class; of
     * several levels the innermost one also makes the groups of the class */
    struct cluster_level level[CLUSTER_LEVELS];
    uint32_t nlevel;          /* 0: there are only the links and groups of the classes */
    struct device_link *link; /* [nlink] added by cluster_add_link() */
    uint32_t nlink, caplink;
    /* [from * CLUSTER_DEVICES + to] 1 + index in link[] of the link that leads from `from` to `to`, 0: there is none;
     * NULL: link[] is empty */
    uint32_t *link_of;
};

/* Makes *c from a text: "2xa100", "4xa100:40GiB,1xcpu", "dapple-a" (presets.h), or the name of a JSON file, which
 * ends in .json (form: cluster.md).  Names and lists live in a.  Returns 0, or -1 and an error in d. */
int cluster_parse(struct cluster *c, struct arena *a, const char *text, struct diag *d);
/* Returns *c as a JSON file in the form that cluster_parse() reads (cluster.md), in a.  Read back, it is an equal
 * cluster, without the reserve of cluster_set_reserve() and the rate of reduce_bandwidth.  oneline: without line
 * breaks. */
const char *cluster_file_text(const struct cluster *c, bool oneline, struct arena *a);
/* Gives every accelerator the link to the host that the text describes: "25GB/s,10us" or a name such as "pcie4x16".
 * Returns 0, or -1 and an error in d. */
int cluster_set_link(struct cluster *c, const char *text, struct diag *d);
/* Puts the accelerators of every class into groups of that many devices: "4:300GB/s,2us" gives their inner link,
 * "4:0.25" the time of a transfer within a group as a share of its time over the link to the host.  Returns 0, or -1
 * and an error in d. */
int cluster_set_groups(struct cluster *c, const char *text, struct diag *d);
/* Sets the levels of links: "8:25GB/s,0us,100GB/s/2:3GB/s,0us", innermost first, each with its size, bandwidth, latency
 * and, if it has one of its own, the rate of an AllReduce.  All accelerators must be of one class, and their number the
 * product of all sizes.  Returns 0, or -1 and an error in d. */
int cluster_set_levels(struct cluster *c, struct arena *a, const char *text, struct diag *d);
/* Parses a text as for cluster_set_levels() into c->level and c->nlevel; returns false if it is not valid.  Does not
 * check that the devices fit: cluster_take_levels() does. */
bool cluster_levels_parse(struct cluster *c, const char *text);
/* Returns c->level as text for cluster_levels_parse(), with exact numbers, in a; "" if there are no levels. */
const char *cluster_levels_text(const struct cluster *c, struct arena *a);
/* Sets link and groups of the accelerators' class from c->level; nlevel must be above 0.  Returns NULL, or the reason
 * why these levels do not fit the devices, as the end of a message, in a. */
const char *cluster_take_levels(struct cluster *c, struct arena *a);
/* Takes a part of each accelerator's memory away from plans, for the runtime: "10%", "0.1" or "2GiB"; "0": nothing.
 * Replaces an earlier reserve.  Unbounded memory stays unbounded.  Returns 0, or -1 and an error in d. */
int cluster_set_reserve(struct cluster *c, const char *text, struct diag *d);
/* Sets the type in which classes of devices compute what the model has in f32: "tf32", or for single classes
 * "f16:a100,i8:npu".  A type without a class counts for all classes that have a rate for it, which must be one at
 * least.  Returns 0, or -1 and an error in d. */
int cluster_set_precision(struct cluster *c, const char *text, struct diag *d);
/* Returns the operations per second in this precision; 0: the class has no rate for it. */
int64_t cluster_precision_peak(const struct device_class *cls, enum precision p);
/* Returns the precision with this name; PRECISIONS: there is none. */
enum precision precision_of(const char *name, size_t n);
/* Returns the element type in which values that are f32 in the model are stored in this precision; for TF32 it is
 * f32. */
enum elem precision_elem(enum precision p);
/* Makes *c the default cluster: two devices of the class a100. */
void cluster_default(struct cluster *c);
/* Returns the operations per second for an element type, always above 0.  A type without a peak of its own has the
 * peak of f32; u8 has the peak of i8 if there is one. */
int64_t cluster_peak(const struct device_class *cls, enum elem e);
/* Whether devices of the class can run this operator type. */
bool cluster_supports(const struct device_class *cls, const char *op);
/* Returns the class of a device, as an index of c->cls. */
uint32_t cluster_class(const struct cluster *c, uint32_t dev);
/* Returns the first device of the group that dev is in; dev itself if its class has no groups. */
uint32_t cluster_group(const struct cluster *c, uint32_t dev);
/* Returns the class whose times count where only one class can be used: the first class of accelerators; 0 if there
 * are only hosts. */
uint32_t cluster_main_class(const struct cluster *c);
/* Returns the memory of the device with the least memory, in bytes; -1: the memory of all devices is unbounded. */
int64_t cluster_least_memory(const struct cluster *c);
/* Whether some class has groups of more than one device. */
bool cluster_grouped(const struct cluster *c);
/* Returns the name of a device, such as "acc0", in a. */
const char *cluster_device_name(const struct cluster *c, struct arena *a, uint32_t dev);
/* Returns the names of all devices, "acc0 to acc3 and cpu0", for messages, in a. */
const char *cluster_devices(const struct cluster *c, struct arena *a);
/* Returns the device with this name; -1: there is none.  O(classes). */
int cluster_device(const struct cluster *c, const char *name);

/* ---- Transfers and their links ---------------------------------------------------------------- */

/* What the time of a value's transfer depends on. */
struct moved_value {
    int64_t bytes;
    int64_t measured; /* ps over a device's link to the host, from a profile; -1: not measured */
    bool at_host; /* made in the host's memory (place.net_at_host): its transfer pays no latency */
};

/* The number of the host as an end of a route; smaller numbers are devices. */
enum { CLUSTER_HOST = CLUSTER_DEVICES };

/* Returns the ps that a device of class cls pays to move a value over its link to the host, or, if `inner`, over the
 * link within its group, if that is faster.  0 for host classes.  O(1). */
int64_t cluster_transfer(const struct cluster *c, uint32_t cls, bool inner, struct moved_value v);
/* Returns the ps that a value takes from one device (or CLUSTER_HOST) to another one in one hop.  Between two
 * accelerators with a link of their own (struct device_link): over that link; else over the link of `from`, its inner
 * link if both are in one group.  From the host or a CPU: over the link of `to`.  Between the host and CPUs: 0.  If the
 * value has a measured time, the link of two devices takes measured * (link_bandwidth of from's class) / (its own
 * bandwidth).  O(classes). */
int64_t cluster_route(const struct cluster *c, uint32_t from, uint32_t to, struct moved_value v);
/* Adds the link l, which leads from the device named name[0] to the one named name[1]; l.from and l.to need not be set.
 * All classes of c must be there.  Returns NULL, or the reason why there cannot be such a link, as the end of a
 * message, in a.  O(classes). */
const char *cluster_add_link(struct cluster *c, struct arena *a, struct device_link l,
                             const char *const name[2]);

#endif
