/* Computes how much memory devices need at least (memory_need.h).
 *
 * Two arguments.  A vertex needs all its bytes on one device.  Vertices that only some kinds of devices may hold
 * need their bytes on these devices together, shared items counted once.  "A memory of M would do" means: devices
 * with less than M are raised to M, larger ones stay as they are.  Under the objective latency hosts of a class share
 * their memory, as the judge counts it (latency_verdict()): a vertex may lie on all of them.
 * Cost: O(kinds * (V + shared)) for each of at most SETS sets of kinds. */
#include "passes/problem/memory_need.h"

#include "ir/base/units.h"
#include "ir/exec/evaluate.h"
#include "ir/exec/sample/sample_memory.h"

#include <assert.h>

enum { SETS = 32 }; /* the most sets of kinds that are looked at */

/* Returns the kinds of devices that can run v: bit k for kind k. */
static uint32_t kinds_of(const struct problem *c, uint32_t v)
{
    assert(v < c->g->n && c->nkind <= 32);
    uint32_t kinds = 0;
    for (uint32_t k = 0; k < c->nkind; k++)
        kinds |= c->kind[k].time[v] != COST_NEVER ? 1U << k : 0;
    return kinds;
}

/* Returns the memory of a device of kind k, in bytes; -1: no limit. */
static int64_t memory_of(const struct problem *c, uint32_t k)
{
    return c->cluster->cls[c->kind[k].cls].memory;
}

/* Whether the devices of all these kinds (a bit each) have a limit of memory. */
static bool is_bounded(const struct problem *c, uint32_t kinds)
{
    for (uint32_t k = 0; k < c->nkind; k++)
        if ((kinds >> k & 1) && memory_of(c, k) < 0)
            return false;
    return true;
}

/* Whether a vertex may lie on several devices of kind k, which then share their memory. */
static bool is_shared(const struct problem *c, uint32_t k)
{
    return exec_kind(&c->scene->model)->subgraphs && c->cluster->cls[c->kind[k].cls].host;
}

/* Whose memory room_of() returns. */
enum holders { LARGEST_DEVICE, ALL_DEVICES };

/* Returns the memory, bytes, of all devices of the kinds in the mask `kinds` together, or of the largest of them
 * (holders); hosts that share their memory count as one device.  Memory below `raised` bytes counts as `raised`. */
static int64_t room_of(const struct problem *c, uint32_t kinds, int64_t raised,
                       enum holders holders)
{
    int64_t most = 0, sum = 0;
    for (uint32_t k = 0; k < c->nkind; k++) {
        int64_t m = larger(memory_of(c, k), raised);
        if (!(kinds >> k & 1))
            continue;
        int64_t together = sat_mul(c->kind[k].count, m), one = is_shared(c, k) ? together : m;
        most = larger(one, most);
        sum = sat_add(sum, together);
    }
    return holders == ALL_DEVICES ? sum : most;
}

/* Returns the least memory to which devices must be raised so that room_of() of the kinds is at least `bytes`. */
static int64_t raised_for(const struct problem *c, uint32_t kinds, int64_t bytes,
                          enum holders holders)
{
    int64_t lo = 0, hi = bytes;
    while (lo < hi) {
        int64_t mid = lo + (hi - lo) / 2;
        if (room_of(c, kinds, mid, holders) >= bytes)
            hi = mid;
        else
            lo = mid + 1;
    }
    assert(room_of(c, kinds, lo, holders) >= bytes);
    return lo;
}

/* Raises *n to the need of the vertex that needs the largest devices; sets n->nowhere to a vertex that no device may
 * run. */
static void need_of_vertices(const struct problem *c, struct memory_need *n)
{
    for (uint32_t v = 0; v < c->g->n; v++) {
        uint32_t kinds = kinds_of(c, v);
        int64_t bytes = vertex_needs(c->g, v), room = room_of(c, kinds, 0, LARGEST_DEVICE);
        if (!kinds) {
            n->nowhere = v;
        } else if (is_bounded(c, kinds) && bytes > room && bytes > n->least) {
            /* a vertex of at most n->least bytes cannot raise the need, since its need is no more than its bytes */
            int64_t least = raised_for(c, kinds, bytes, LARGEST_DEVICE);
            if (least > n->least)
                *n = (struct memory_need){.least = least,
                                          .vertex = v,
                                          .kinds = kinds,
                                          .bytes = bytes,
                                          .room = room,
                                          .nowhere = n->nowhere};
        }
    }
}

/* Returns the bytes of the vertices that only these kinds may hold; shared items count once. */
static int64_t bytes_within(const struct problem *c, uint32_t kinds)
{
    const struct wdag *g = c->g;
    int64_t sum = 0;
    for (uint32_t v = 0; v < g->n; v++)
        sum = sat_add(sum, kinds_of(c, v) & ~kinds ? 0 : g->size[v]);
    for (uint32_t s = 0; s < g->nshared; s++) {
        bool here = false;
        for (uint32_t i = g->shared_by.at[s]; i < g->shared_by.at[s + 1] && !here; i++)
            here = !(kinds_of(c, g->shared_by.to[i]) & ~kinds);
        sum = sat_add(sum, here ? g->shared_size[s] : 0);
    }
    return sum;
}

/* Raises *n to the need of all vertices together that only these kinds may hold. */
static void need_of_kinds(const struct problem *c, uint32_t kinds, struct memory_need *n)
{
    int64_t bytes = bytes_within(c, kinds), room = room_of(c, kinds, 0, ALL_DEVICES);
    int64_t least = bytes > room ? raised_for(c, kinds, bytes, ALL_DEVICES) : 0;
    if (least > n->least)
        *n = (struct memory_need){.least = least,
                                  .vertex = UINT32_MAX,
                                  .kinds = kinds,
                                  .bytes = bytes,
                                  .room = room,
                                  .nowhere = n->nowhere};
}

struct memory_need memory_need(const struct problem *c)
{
    struct memory_need n = {.vertex = UINT32_MAX, .nowhere = UINT32_MAX};
    /* sets of kinds of devices: first all kinds, then for each vertex the kinds that may run the vertex */
    uint32_t set[SETS], nset = 1;
    set[0] = c->nkind < 32 ? (1U << c->nkind) - 1 : UINT32_MAX;
    need_of_vertices(c, &n);
    for (uint32_t v = 0; v < c->g->n && nset < SETS; v++) {
        uint32_t kinds = kinds_of(c, v), i = 0;
        while (i < nset && set[i] != kinds)
            i++;
        if (i == nset && kinds)
            set[nset++] = kinds;
    }
    for (uint32_t i = 0; i < nset; i++)
        if (is_bounded(c, set[i]))
            need_of_kinds(c, set[i], &n);
    return n;
}

int64_t memory_lacking(const struct cluster *c, const struct verdict *v, int64_t *each)
{
    int64_t all = 0;
    for (uint32_t k = 0, d = 0; k < c->ncls; k++) {
        const struct device_class *cls = &c->cls[k];
        bool shared = cls->host && v->hosts, limited = cls->memory >= 0 && cls->count;
        each[k] = 0;
        if (shared && limited) {
            int64_t lacks = v->hosts[k] - smaller(v->hosts[k], sat_mul(cls->memory, cls->count));
            each[k] = mul_div_ceil(lacks, 1, cls->count);
            all = sat_add(all, lacks);
        }
        for (uint32_t end = d + cls->count; d < end; d++) {
            int64_t used = v->load[d].used;
            if (shared || !limited || used <= cls->memory)
                continue;
            each[k] = larger(used - cls->memory, each[k]);
            all = sat_add(all, used - cls->memory);
        }
    }
    return all;
}

/* Does what memory_of_plan() does, for scenes in which a device needs memory only for what it holds at one time, as the
 * judge counts it. */
static int64_t memory_at_once(const struct problem *c, const int32_t *dev, struct arena *scratch)
{
    struct arena_mark mark = arena_mark(scratch);
    const struct plan plan = {.dev = plan_project(c->g, dev, c->scene->m->nnode, scratch)};
    struct evaluation e = plan_evaluate(c->scene, &plan, scratch);
    int64_t most = 0, each[CLUSTER_CLASSES];
    memory_lacking(c->cluster, &e.v, each);
    for (uint32_t k = 0; k < c->cluster->ncls; k++)
        most = each[k] ? larger(c->cluster->cls[k].memory + each[k], most) : most;
    arena_release(scratch, mark);
    return most;
}

int64_t memory_of_plan(const struct problem *c, const int32_t *dev, struct arena *scratch)
{
    const struct wdag *g = c->g;
    if (exec_live_parts(&c->scene->model))
        return memory_at_once(c, dev, scratch);
    struct arena_mark mark = arena_mark(scratch);
    uint32_t ndev = c->cluster->ndev;
    int64_t most = 0, *bytes = arena_array(scratch, (size_t)ndev + 1, sizeof *bytes);
    /* [device] 1 + the last shared item that was counted on the device */
    uint32_t *seen = arena_array(scratch, (size_t)ndev + 1, sizeof *seen);
    for (uint32_t v = 0; v < g->n; v++) {
        assert(dev[v] >= 0 && (uint32_t)dev[v] < ndev);
        bytes[dev[v]] = sat_add(bytes[dev[v]], g->size[v]);
    }
    for (uint32_t s = 0; s < g->nshared; s++)
        for_row (x, g->shared_by, s) {
            int32_t d = dev[x];
            if (seen[d] != s + 1)
                bytes[d] = sat_add(bytes[d], g->shared_size[s]);
            seen[d] = s + 1;
        }
    for (uint32_t d = 0; d < ndev; d++) {
        int64_t m = c->cluster->cls[cluster_class(c->cluster, d)].memory;
        most = m >= 0 && bytes[d] > m && bytes[d] > most ? bytes[d] : most;
    }
    arena_release(scratch, mark);
    return most;
}

/* ---- what a user is told ------------------------------------------------------------------------ */

int64_t average_memory(const struct cluster *c, int64_t bytes)
{
    int64_t lo = 0, hi = bytes;
    while (lo < hi) {
        int64_t mid = lo + (hi - lo) / 2, room = 0;
        for (uint32_t k = 0; k < c->ncls; k++) {
            int64_t m = c->cls[k].memory;
            if (m < 0 && c->cls[k].count)
                return 0;
            room = sat_add(room, sat_mul(c->cls[k].count, m < mid ? mid : m));
        }
        if (room >= bytes)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

int64_t memory_that_suffices(const struct ctx *x, const struct wdag *g)
{
    return exec_live_parts(&x->scene.model) ? sample_memory_most(&x->scene) : wdag_bytes(g);
}

int report_memory(struct ctx *x, const char *shape, int64_t need, int64_t none, const char *why)
{
    char text[BYTES_BOTH], least[BYTES_BOTH];
    int64_t has = INT64_MAX;
    const char *sure = module_left_out(x->scene.m, x->use.mem);
    if (!sure)
        sure = x->results.shapes_unknown ? "as far as sizes are known" : "proven";
    for (uint32_t k = 0; k < x->scene.cluster->ncls; k++)
        if (x->scene.cluster->cls[k].memory >= 0 && x->scene.cluster->cls[k].memory < has)
            has = x->scene.cluster->cls[k].memory;
    bytes_both(text, need);
    bytes_both(least, none + 1);
    if (need && none + 1 >= need)
        diag_error(x->use.diag,
                   "no %s fits the memory of the devices: they need %s per device (%s)%s", shape,
                   text, sure, why);
    else if (none >= has)
        diag_error(x->use.diag,
                   "no %s fits the memory of the devices: nothing below %s per device does "
                   "(%s)%s%s",
                   shape, least, sure, why,
                   need ? arena_fmt(x->use.mem, "; the smallest found needs %s", text) : "");
    else
        diag_error(
            x->use.diag, "no %s was found that fits the memory of the devices (not proven): %s%s%s",
            shape,
            need ? arena_fmt(x->use.mem, "the smallest found needs %s per device", text)
                 : "none was found with more, either",
            none >= 0 ? arena_fmt(x->use.mem, ", and nothing below %s does", least) : "", why);
    return PASS_INFEASIBLE;
}
