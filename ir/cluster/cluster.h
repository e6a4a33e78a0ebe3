/* The cluster: classes of devices, each device with a link to the host; links between two devices.
 *
 * Devices of a class may stand in groups (servers of GPUs) that a faster, inner link joins
 * (placement paper, H.3).  A device pays the inner cost for a net whose pins are all in its group, the
 * host's included (which is in none), else that of its ordinary link.
 *
 * Devices are numbered class by class in the order given.  Names: acc0, acc1, ... over all
 * accelerator classes, cpu0, cpu1, ... over the host classes. */
#ifndef PCC_IR_CLUSTER_CLUSTER_H
#define PCC_IR_CLUSTER_CLUSTER_H

#include "ir/model/module.h"

enum { CLUSTER_CLASSES = 8, CLUSTER_DEVICES = 1024, CLUSTER_LEVELS = 4 };

struct device_class {
    const char *name; /* "a100" */
    bool host;        /* a CPU: its memory is the host's, it pays for no transfer */
    uint32_t count;
    int64_t memory;           /* bytes per device that a plan may use; -1: unbounded */
    int64_t reserve;          /* bytes per device that were taken off for the runtime itself */
    int64_t peak[ELEM_COUNT]; /* operations per second by element type; read with cluster_peak */
    int64_t bandwidth;        /* bytes per second of the device's own memory */
    int64_t overhead;         /* ps per operator */
    int64_t link_latency;     /* ps per transfer */
    int64_t link_bandwidth;   /* bytes per second */
    uint32_t group;           /* devices that stand together, divides count; 0: each alone */
    int64_t inner_latency;    /* ps per transfer within a group */
    int64_t inner_bandwidth;  /* bytes per second within a group; 0: inner_share says it all */
    /* inner time of a transfer whose time a profile gives, in millionths of that; 0: in proportion to the links'
     * rates */
    int64_t inner_share;
    /* operator types, ascending: all that the class runs (ops_only), or all that it cannot run */
    const char *const *ops;
    uint32_t nops;
    bool ops_only;
};

/* A link between two named accelerators, beside the links of their classes. */
struct device_link {
    uint32_t from, to;
    bool oneway; /* else both ways */
    int64_t latency, bandwidth;
};

/* A level of links: machines that a link joins to a larger one.  The machines of the innermost level are devices. */
struct cluster_level {
    uint32_t size; /* machines in one of the level above */
    int64_t latency, bandwidth;
    int64_t reduce; /* bytes per second of an AllReduce there; 0: as the links have it */
};

struct cluster {
    struct device_class cls[CLUSTER_CLASSES];
    uint32_t ncls, ndev;
    /* bytes per second of an AllReduce over several groups; 0: that of the links */
    int64_t reduce_bandwidth;
    /* of the accelerators, innermost first, all of them together; 0: what the class says.  Of two levels the class has
     * the inner one as its groups, the outermost one is always its link */
    struct cluster_level level[CLUSTER_LEVELS];
    uint32_t nlevel;
    struct device_link *link; /* by cluster_add_link */
    uint32_t nlink, caplink;
    /* [from * CLUSTER_DEVICES + to] 1 + the link that goes that way, 0: none; NULL: there are no links */
    uint32_t *link_of;
};

/* "2xa100", "4xa100:40GiB,1xcpu", or the name of a JSON file (ends in .json; form: cluster.md).
 * Errors go to d. */
int cluster_parse(struct cluster *c, struct arena *a, const char *text, struct diag *d);
/* "25GB/s,10us": the link of every accelerator. */
int cluster_set_link(struct cluster *c, const char *text, struct diag *d);
/* "4:300GB/s,2us", "4:0.25": every accelerator class stands in groups of that many devices, joined by
 * such a link, or at that share of the time of an ordinary transfer. */
int cluster_set_groups(struct cluster *c, const char *text, struct diag *d);
/* "8:25GB/s,0us,100GB/s/2:3GB/s,0us": levels of links, innermost first, each with its size, its link and, if it is
 * another one, the rate of an AllReduce.  There must be accelerators of one class, as many as all sizes multiplied. */
int cluster_set_levels(struct cluster *c, struct arena *a, const char *text, struct diag *d);
/* Reads such a text into c->level; false: it is none.  Whether the devices fit is cluster_take_levels' to say. */
bool cluster_levels_parse(struct cluster *c, const char *text);
/* The same text with exact figures; lives in a. */
const char *cluster_levels_text(const struct cluster *c, struct arena *a);
/* NULL, or why there cannot be the levels of c->level, as the end of a message in a. */
const char *cluster_take_levels(struct cluster *c, struct arena *a);
/* Leaves a part of each accelerator's memory to the runtime: "10%", "0.1" or "2GiB"; "0": nothing.  Memory without a
 * limit keeps no limit. */
int cluster_set_reserve(struct cluster *c, const char *text, struct diag *d);
/* Two a100. */
void cluster_default(struct cluster *c);
/* Operations per second for an element type, above 0; without a peak: as f32, u8 as i8. */
int64_t cluster_peak(const struct device_class *cls, enum elem e);
/* Can devices of the class run this operator type? */
bool cluster_supports(const struct device_class *cls, const char *op);
/* Class of a device. */
uint32_t cluster_class(const struct cluster *c, uint32_t dev);
/* The first device of the group that a device stands in: itself where its class has no groups. */
uint32_t cluster_group(const struct cluster *c, uint32_t dev);
/* The class whose transfers stand for all: the first one of accelerators, else 0. */
uint32_t cluster_main_class(const struct cluster *c);
/* Bytes of the smallest device; -1: none has a limit. */
int64_t cluster_least_memory(const struct cluster *c);
/* Whether some class stands in groups of more than one device. */
bool cluster_grouped(const struct cluster *c);
/* "acc0"; the name lives in a. */
const char *cluster_device_name(const struct cluster *c, struct arena *a, uint32_t dev);
/* Device by name, -1: none.  O(classes). */
int cluster_device(const struct cluster *c, const char *name);

/* ---- Transfers and their links ---------------------------------------------------------------- */

/* A value on its way from one device, or the host, to another. */
struct moved_value {
    int64_t bytes;
    /* ps that a profile gives for it over a device's link to the host; -1: none does */
    int64_t measured;
    bool light; /* has at most 64 elements: pays no latency */
};

/* The host as an end of a route, beside the devices. */
enum { CLUSTER_HOST = CLUSTER_DEVICES };

/* ps that a value takes of a device of the class, over its link to the host, or (inner) over the link within its
 * group where that is better.  Host classes: 0.  O(1). */
int64_t cluster_transfer(const struct cluster *c, uint32_t cls, bool inner, struct moved_value v);
/* ps that a value takes from one device (or CLUSTER_HOST) straight to another one: over the link of the two, if they
 * have one (device_link); else over that of the device that has the value, or the inner link if both are of one
 * group; from the host, over that of the device that gets it.  Between the host and its CPUs: 0.  A measured time
 * counts over a link of two devices in proportion to the rates of that and of the first one's link to the host.
 * O(classes). */
int64_t cluster_route(const struct cluster *c, uint32_t from, uint32_t to, struct moved_value v);
/* Adds the link l between the devices with these names; from and to of l are filled in.  The devices' classes are
 * there.  NULL, or why it cannot be, as the end of a message in a.  O(classes). */
const char *cluster_add_link(struct cluster *c, struct arena *a, struct device_link l,
                             const char *const name[2]);

#endif
