/* The best sets of devices that a stage may have (best_places.h).
 *
 * The time of an AllReduce depends on the outermost link that it uses.  So n devices are all in one server; or, for
 * each kind of link between servers, one device is on the far side of such a link and the others are as near to each
 * other as they can be.  O(levels * servers). */
#include "passes/stages/best_places.h"

/* Returns the number of kinds of links between servers, from the innermost one.  For kind i, writes to far[i] the
 * first server that a link of the kind joins to server 0, and to joined[i] the number of servers that such links
 * join in all. */
static uint32_t link_kinds(const struct servers *s, uint32_t far[SPREADS], uint32_t joined[SPREADS])
{
    /* before: number of servers that the links so far join; a level of one server, or of no more than the level below,
     * has no links of its own */
    uint32_t n = 0, before = 1;
    for (uint32_t l = 0; l <= s->nabove; l++) {
        uint32_t all = s->unit ? s->unit : s->n; /* servers that links of this level join */
        if (l > 0)
            all = s->above[l - 1].servers;
        if (all <= before)
            continue;
        far[n] = before;
        joined[n++] = smaller_u32(all, s->n);
        before = all;
    }
    return n;
}

struct spread spread_of(const struct servers *s, uint32_t n)
{
    uint32_t far[SPREADS], joined[SPREADS], many = link_kinds(s, far, joined);
    struct spread x = {0};
    if (n <= s->size[0]) /* all in one server */
        x.set[x.n++].of[0] = (uint16_t)n;
    for (uint32_t l = 0; l < many && n > 1; l++) {
        if (n > joined[l] * s->size[0])
            continue;
        /* one device beyond a link of kind l, the others in the first servers that have room */
        struct device_set *set = &x.set[x.n++];
        uint32_t left = n - 1;
        set->of[far[l]] = 1;
        for (uint32_t v = 0; v < joined[l] && left; v++) {
            uint32_t room = (uint32_t)s->size[v] - set->of[v], take = smaller_u32(left, room);
            set->of[v] = (uint16_t)(set->of[v] + take);
            left -= take;
        }
    }
    return x;
}

int64_t least_reduce(const struct servers *s, const struct spread *x, int64_t bytes)
{
    int64_t best = x->n ? INT64_MAX : 0;
    for (uint32_t i = 0; i < x->n; i++) {
        int64_t ps = servers_reduce(s, &x->set[i], bytes);
        best = smaller(ps, best);
    }
    return best;
}

int64_t least_move(const struct servers *s, int64_t bytes)
{
    uint32_t far[SPREADS], joined[SPREADS], many = link_kinds(s, far, joined);
    const struct device_set one = {{1}};
    int64_t best = INT64_MAX;
    if (s->size[0] > 1) /* between two devices of a server */
        best = servers_move(s, &one, &one, bytes);
    /* over a link of each kind: from the far server to one device here, or from one device to two, here and there */
    for (uint32_t l = 0; l < many; l++) {
        struct device_set from = {{0}}, two = {{1}};
        from.of[far[l]] = 1;
        /* only one of the size[0] senders is beyond the link, so only that sender's slice goes over the link */
        from.of[0] = (uint16_t)(s->size[0] - 1);
        two.of[far[l]] = 1;
        int64_t other = servers_move(s, &from, &one, bytes);
        int64_t spans = servers_move(s, &one, &two, bytes);
        best = smaller(other, best);
        best = smaller(spans, best);
    }
    return best < INT64_MAX ? best : 0;
}
