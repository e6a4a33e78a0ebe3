/* Makes classes of the GPUs that are found (gpu_find() in gpu.h).
 *
 * The answers of the makers' programs replace what /sys tells.  Neighbouring GPUs with equal figures and links become
 * one class, whose memory is the smallest one of its GPUs; but a GPU whose free memory differs by more than an eighth
 * from that memory begins a new class.  Blocks of GPUs of equal size, within which NVLinks join each GPU to each other,
 * become the groups of their class.  O(GPUs * presets + pairs of GPUs). */
#include "ir/cluster/detect/gpu.h"

#include "ir/base/units.h"
#include "ir/cluster/detect/processor.h"

#include <string.h>

/* NEAR: memories of a class differ by at most 1 / NEAR; MICRO: ps in a us */
enum { NEAR = 8, MICRO = 1000000 };

/* Whether a device of class k can be one more of the class `last`: name, link, memory bandwidth and peaks are equal,
 * and the memories differ by at most 1 / NEAR. */
static bool is_alike(const struct device_class *last, const struct device_class *k)
{
    int64_t less = k->memory < last->memory ? k->memory : last->memory;
    int64_t more = k->memory < last->memory ? last->memory : k->memory;
    return !strcmp(last->name, k->name) && last->link_bandwidth == k->link_bandwidth &&
           last->bandwidth == k->bandwidth && more - less <= more / NEAR &&
           !memcmp(last->peak, k->peak, sizeof k->peak);
}

/* Returns the smallest number of NVLinks between two GPUs of the block of `size` GPUs from `first` on; 0: some pair
 * has none. */
static uint32_t links_in(const struct gpus *g, uint32_t first, uint32_t size)
{
    uint32_t least = UINT32_MAX;
    for (uint32_t i = first; i < first + size; i++)
        for (uint32_t j = first; j < first + size; j++)
            if (i != j && g->nvlinks[i * g->n + j] < least)
                least = g->nvlinks[i * g->n + j];
    return least == UINT32_MAX ? 0 : least;
}

/* Divides the class *k, whose devices are the GPUs from `first` on, into groups, of the largest size for which
 * NVLinks join each two GPUs of a group; without such a size the class stays without groups. */
static void set_groups(const struct gpus *g, uint32_t first, struct device_class *k)
{
    for (uint32_t size = k->count; g->nvlinks && size > 1 && !k->group; size--) {
        /* the smallest number of NVLinks of two GPUs of a group; 0: some pair has none, or `size` does not divide */
        uint32_t least = k->count % size ? 0 : UINT32_MAX;
        for (uint32_t at = 0; least && at < k->count; at += size) {
            uint32_t links = links_in(g, first + at, size);
            if (links < least)
                least = links;
        }
        if (least) {
            k->group = size;
            k->inner_bandwidth = two_digits(sat_mul(g->nvlink_rate, least));
            k->inner_latency = 2 * MICRO; /* as of all NVLinks in presets.c */
        }
    }
}

/* Adds the classes of a maker's GPUs to the cluster, but leaves one class free for the processor.  Returns the number
 * of GPUs that there is no room for: the first GPU whose class does not fit and all GPUs behind it. */
static uint32_t add_gpus(struct cluster *c, const struct gpus *g, struct arena *a, struct diag *d)
{
    uint32_t first = 0, n = 0, left = 0; /* the last class has the n GPUs from `first` on */
    for (uint32_t i = 0; i < g->n; i++) {
        struct device_class k, *last = n ? &c->cls[c->ncls - 1] : NULL;
        bool estimated = gpu_class(&g->gpu[i], &k, a);
        if (!left && last && is_alike(last, &k)) {
            if (k.memory < last->memory)
                last->memory = k.memory;
            last->count = ++n;
        } else if (!left && c->ncls + 1 < CLUSTER_CLASSES) {
            if (last)
                set_groups(g, first, last);
            if (estimated)
                diag_note(d, "-d detect: %s is %s", k.name, k.note);
            c->cls[c->ncls++] = k;
            first = i;
            n = 1;
        } else {
            left++;
            continue;
        }
        c->ndev++;
    }
    if (n)
        set_groups(g, first, &c->cls[c->ncls - 1]);
    return left;
}

void gpu_find(const struct gpu_search *s, struct cluster *c)
{
    struct gpus g[GPU_MAKERS] = {0};
    uint32_t left = 0;
    gpu_find_sys(s, g);
    gpu_ask_nvidia(s, &g[NVIDIA]);
    gpu_ask_amd(s, &g[AMD]);
    gpu_ask_intel(s, &g[INTEL]);
    for (int maker = 0; maker < GPU_MAKERS; maker++)
        left += add_gpus(c, &g[maker], s->a, s->d);
    if (left)
        diag_note(s->d, "-d detect: %u GPUs are left out: there is room for %d classes of them",
                  left, CLUSTER_CLASSES - 1);
}
