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

int64_t cluster_transfer(const struct cluster *c, uint32_t cls, int64_t bytes, bool light)
{
    assert(cls < c->ncls && bytes >= 0);
    const struct device_class *k = &c->cls[cls];

    if (k->host)
        return 0;
    return sat_add(light ? 0 : k->link_latency, mul_div_ceil(bytes, PS_PER_S, k->link_bandwidth));
}

int64_t cluster_value_transfer(const struct cluster *c, uint32_t cls, const struct costs *k, vid v,
                               bool light)
{
    assert(cls < c->ncls);
    if (c->cls[cls].host)
        return 0;
    return k->xfer[v] >= 0 ? k->xfer[v] : cluster_transfer(c, cls, k->bytes[v], light);
}

int64_t cluster_value_inner(const struct cluster *c, uint32_t cls, const struct costs *k, vid v,
                            bool light)
{
    const struct device_class *h = &c->cls[cls];
    int64_t outer = cluster_value_transfer(c, cls, k, v, light), inner = outer;

    if (h->group < 2 || outer == 0)
        return outer;
    if (h->inner_share && (k->xfer[v] >= 0 || !h->inner_bandwidth))
        inner = mul_div_ceil(outer, h->inner_share, 1000000);
    else if (k->xfer[v] >= 0 && h->inner_bandwidth && h->link_bandwidth)
        inner = mul_div_ceil(outer, h->link_bandwidth, h->inner_bandwidth);
    else if (k->xfer[v] < 0 && h->inner_bandwidth)
        inner = sat_add(light ? 0 : h->inner_latency,
                        mul_div_ceil(k->bytes[v], PS_PER_S, h->inner_bandwidth));
    return inner < outer ? inner : outer;
}
