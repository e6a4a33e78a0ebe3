/* The accelerators of a cluster as servers with some devices each, as in DAPPLE: chooses devices for stages, and
 * computes the times of transfers and AllReduces among devices. */
#ifndef PCC_IR_CLUSTER_SERVERS_H
#define PCC_IR_CLUSTER_SERVERS_H

#include "ir/cluster/cluster.h"

enum { SERVERS = 128 }; /* the most servers */

struct servers {
    uint32_t n, ndev;       /* number of servers; number of devices of all servers */
    uint16_t size[SERVERS]; /* [server] number of devices of the server */
    int64_t inner;          /* bytes per second between two devices of a server */
    int64_t outer;          /* bytes per second between devices of different servers */
    int64_t outer_reduce;   /* bytes per second of an AllReduce over several servers */
    /* bytes per second of an AllReduce within a server; 0: n devices use n / 2 inner links at the same time */
    int64_t inner_reduce;
    int64_t inner_latency, outer_latency; /* ps of each transfer */
    /* number of servers that an outer link joins; 0: all of them */
    uint32_t unit;
    uint32_t nabove;
    /* links that join more than `unit` servers, the innermost level first */
    struct server_level {
        uint32_t servers;     /* number of servers that a link of this level joins */
        int64_t rate, reduce; /* rate: bytes per second of a transfer; reduce: of an AllReduce */
        int64_t latency;      /* ps of each transfer */
    } above[CLUSTER_LEVELS - 2];
};

/* A set of devices, known only by its size in each server: of[server] is how many devices of the server are in the
 * set. */
struct device_set {
    uint16_t of[SERVERS];
};

/* Makes *s from the accelerators of a cluster (without accelerators, from its hosts) and from all levels of links.
 * Returns NULL; or the reason why this cannot be done, such as devices of several classes, as the end of a message. */
const char *servers_of(const struct cluster *c, struct servers *s);
/* Returns the server of an accelerator; place: the accelerator's number among all accelerators. */
uint32_t servers_find(const struct servers *s, uint32_t place);

/* Which free devices a stage gets.  FRESH: devices of servers that have no used devices.  APPEND: devices of servers
 * that have used devices.  SCATTER: one device of each server with a free device, in rounds.  Servers are taken by
 * number. */
enum assign_policy { ASSIGN_FRESH, ASSIGN_APPEND, ASSIGN_SCATTER, ASSIGN_POLICIES };

/* Writes to *out `need` devices that are not in `used`; returns false if the policy finds fewer.  need > 0. */
bool servers_assign(const struct servers *s, const struct device_set *used,
                    enum assign_policy policy, uint32_t need, struct device_set *out);
/* Returns the number of devices in a set.  O(servers). */
uint32_t servers_devices(const struct servers *s, const struct device_set *x);
/* Returns the ps of a ring AllReduce of `bytes` bytes among the n devices of the set, over the outermost links between
 * them: 2 (n - 1) steps, each with the latency of these links. */
int64_t servers_reduce(const struct servers *s, const struct device_set *x, int64_t bytes);
/* Returns the ps to send the `bytes` bytes of a micro-batch's activations from the devices of one stage to the
 * devices of the next stage, where the devices of each stage share the micro-batch in equal slices.  Sending as many
 * bytes of gradients back takes the same time. */
int64_t servers_move(const struct servers *s, const struct device_set *from,
                     const struct device_set *to, int64_t bytes);

#endif
