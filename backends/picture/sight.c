/* Finds the nodes near a node (sight.h) in K rounds over all nets: in each round a net spreads from its producer to its
 * readers, and from a reader to its producer. */
#include "backends/picture/sight.h"

#include "backends/label.h"
#include "ir/model/path.h"
#include "ir/plan/parts.h"

#include <stdlib.h>
#include <string.h>

enum {
    USUAL = 2, /* K if it is not given */
    MOST = 99, /* the largest K */
    NAME = 120 /* characters of a name in messages, at most */
};

/* Splits "NODE:K": returns NODE, in a, and sets *k to K, at most MOST.  Text without a number behind its last ':' is
 * all NODE, and K is USUAL. */
static const char *split_around(const char *around, long *k, struct arena *a)
{
    const char *colon = strrchr(around, ':');
    *k = USUAL;
    if (!colon || !colon[1] || strspn(colon + 1, "0123456789") != strlen(colon + 1))
        return around;
    *k = strtol(colon + 1, NULL, 10);
    *k = smaller(*k, MOST);
    return arena_fmt(a, "%.*s", (int)(colon - around), around);
}

/* Returns the placed node with this name, else the first one with this path; 0: there is none. */
static nid find_node(const struct result *r, const char *name, struct arena *a)
{
    const struct module *m = r->scene.m;
    nid found = 0;
    for (nid x = 1; x < m->nnode; x++) {
        if (r->scene.place->kind[x] != PLACE_NODE)
            continue;
        if (strcmp(node_name(m, x), name) == 0)
            return x;
        struct arena_mark mark = arena_mark(a);
        if (!found && strcmp(node_path(m, x, a), name) == 0)
            found = x;
        arena_release(a, mark);
    }
    return found;
}

/* Makes one round of the search: sets near[x] to `round` (2, 3, ...) for each node x that no earlier round has reached,
 * and that makes an operand of, or reads a result of, a node that an earlier round has reached. */
static void grow(const struct result *r, uint8_t *near, uint8_t round)
{
    const struct place *pl = r->scene.place;
    for (uint32_t e = 0; e < pl->nnet; e++) {
        nid u = r->scene.m->value[pl->net_value[e]].def;
        bool from_maker = u && near[u] && near[u] < round; /* the net's producer is reached */
        for_row (v, pl->net_pin, e) {
            if (u && near[v] && near[v] < round && !near[u])
                near[u] = round;
            if (from_maker && !near[v])
                near[v] = round;
        }
    }
}

int sight_find(const struct result *r, const char *part, const char *around, const uint8_t **shown,
               struct arena *a)
{
    char *end = NULL;
    bool number = *part >= '0' && *part <= '9';
    unsigned long only = number ? strtoul(part, &end, 10) : 0;
    uint32_t nnode = r->scene.m->nnode;
    uint8_t *near = arena_alloc(a, nnode);
    long rounds;
    const char *name = split_around(around, &rounds, a);
    nid x = *around ? find_node(r, name, a) : 0;
    if (*part && (!number || *end || only >= r->parts->nparts))
        return diag_error(r->diag, "--part '%s': expected a number below %u, the number of parts",
                          label_text(a, part, strlen(part), NAME), r->parts->nparts);
    if (*around && !x) { /* perhaps the name itself ends in ':' and a number */
        x = find_node(r, around, a);
        rounds = USUAL;
    }
    if (*around && !x)
        return diag_error(r->diag, "--around '%s': no placed node has that name or path",
                          label_text(a, name, strlen(name), NAME));
    if (x && number && r->parts->part_of[x] != (int32_t)only)
        return diag_error(r->diag,
                          "--around '%s': the node is in part %d, not in --part=%lu: leave "
                          "one out",
                          label_text(a, name, strlen(name), NAME), r->parts->part_of[x], only);
    /* near[node]: 1: the node itself; k + 2: reached in round k; 0: not shown.  Without --around all nodes are
     * shown. */
    memset(near, x ? 0 : 1, nnode);
    if (x)
        near[x] = 1;
    for (long k = 0; x && k < rounds; k++)
        grow(r, near, (uint8_t)(k + 2));
    for (nid i = 0; i < nnode && number; i++)
        near[i] = near[i] && r->parts->part_of[i] == (int32_t)only ? near[i] : 0;
    *shown = near;
    return 0;
}
