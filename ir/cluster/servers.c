/* The accelerators of a cluster as servers with some devices each (servers.h).
 *
 * Source: DAPPLE (arXiv 2007.01045), III-B and IV-C, and, for the rules that the paper leaves open, its published
 * planner: servers are taken by number; a policy that finds too few devices fails; an AllReduce among n devices moves
 * 2 (n - 1) / n of the bytes, within a server over n / 2 links at the same time, over several servers at one rate.  A
 * stage within one server receives values from other servers over the outer link; a stage in several servers receives
 * values at the rate of an AllReduce.  O(servers) each, SCATTER O(servers + devices). */
#include "ir/cluster/servers.h"

#include "ir/base/units.h"

#include <assert.h>
#include <string.h>

/* Copies the levels of links between servers, if there are any, from c to s.  Returns NULL, or the reason why they do
 * not fit the servers. */
static const char *take_levels(const struct cluster *c, struct servers *s)
{
    /* first: the innermost level between servers.  If there are several levels, level 0 joins the devices of a
     * server */
    uint32_t joined = 1, first = c->nlevel > 1 ? 1 : 0;
    for (uint32_t l = first; l < c->nlevel; l++) {
        const struct cluster_level *x = &c->level[l];
        int64_t reduce = x->reduce             ? x->reduce
                         : c->reduce_bandwidth ? c->reduce_bandwidth
                                               : x->bandwidth;
        joined *= x->size;
        if (l == first) {
            s->unit = joined;
            s->outer = x->bandwidth;
            s->outer_reduce = reduce;
            s->outer_latency = x->latency;
            continue;
        }
        s->above[s->nabove++] = (struct server_level){joined, x->bandwidth, reduce, x->latency};
    }
    if (first)
        s->inner_reduce = c->level[0].reduce;
    return c->nlevel && joined != s->n ? "its levels hold another number of devices" : NULL;
}

/* Returns the class on whose devices stages stand: accelerators or, without accelerators, hosts.  Returns NULL, with
 * the reason in *why, if that is no single class. */
static const struct device_class *stage_class(const struct cluster *c, const char **why)
{
    const struct device_class *k = NULL, *main = &c->cls[cluster_main_class(c)];
    /* first the accelerators; hosts only if there is no accelerator */
    for (int host = 0; host < 2 && !k; host++)
        for (uint32_t i = 0; i < c->ncls; i++) {
            if (c->cls[i].host != (host == 1) || !c->cls[i].count)
                continue;
            *why = host ? "stages are on devices of one class, and there are several (-d)"
                        : "stages are on accelerators of one class, and there are several (-d)";
            if (k)
                return NULL;
            k = &c->cls[i];
        }
    if (k == main)
        return k;
    *why = k ? "stages are on devices of the first class, and it has none (-d)"
             : "stages need devices, and there are none (-d)";
    return NULL;
}

const char *servers_of(const struct cluster *c, struct servers *s)
{
    const char *why = NULL;
    *s = (struct servers){0};
    if (c->ncls == 0)
        return "stages need devices, and there are none (-d)";
    const struct device_class *k = stage_class(c, &why);
    if (!k)
        return why;
    /* hosts have no links, since they hand tensors over in memory: the bandwidth of their memory counts */
    int64_t rate = k->link_bandwidth || !k->host ? k->link_bandwidth : k->bandwidth;
    if (k->count > 1 && !rate && !c->nlevel)
        return "stages send tensors over links of a known rate, and the devices have none "
               "(--link=RATE,LATENCY)";
    uint32_t size = larger_u32(k->group, 1);
    if (k->count / size > SERVERS)
        return "there are too many servers";
    s->ndev = k->count;
    s->n = k->count / size;
    for (uint32_t v = 0; v < s->n; v++)
        s->size[v] = (uint16_t)size;
    s->outer = rate;
    s->outer_reduce = c->reduce_bandwidth ? c->reduce_bandwidth : rate;
    s->inner = k->group > 1 && k->inner_bandwidth ? k->inner_bandwidth : rate;
    s->inner_latency = k->group > 1 && k->inner_bandwidth ? k->inner_latency : k->link_latency;
    s->outer_latency = k->link_latency;
    return take_levels(c, s);
}

uint32_t servers_find(const struct servers *s, uint32_t place)
{
    uint32_t v = 0;
    assert(place < s->ndev);
    while (place >= s->size[v])
        place -= s->size[v++];
    return v;
}

/* Writes to *out `need` free devices: goes over the servers without used devices if `fresh`, else over the servers
 * with used devices, and takes as many devices of each as it can.  Returns false if there are fewer. */
static bool take_in_order(const struct servers *s, const struct device_set *used, bool fresh,
                          uint32_t need, struct device_set *out)
{
    for (uint32_t v = 0; v < s->n && need; v++) {
        uint32_t unused = s->size[v] - used->of[v];
        if (fresh != (used->of[v] == 0))
            continue;
        out->of[v] = (uint16_t)(smaller_u32(unused, need));
        need -= out->of[v];
    }
    return need == 0;
}

/* Adds `need` free devices to *out, in rounds: in a round, one device of each server that still has a free device.
 * Returns false if there are fewer. */
static bool scatter(const struct servers *s, const struct device_set *used, uint32_t need,
                    struct device_set *out)
{
    for (bool any = true; need && any;) {
        any = false;
        for (uint32_t v = 0; v < s->n && need; v++)
            if (used->of[v] + out->of[v] < s->size[v]) {
                out->of[v]++;
                need--;
                any = true;
            }
    }
    return need == 0;
}

bool servers_assign(const struct servers *s, const struct device_set *used,
                    enum assign_policy policy, uint32_t need, struct device_set *out)
{
    assert(need > 0 && policy < ASSIGN_POLICIES);
    memset(out, 0, sizeof *out);
    return policy == ASSIGN_SCATTER ? scatter(s, used, need, out)
                                    : take_in_order(s, used, policy == ASSIGN_FRESH, need, out);
}

uint32_t servers_devices(const struct servers *s, const struct device_set *x)
{
    uint32_t n = 0;
    for (uint32_t v = 0; v < s->n; v++)
        n += x->of[v];
    return n;
}

/* Returns the number of servers that have devices in the set x; writes the first of these servers to *first, the
 * number of devices in x to *devices; all 0 if x is empty.  O(servers). */
static uint32_t servers_spanned(const struct servers *s, const struct device_set *x,
                                uint32_t *first, uint32_t *devices)
{
    uint32_t n = 0;
    *devices = 0;
    *first = 0;
    for (uint32_t v = s->n; v-- > 0;)
        if (x->of[v]) {
            *first = v;
            *devices += x->of[v];
            n++;
        }
    return n;
}

/* Returns the ps that bytes * times / over bytes take at `rate` bytes per second, rounded up. */
static int64_t move_ps(int64_t bytes, uint64_t times, uint64_t over, int64_t rate)
{
    assert(bytes >= 0 && over > 0 && rate > 0);
    unsigned __int128 ps = (unsigned __int128)(uint64_t)bytes * times, per = over;
    per *= (uint64_t)rate;
    /* this does not overflow if bytes < 2^59 and times < 2^10, since the number of ps in a second has 40 bits */
    ps = (ps / per) * PS_PER_S + ((ps % per) * PS_PER_S + per - 1) / per;
    return ps > INT64_MAX ? INT64_MAX : (int64_t)ps;
}

/* Returns the innermost level of links that joins the servers low and high, and so all servers between them. */
static struct server_level joining_level(const struct servers *s, uint32_t low, uint32_t high)
{
    struct server_level link = {s->unit ? s->unit : s->n, s->outer, s->outer_reduce,
                                s->outer_latency};
    for (uint32_t l = 0; l < s->nabove && low / link.servers != high / link.servers; l++)
        link = s->above[l];
    return link;
}

/* Returns the last server that has devices in the set; 0 if the set is empty. */
static uint32_t last_server(const struct servers *s, const struct device_set *x)
{
    uint32_t last = 0;
    for (uint32_t v = 0; v < s->n; v++)
        if (x->of[v])
            last = v;
    return last;
}

int64_t servers_reduce(const struct servers *s, const struct device_set *x, int64_t bytes)
{
    uint32_t first, n, spanned = servers_spanned(s, x, &first, &n);
    if (n <= 1 || bytes <= 0)
        return 0;
    /* each device sends 2 (n - 1) / n of the bytes, in 2 (n - 1) steps */
    if (spanned == 1) {
        int64_t moving = s->inner_reduce
                             ? move_ps(bytes, 2 * (n - 1), n, s->inner_reduce)
                             : move_ps(bytes, 2 * (n - 1), (uint64_t)n * (n / 2), s->inner);
        return sat_add(moving, sat_mul(s->inner_latency, 2 * (n - 1)));
    }
    struct server_level link = joining_level(s, first, last_server(s, x));
    return sat_add(move_ps(bytes, 2 * (n - 1), n, link.reduce), sat_mul(link.latency, 2 * (n - 1)));
}

int64_t servers_move(const struct servers *s, const struct device_set *from,
                     const struct device_set *to, int64_t bytes)
{
    /* first: the first server that receives; first_sender: the first server that sends; low, high: the first and the
     * last of all servers that send or receive */
    uint32_t first, n, first_sender, outside, senders, low, high;
    bool spread = servers_spanned(s, to, &first, &n) > 1; /* several servers receive */
    servers_spanned(s, from, &first_sender, &senders);
    if (bytes <= 0)
        return 0;
    low = smaller_u32(first, first_sender);
    high = larger_u32(last_server(s, to), last_server(s, from));
    struct server_level link = joining_level(s, low, high);
    outside = senders - from->of[first]; /* senders that are not on the first receiving server */
    if (spread)
        return sat_add(move_ps(bytes, /*times=*/1, /*over=*/1, link.reduce), link.latency);
    if (outside) /* the share of the bytes that comes from other servers takes the outer link */
        return sat_add(move_ps(bytes, outside, senders, link.rate), link.latency);
    return sat_add(move_ps(bytes, /*times=*/1, /*over=*/1, s->inner), s->inner_latency);
}
