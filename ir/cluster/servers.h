/* Devices in servers, as DAPPLE sees them: how many of each a stage has, and what moving bytes among them takes. */
#ifndef PCC_IR_CLUSTER_SERVERS_H
#define PCC_IR_CLUSTER_SERVERS_H

#include "ir/cluster/cluster.h"

enum { SERVERS = 128 };

struct servers {
    uint32_t n, ndev;
    uint16_t size[SERVERS];               /* devices of each */
    int64_t inner;                        /* bytes per second between two devices of a server */
    int64_t outer;                        /* between two of different servers */
    int64_t outer_reduce;                 /* of an AllReduce over several servers */
    int64_t inner_reduce;                 /* of one within a server; 0: over n / 2 links at once */
    int64_t inner_latency, outer_latency; /* ps of each transfer */
    uint32_t unit;                        /* number of servers that an outer link joins; 0: all */
    /* links between larger sets of servers, the innermost first */
    uint32_t nabove;
    struct server_level {
        uint32_t servers; /* number of servers that a link of this level joins */
        int64_t rate, reduce, latency;
    } above[CLUSTER_LEVELS - 2];
};

/* How many devices of each server. */
struct device_set {
    uint16_t of[SERVERS];
};

/* The accelerators of a cluster, which are of one class, with all levels of links.  NULL, or why they cannot be seen
 * so. */
const char *servers_of(const struct cluster *c, struct servers *s);
/* The server of an accelerator; place: its number among all accelerators. */
uint32_t servers_find(const struct servers *s, uint32_t place);

/* Which free devices a stage gets.  FRESH: devices of unused servers.  APPEND: devices of servers in use.  SCATTER: one
 * device of each server with a free device, again and again.  Servers are taken in their order. */
enum assign_policy { ASSIGN_FRESH, ASSIGN_APPEND, ASSIGN_SCATTER, ASSIGN_POLICIES };

/* Picks `need` devices outside `used`; false: the policy finds fewer. */
bool servers_assign(const struct servers *s, const struct device_set *used,
                    enum assign_policy policy, uint32_t need, struct device_set *out);
/* The servers of a set: their number, the first one in *first, the set's devices in *devices.  O(servers). */
uint32_t servers_spanned(const struct servers *s, const struct device_set *x, uint32_t *first,
                         uint32_t *devices);
/* The devices of a set.  O(servers). */
uint32_t servers_devices(const struct servers *s, const struct device_set *x);
/* ps of a ring AllReduce of `bytes` bytes among the devices of the set, over the outermost links between them: 2 (n -
 * 1) steps, each with the latency of these links. */
int64_t servers_reduce(const struct servers *s, const struct device_set *x, int64_t bytes);
/* ps to send the activations of a micro-batch from the devices of one stage to the devices of the next stage, which
 * share the micro-batch in equal slices.  Sending as many bytes of gradients back takes the same time. */
int64_t servers_move(const struct servers *s, const struct device_set *from,
                     const struct device_set *to, int64_t bytes);

#endif
