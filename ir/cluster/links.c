/* Computes times of transfers over the links of a cluster, and adds links between two devices (cluster.h).  The table
 * link_of finds a link by its two devices in O(1); the table is made when the first such link is added. */
#include "ir/cluster/cluster.h"

#include "ir/base/units.h"

#include <assert.h>

/* Returns the ps of a transfer of a value without a measured time over a link with this latency (ps) and bandwidth
 * (bytes per second). */
static int64_t link_time(int64_t latency, int64_t bandwidth, struct moved_value v)
{
    assert(v.bytes >= 0);
    return sat_add(v.at_host ? 0 : latency, mul_div_ceil(v.bytes, PS_PER_S, bandwidth));
}

int64_t cluster_transfer(const struct cluster *c, uint32_t cls, bool inner, struct moved_value v)
{
    assert(cls < c->ncls);
    const struct device_class *k = &c->cls[cls];
    bool measured = v.measured >= 0;
    if (k->host)
        return 0;
    int64_t outer = measured ? v.measured : link_time(k->link_latency, k->link_bandwidth, v);
    int64_t within = outer; /* ps within the group */
    if (!inner || k->group < 2 || outer == 0)
        return outer;
    /* With inner_share, where the outer time was measured or no inner bandwidth is known: that share of the outer time.
     * Else a measured time is scaled by the ratio of the bandwidths, and a time that was not measured is that of the
     * inner link itself */
    if (k->inner_share && (measured || !k->inner_bandwidth))
        within = mul_div_ceil(outer, k->inner_share, 1000000);
    else if (measured && k->inner_bandwidth && k->link_bandwidth)
        within = mul_div_ceil(outer, k->link_bandwidth, k->inner_bandwidth);
    else if (!measured && k->inner_bandwidth)
        within = link_time(k->inner_latency, k->inner_bandwidth, v);
    return smaller(within, outer);
}

/* Whether an end of a route is the host or a device of a host class. */
static bool is_host(const struct cluster *c, uint32_t end)
{
    return end == CLUSTER_HOST || c->cls[cluster_class(c, end)].host;
}

/* Returns the link that leads from device `from` to device `to`; NULL: there is none. */
static const struct device_link *find_link(const struct cluster *c, uint32_t from, uint32_t to)
{
    uint32_t i = c->link_of ? c->link_of[from * CLUSTER_DEVICES + to] : 0;
    return i ? &c->link[i - 1] : NULL;
}

int64_t cluster_route(const struct cluster *c, uint32_t from, uint32_t to, struct moved_value v)
{
    bool out = !is_host(c, from), in = !is_host(c, to);
    if (from == to || (!out && !in))
        return 0;
    uint32_t cls = cluster_class(c, out ? from : to);
    if (!out || !in)
        return cluster_transfer(c, cls, /*inner=*/false, v);
    const struct device_link *l = find_link(c, from, to);
    if (!l)
        return cluster_transfer(c, cls, cluster_group(c, from) == cluster_group(c, to), v);
    if (v.measured < 0)
        return link_time(l->latency, l->bandwidth, v);
    int64_t rate = c->cls[cls].link_bandwidth;
    return rate ? mul_div_ceil(v.measured, rate, l->bandwidth) : v.measured;
}

/* Returns NULL if a link between two devices can have the device with this name as an end, else the reason why not, in
 * a. */
static const char *refuse_end(const struct cluster *c, struct arena *a, const char *name)
{
    int dev = cluster_device(c, name);
    uint32_t n = 0;

    if (dev >= 0 && !is_host(c, (uint32_t)dev))
        return NULL;
    for (uint32_t k = 0; k < c->ncls; k++)
        n += c->cls[k].host ? 0 : c->cls[k].count;
    const char *what = arena_fmt(a, "'%.80s' is no accelerator, ", name);
    return n < 2 ? arena_fmt(a, "%sand a link needs two, but there %s", what,
                             n ? "is one, acc0" : "are none")
                 : arena_fmt(a, "%sexpected one of acc0 to acc%u", what, n - 1);
}

const char *cluster_add_link(struct cluster *c, struct arena *a, struct device_link l,
                             const char *const name[2])
{
    const char *refused = refuse_end(c, a, name[0]);
    if (!refused)
        refused = refuse_end(c, a, name[1]);
    if (refused)
        return refused;
    l.from = (uint32_t)cluster_device(c, name[0]);
    l.to = (uint32_t)cluster_device(c, name[1]);
    if (l.from == l.to)
        return arena_fmt(a, "a link from %s to itself, expected two devices", name[0]);
    assert(l.bandwidth > 0 && l.latency >= 0);
    if (find_link(c, l.from, l.to) || (!l.oneway && find_link(c, l.to, l.from)))
        return arena_fmt(a, "%s and %s have a link already, expected one each way at most", name[0],
                         name[1]);
    if (!c->link_of)
        c->link_of = arena_array(a, (size_t)CLUSTER_DEVICES * CLUSTER_DEVICES, sizeof *c->link_of);
    c->link = vec_grow(a, c->link, &c->caplink, c->nlink + 1, sizeof *c->link);
    c->link[c->nlink++] = l;
    c->link_of[l.from * CLUSTER_DEVICES + l.to] = c->nlink;
    if (!l.oneway)
        c->link_of[l.to * CLUSTER_DEVICES + l.from] = c->nlink;
    return NULL;
}
