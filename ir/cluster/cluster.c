/* Answers questions about a cluster: peaks, classes, groups, names of devices (cluster.h).  O(classes) each.  Times of
 * transfers are in links.c. */
#include "ir/cluster/cluster.h"

#include "ir/base/strings.h"

#include <assert.h>
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
    uint32_t k = 0, place = dev; /* place: number within the class */

    while (k + 1 < c->ncls && place >= c->cls[k].count)
        place -= c->cls[k++].count;
    assert(place < c->cls[k].count);
    return c->cls[k].group ? dev - place % c->cls[k].group : dev;
}

uint32_t cluster_main_class(const struct cluster *c)
{
    for (uint32_t k = 0; k < c->ncls; k++)
        if (!c->cls[k].host)
            return k;
    return 0;
}

int64_t cluster_least_memory(const struct cluster *c)
{
    int64_t least = -1;
    for (uint32_t k = 0; k < c->ncls; k++)
        if (c->cls[k].memory >= 0 && (least < 0 || c->cls[k].memory < least))
            least = c->cls[k].memory;
    return least;
}

bool cluster_grouped(const struct cluster *c)
{
    for (uint32_t k = 0; k < c->ncls; k++)
        if (c->cls[k].group > 1)
            return true;
    return false;
}

/* Returns the number in the name of a device: the number of accelerators (for a host device: of host devices) before
 * it. */
static uint32_t name_number(const struct cluster *c, uint32_t dev)
{
    uint32_t k = cluster_class(c, dev), first = 0, same = 0;

    for (uint32_t i = 0; i < k; i++) {
        first += c->cls[i].count;
        if (c->cls[i].host == c->cls[k].host)
            same += c->cls[i].count;
    }
    return same + dev - first;
}

const char *cluster_device_name(const struct cluster *c, struct arena *a, uint32_t dev)
{
    const char *kind = c->cls[cluster_class(c, dev)].host ? "cpu" : "acc";

    return arena_fmt(a, "%s%u", kind, name_number(c, dev));
}

const char *cluster_devices(const struct cluster *c, struct arena *a)
{
    static const char *const kind[] = {"acc", "cpu"};
    uint32_t count[2] = {0, 0};
    const char *text = "";

    for (uint32_t k = 0; k < c->ncls; k++)
        count[c->cls[k].host] += c->cls[k].count;
    for (int i = 0; i < 2; i++) {
        const char *sep = *text != '\0' && count[i] > 0 ? " and " : "";
        if (count[i] > 0)
            text = arena_fmt(a, "%s%s%s0", text, sep, kind[i]);
        if (count[i] > 1)
            text = arena_fmt(a, "%s to %s%u", text, kind[i], count[i] - 1);
    }
    return text;
}

/* Returns the number that `digits` stands for; -1 if it is no number below CLUSTER_DEVICES or begins with a needless
 * zero. */
static int parse_number(const char *digits)
{
    int n = 0;

    for (const char *s = digits; n < CLUSTER_DEVICES; s++) {
        if (*s == '\0')
            return s > digits ? n : -1;
        if (*s < '0' || *s > '9' || (n == 0 && s > digits))
            return -1;
        n = n * 10 + *s - '0';
    }
    return -1;
}

int cluster_device(const struct cluster *c, const char *name)
{
    bool host = strncmp(name, "cpu", 3) == 0;
    int n = host || strncmp(name, "acc", 3) == 0 ? parse_number(name + 3) : -1;
    uint32_t first = 0; /* first device of class k */

    /* n: the number in the name, less the devices of its sort (accelerators or hosts) in classes before k */
    for (uint32_t k = 0; n >= 0 && k < c->ncls; first += c->cls[k++].count) {
        if (c->cls[k].host != host)
            continue;
        if ((uint32_t)n < c->cls[k].count)
            return (int)first + n;
        n -= (int)c->cls[k].count;
    }
    return -1;
}
