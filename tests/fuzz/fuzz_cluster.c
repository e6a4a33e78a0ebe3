/* Any bytes as a cluster: JSON if they begin with '{', else the shorthand and, from the second line
 * on, the link, or the groups where it has a ':'.  What is read obeys the limits, and its devices are found
 * by their names. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

static void check_cluster(const struct cluster *c, struct arena *a)
{
    const struct moved_value all = {INT64_MAX, -1, false};
    uint32_t ndev = 0;

    fuzz_check(c->ncls >= 1 && c->ncls <= CLUSTER_CLASSES, "there are 1 to 8 classes");
    for (uint32_t k = 0; k < c->ncls; k++) {
        const struct device_class *cls = &c->cls[k];
        fuzz_check(cls->count >= 1 && cls->count <= CLUSTER_DEVICES, "a class has devices");
        fuzz_check(cls->memory == -1 || cls->memory > 0, "memory is above 0 or unbounded");
        fuzz_check(cls->bandwidth > 0 && cls->overhead >= 0, "rates are above 0, times not below");
        fuzz_check(cls->host || (cls->link_bandwidth > 0 && cls->link_latency >= 0),
                   "an accelerator has a link");
        for (int e = 0; e < ELEM_COUNT; e++) {
            fuzz_check(cluster_peak(cls, (enum elem)e) > 0, "peaks are above 0");
        }
        fuzz_check(cluster_transfer(c, k, false, all) >= 0, "transfers saturate");
        fuzz_check(!cls->group || (cls->count % cls->group == 0 && !cls->host), "groups fit");
        fuzz_check(cls->inner_bandwidth >= 0 && cls->inner_latency >= 0, "inner links are links");
        fuzz_check(cls->inner_share >= 0 && cls->inner_share <= 1000000, "shares are shares");
        ndev += cls->count;
    }
    fuzz_check(ndev == c->ndev && ndev <= CLUSTER_DEVICES, "devices add up");
    for (uint32_t i = 0; i < c->nlink; i++) {
        const struct device_link *l = &c->link[i];
        fuzz_check(l->from < ndev && l->to < ndev && l->from != l->to, "a link joins two devices");
        fuzz_check(!c->cls[cluster_class(c, l->from)].host, "a link joins accelerators");
        fuzz_check(!c->cls[cluster_class(c, l->to)].host, "a link joins accelerators");
        fuzz_check(l->bandwidth > 0 && l->latency >= 0, "a link has a rate");
        fuzz_check(cluster_route(c, l->from, l->to, all) >= l->latency, "a link is used");
        fuzz_check(l->oneway || cluster_route(c, l->to, l->from, all) >= l->latency,
                   "a link is used both ways");
    }
    for (uint32_t dev = 0; dev < ndev; dev++) {
        fuzz_check(cluster_device(c, cluster_device_name(c, a, dev)) == (int)dev,
                   "devices are found by name");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_new(NULL);
    struct diag d = fuzz_diag();
    struct cluster c;
    bool json = size > 0 && data[0] == '{';
    struct fuzz_folder folder = {0};
    char *text, *link = NULL;

    if (json) {
        folder = fuzz_folder_make(a, "cluster.json", data, size);
        text = arena_strdup(a, folder.file, strlen(folder.file));
    } else {
        text = fuzz_text(a, data, size);
        link = strchr(text, '\n');
        if (link != NULL) {
            *link++ = '\0';
        }
    }
    int rc = cluster_parse(&c, a, text, &d);
    if (rc == 0 && link != NULL) {
        rc = (strchr(link, ':') ? cluster_set_groups : cluster_set_link)(&c, link, &d);
    }
    fuzz_check_result(rc, &d);
    if (rc == 0) {
        check_cluster(&c, a);
    }
    if (json) {
        fuzz_folder_remove(folder);
    }
    arena_free(a);
    return 0;
}
