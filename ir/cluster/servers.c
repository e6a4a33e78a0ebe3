/* Devices in servers (servers.h).
 *
 * Source: DAPPLE (arXiv 2007.01045), III-B and IV-C, and its published planner, which says what the paper leaves open:
 * servers are taken in their order; a policy that has not enough devices yields nothing; an AllReduce moves
 * 2 (n - 1) / n of the bytes, within a server over n / 2 links at once, over several servers at one rate; what comes to
 * a stage within one server comes over the outer link from senders elsewhere, and to one in several servers at the
 * rate of an AllReduce.  O(servers) each, SCATTER O(servers + devices). */
#include "ir/cluster/servers.h"

#include "ir/base/units.h"

#include <assert.h>
#include <string.h>

/* The levels of c above the servers, if it has such.  NULL, or why they cannot be. */
static const char *take_levels(const struct cluster *c, struct servers *s)
{
    uint32_t joined = 1, first = c->nlevel > 1;
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

const char *servers_of(const struct cluster *c, struct servers *s)
{
    const struct device_class *k = NULL;
    *s = (struct servers){0};
    for (uint32_t i = 0; i < c->ncls; i++) {
        if (c->cls[i].host || !c->cls[i].count)
            continue;
        if (k)
            return "stages are on accelerators of one class, and there are several (-d)";
        k = &c->cls[i];
    }
    if (!k)
        return "stages are on accelerators, and there are none (-d)";
    uint32_t size = larger_u32(k->group, 1);
    if (k->count / size > SERVERS)
        return "there are too many servers";
    s->ndev = k->count;
    s->n = k->count / size;
    for (uint32_t v = 0; v < s->n; v++)
        s->size[v] = (uint16_t)size;
    s->outer = k->link_bandwidth;
    s->outer_reduce = c->reduce_bandwidth ? c->reduce_bandwidth : k->link_bandwidth;
    s->inner = k->group > 1 && k->inner_bandwidth ? k->inner_bandwidth : k->link_bandwidth;
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

static bool fill_up(const struct servers *s, const struct device_set *used, bool fresh,
                    uint32_t need, struct device_set *out)
{
    for (uint32_t v = 0; v < s->n && need; v++) {
        uint32_t room = s->size[v] - used->of[v];
        if (fresh != (used->of[v] == 0))
            continue;
        out->of[v] = (uint16_t)(smaller_u32(room, need));
        need -= out->of[v];
    }
    return need == 0;
}

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
                                    : fill_up(s, used, policy == ASSIGN_FRESH, need, out);
}

uint32_t servers_devices(const struct servers *s, const struct device_set *x)
{
    uint32_t n = 0;
    for (uint32_t v = 0; v < s->n; v++)
        n += x->of[v];
    return n;
}

uint32_t servers_spanned(const struct servers *s, const struct device_set *x, uint32_t *first,
                         uint32_t *devices)
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

/* ps of bytes * times / over bytes per second. */
static int64_t move_ps(int64_t bytes, uint64_t times, uint64_t over, int64_t rate)
{
    assert(bytes >= 0 && over > 0 && rate > 0);
    unsigned __int128 ps = (unsigned __int128)(uint64_t)bytes * times, per = over;
    per *= (uint64_t)rate;
    /* bytes < 2^59 and times < 2^10 leave room for the 40 bits of ps in a second */
    ps = (ps / per) * PS_PER_S + ((ps % per) * PS_PER_S + per - 1) / per;
    return ps > INT64_MAX ? INT64_MAX : (int64_t)ps;
}

/* What joins the servers from `low` to `high`, and all between them. */
static struct server_level link_of(const struct servers *s, uint32_t low, uint32_t high)
{
    struct server_level at = {s->unit ? s->unit : s->n, s->outer, s->outer_reduce,
                              s->outer_latency};
    for (uint32_t l = 0; l < s->nabove && low / at.servers != high / at.servers; l++)
        at = s->above[l];
    return at;
}

static uint32_t last_of(const struct servers *s, const struct device_set *x)
{
    uint32_t last = 0;
    for (uint32_t v = 0; v < s->n; v++)
        last = x->of[v] ? v : last;
    return last;
}

int64_t servers_reduce(const struct servers *s, const struct device_set *x, int64_t bytes)
{
    uint32_t first, n, spanned = servers_spanned(s, x, &first, &n);
    if (n <= 1 || bytes <= 0)
        return 0;
    if (spanned == 1) {
        int64_t moving = s->inner_reduce
                             ? move_ps(bytes, 2 * (n - 1), n, s->inner_reduce)
                             : move_ps(bytes, 2 * (n - 1), (uint64_t)n * (n / 2), s->inner);
        return sat_add(moving, sat_mul(s->inner_latency, 2 * (n - 1)));
    }
    struct server_level at = link_of(s, first, last_of(s, x));
    return sat_add(move_ps(bytes, 2 * (n - 1), n, at.reduce), sat_mul(at.latency, 2 * (n - 1)));
}

int64_t servers_move(const struct servers *s, const struct device_set *from,
                     const struct device_set *to, int64_t bytes)
{
    uint32_t first, n, sender, other, senders, low, high;
    bool spans = servers_spanned(s, to, &first, &n) > 1;
    servers_spanned(s, from, &sender, &senders);
    if (bytes <= 0)
        return 0;
    low = smaller_u32(first, sender);
    high = larger_u32(last_of(s, to), last_of(s, from));
    struct server_level at = link_of(s, low, high);
    other = senders - from->of[first];
    if (spans)
        return sat_add(move_ps(bytes, 1, 1, at.reduce), at.latency);
    if (other)
        return sat_add(move_ps(bytes, other, senders, at.rate), at.latency);
    return sat_add(move_ps(bytes, 1, 1, s->inner), s->inner_latency);
}
