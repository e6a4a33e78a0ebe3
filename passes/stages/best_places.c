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
    /* before: number of servers joined by the kinds of links found so far.  A level of one server, or of no more
     * servers than the level below, has no links of its own */
    uint32_t n = 0, before = 1;
    for (uint32_t l = 0; l <= s->nabove; l++) {
        uint32_t all = s->unit ? s->unit : s->n; /* number of servers below a link of this level */
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

/* Returns whether all devices of a set are in server 0, in which the set has one at least. */
static bool is_one_server(const struct servers *s, const struct device_set *x)
{
    for (uint32_t v = 1; v < s->n; v++)
        if (x->of[v])
            return false;
    return true;
}

int64_t least_move(const struct servers *s, const struct device_set *to, int64_t bytes)
{
    uint32_t far[SPREADS], joined[SPREADS], many = link_kinds(s, far, joined);
    uint32_t beside = (uint32_t)s->size[0] - to->of[0];
    bool one = is_one_server(s, to);
    int64_t best = INT64_MAX;
    if (beside) {
        const struct device_set from = {{1}};
        best = servers_move(s, &from, to, bytes);
    }
    for (uint32_t l = 0; l < many; l++) {
        /* a single server gets some slices from senders within the server, and one slice over the link; several servers
         * get all slices over the link */
        struct device_set from = {{one ? (uint16_t)beside : 0}};
        uint32_t at = far[l];
        while (at < joined[l] && to->of[at] == s->size[at])
            at++;
        if (at == joined[l])
            continue;
        from.of[at] = 1;
        int64_t ps = servers_move(s, &from, to, bytes);
        best = smaller(ps, best);
    }
    return best;
}

int64_t least_move_any(const struct servers *s, int64_t bytes)
{
    int64_t best = INT64_MAX;
    for (uint32_t n = 1; n < s->ndev; n++) {
        const struct spread to = spread_of(s, n);
        for (uint32_t i = 0; i < to.n; i++) {
            int64_t ps = least_move(s, &to.set[i], bytes);
            best = smaller(ps, best);
        }
    }
    return best < INT64_MAX ? best : 0;
}
