/* What follows from a cluster: peaks, loads, transfers, names of devices.  O(classes) each,
 * finding a device by its name O(devices * classes). */
#include "ir/cluster/cluster.h"

#include "ir/base/strings.h"
#include "ir/base/units.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t cluster_peak(const struct device_class *cls, enum elem e)
{
    int64_t peak = (unsigned)e < ELEM_COUNT ? cls->peak[e] : 0;

    if (peak == 0 && e == ELEM_U8)
        peak = cls->peak[ELEM_I8];
    return peak != 0 ? peak : cls->peak[ELEM_F32];
}

bool cluster_supports(const struct device_class *cls, const char *op)
{
    if (cls->nops == 0)
        return true;
    return (bsearch(&op, cls->ops, cls->nops, sizeof *cls->ops, str_order) != NULL) ==
           cls->ops_only;
}

uint32_t cluster_class(const struct cluster *c, uint32_t dev)
{
    uint32_t k = 0;

    while (k + 1 < c->ncls && dev >= c->cls[k].count)
        dev -= c->cls[k++].count;
    assert(dev < c->cls[k].count);
    return k;
}

uint32_t cluster_group(const struct cluster *c, uint32_t dev)
{
    uint32_t k = 0, at = dev;

    while (k + 1 < c->ncls && at >= c->cls[k].count)
        at -= c->cls[k++].count;
    assert(at < c->cls[k].count);
    return c->cls[k].group ? dev - at % c->cls[k].group : dev;
}

bool cluster_grouped(const struct cluster *c)
{
    for (uint32_t k = 0; k < c->ncls; k++)
        if (c->cls[k].group > 1)
            return true;
    return false;
}

/* The number in a device's name: its place among all accelerators, or among all host devices. */
static uint32_t number_of(const struct cluster *c, uint32_t dev)
{
    uint32_t k = cluster_class(c, dev), first = 0, same = 0;

    for (uint32_t i = 0; i < k; i++) {
        first += c->cls[i].count;
        same += c->cls[i].host == c->cls[k].host ? c->cls[i].count : 0;
    }
    return same + dev - first;
}

const char *cluster_device_name(const struct cluster *c, struct arena *a, uint32_t dev)
{
    const char *kind = c->cls[cluster_class(c, dev)].host ? "cpu" : "acc";

    return arena_fmt(a, "%s%u", kind, number_of(c, dev));
}

int cluster_device(const struct cluster *c, const char *name)
{
    for (uint32_t dev = 0; dev < c->ndev; dev++) {
        char text[16];
        snprintf(text, sizeof text, "%s%u", c->cls[cluster_class(c, dev)].host ? "cpu" : "acc",
                 number_of(c, dev));
        if (strcmp(text, name) == 0)
            return (int)dev;
    }
    return -1;
}

static int64_t link_time(int64_t latency, int64_t bandwidth, struct moved v)
{
    assert(v.bytes >= 0);
    return sat_add(v.light ? 0 : latency, mul_div_ceil(v.bytes, PS_PER_S, bandwidth));
}

int64_t cluster_transfer(const struct cluster *c, uint32_t cls, bool inner, struct moved v)
{
    assert(cls < c->ncls);
    const struct device_class *k = &c->cls[cls];
    bool measured = v.measured >= 0;
    if (k->host)
        return 0;
    int64_t outer = measured ? v.measured : link_time(k->link_latency, k->link_bandwidth, v);
    int64_t within = outer;
    if (!inner || k->group < 2 || outer == 0)
        return outer;
    if (k->inner_share && (measured || !k->inner_bandwidth))
        within = mul_div_ceil(outer, k->inner_share, 1000000);
    else if (measured && k->inner_bandwidth && k->link_bandwidth)
        within = mul_div_ceil(outer, k->link_bandwidth, k->inner_bandwidth);
    else if (!measured && k->inner_bandwidth)
        within = link_time(k->inner_latency, k->inner_bandwidth, v);
    return within < outer ? within : outer;
}

static bool is_host(const struct cluster *c, uint32_t end)
{
    return end == CLUSTER_HOST || c->cls[cluster_class(c, end)].host;
}

int64_t cluster_route(const struct cluster *c, uint32_t from, uint32_t to, struct moved v)
{
    bool out = !is_host(c, from), in = !is_host(c, to);
    if (from == to || (!out && !in))
        return 0;
    bool inner = out && in && cluster_group(c, from) == cluster_group(c, to);
    return cluster_transfer(c, cluster_class(c, out ? from : to), inner, v);
}
