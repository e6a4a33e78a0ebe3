/* Assigns devices to nodes that a file names (assign.h).  Names are found by their interned numbers, ids by a table.
 * All calls for a file together: O(nodes + entries of the file). */
#include "ir/plan/assign.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

void assign_begin(struct assignment *r)
{
    const struct module *m = r->scene->m;
    assert(r->scene->place && r->scene->cluster);
    r->dev = arena_array(r->a, m->nnode, sizeof *r->dev);
    memset(r->dev, 0xff, m->nnode * sizeof *r->dev); /* -1: none so far */
    r->place = arena_array(r->a, m->nnode, sizeof *r->place);
    r->follows = place_follows(m, r->scene->place, r->a);
}

void assign_by_name(struct assignment *r)
{
    const struct graph *g = &r->scene->m->graph[1];
    for (nid n = g->first; n < g->first + g->count; n++)
        map_set(&r->named, r->a, r->scene->m->node[n].name, n);
    for (uint32_t i = 0; i < r->nrange; i++)
        map_set(&r->ranges, r->a, r->range[i].name, i + 1);
}

void assign_by_id(struct assignment *r)
{
    const struct graph *g = &r->scene->m->graph[1];
    for (nid n = g->first; n < g->first + g->count; n++) {
        int64_t id = node_attr_int(r->scene->m, n, "id", -1);
        if (id >= 0)
            map_set(&r->numbered, r->a, (uint64_t)id + 1, n);
    }
}

/* Returns the name of a device, >= 0. */
static const char *device_name(const struct assignment *r, int32_t dev)
{
    return cluster_device_name(r->scene->cluster, r->a, (uint32_t)dev);
}

int assign_device(const struct assignment *r, const char *name)
{
    int dev = cluster_device(r->scene->cluster, name);
    if (dev < 0)
        diag_error(r->diag, "%s: there is no device '%s': expected one of %s", r->path, name,
                   cluster_devices(r->scene->cluster, r->a));
    return dev;
}

int assign_copies(struct assignment *r, int dev, int64_t copies)
{
    uint32_t ndev = r->scene->cluster->ndev, d = (uint32_t)dev;
    if (copies < 1 || copies > ndev - d)
        return diag_error(r->diag, "%s: '%s' has %" PRId64 " copies: expected 1 to %u", r->path,
                          device_name(r, dev), copies, ndev - d);
    if (!r->copies && copies > 1)
        r->copies = arena_array(r->a, ndev, sizeof *r->copies);
    if (r->copies)
        r->copies[d] = (uint32_t)copies;
    return 0;
}

int assign_node(struct assignment *r, nid n, int dev)
{
    if (r->dev[n] >= 0 && r->dev[n] != dev)
        return diag_error(r->diag, "%s: node '%s' is on '%s' and on '%s': expected one device",
                          r->path, node_name(r->scene->m, n), device_name(r, r->dev[n]),
                          device_name(r, dev));
    if (r->scene->place->kind[n] == PLACE_NODE)
        r->dev[n] = dev;
    if (!r->place[n])
        r->place[n] = ++r->nplaced;
    return 0;
}

int assign_range(struct assignment *r, uint32_t range, int dev)
{
    assert(range < r->nrange);
    for (nid n = r->range[range].first; n < r->range[range].end; n++)
        if (!r->follows[n] && assign_node(r, n, dev))
            return -1;
    return 0;
}

nid assign_find(const struct assignment *r, sid name, uint32_t *range)
{
    nid n = map_get(&r->named, name);
    *range = n ? 0 : map_get(&r->ranges, name);
    return n;
}

/* Whether `name` is in r->left_out: the name of a node that is made again when the plan is written, so that the model
 * need not have it. Writes to *of the model's node of which it is a copy; 0: the model has none, or the name is not in
 * left_out. */
static bool is_left_out(const struct assignment *r, const char *name, nid *of)
{
    uint32_t range, from = map_get(&r->left_out, str_id(r->scene->m, name));
    *of = from ? assign_find(r, from - 1, &range) : 0;
    return from != 0;
}

/* Writes the nodes of a name (one node, or a range) to *of.  Returns 0, or -1 and an error if no node or range has
 * the name. */
static int find_nodes(const struct assignment *r, const char *name, struct node_range *of)
{
    uint32_t range = 0;
    nid n = *name ? assign_find(r, str_id(r->scene->m, name), &range) : 0;
    if (!n && !range)
        return diag_error(r->diag, "%s: there is no node '%s' in %s", r->path, name,
                          module_str(r->scene->m, r->scene->m->path));
    *of = n ? (struct node_range){.first = n, .end = n + 1} : r->range[range - 1];
    return 0;
}

int assign_stage(struct assignment *r, const char *name, uint32_t stage)
{
    const struct module *m = r->scene->m;
    struct node_range of = {0};
    uint32_t range;
    if (!r->stage_of) {
        r->stage_of = arena_array(r->a, m->nnode, sizeof *r->stage_of);
        memset(r->stage_of, 0xff, m->nnode * sizeof *r->stage_of); /* -1: none so far */
    }
    nid from;
    if (is_left_out(r, name, &from) && !assign_find(r, str_id(r->scene->m, name), &range) &&
        !range) {
        /* the name is that of a copy of `from`: `from` gets the copy's stage, unless it has a stage so far */
        if (from && r->stage_of[from] < 0)
            r->stage_of[from] = (int32_t)stage;
        return 0;
    }
    if (find_nodes(r, name, &of))
        return -1;
    /* assign_end() gives the nodes of a range that follow their operands the stages of their operands' producers */
    for (nid n = of.first; n < of.end; n++)
        if (r->scene->place->kind[n] == PLACE_NODE && (of.end - of.first == 1 || !r->follows[n]))
            r->stage_of[n] = (int32_t)stage;
    return 0;
}

int assign_named(struct assignment *r, const char *name, int dev)
{
    uint32_t range = 0;
    nid from, n = *name ? assign_find(r, str_id(r->scene->m, name), &range) : 0;
    if (n || range)
        return n ? assign_node(r, n, dev) : assign_range(r, range - 1, dev);
    /* the name is that of a copy of `from`: `from` gets the copy's device, unless it has a device so far */
    if (is_left_out(r, name, &from))
        return from && r->dev[from] < 0 ? assign_node(r, from, dev) : 0;
    return diag_error(r->diag, "%s: there is no node '%s' in %s", r->path, name,
                      module_str(r->scene->m, r->scene->m->path));
}

int assign_numbered(struct assignment *r, int64_t id, int dev)
{
    nid n = id >= 0 ? map_get(&r->numbered, (uint64_t)id + 1) : 0;
    if (n)
        return assign_node(r, n, dev);
    return diag_error(r->diag, "%s: there is no node with id %" PRId64 " in %s", r->path, id,
                      module_str(r->scene->m, r->scene->m->path));
}

/* Sets the slot of nodes first .. end - 1. */
static void set_slot(struct assignment *r, nid first, nid end, uint32_t slot)
{
    if (!r->slot)
        r->slot = arena_array(r->a, r->scene->m->nnode, sizeof *r->slot);
    for (nid n = first; n < end; n++)
        r->slot[n] = slot;
}

int assign_slot_named(struct assignment *r, const char *name, uint32_t slot)
{
    struct node_range of = {0};
    if (find_nodes(r, name, &of))
        return -1;
    set_slot(r, of.first, of.end, slot);
    return 0;
}

int assign_slot_numbered(struct assignment *r, int64_t id, uint32_t slot)
{
    nid n = id >= 0 ? map_get(&r->numbered, (uint64_t)id + 1) : 0;
    if (!n)
        return diag_error(r->diag, "%s: there is no node with id %" PRId64 " in %s", r->path, id,
                          module_str(r->scene->m, r->scene->m->path));
    set_slot(r, n, n + 1, slot);
    return 0;
}

/* Whether node n needs a device (PLACE_NODE). */
static bool is_placed(const struct assignment *r, nid n)
{
    return r->scene->place->kind[n] == PLACE_NODE;
}

int assign_by_color(struct assignment *r)
{
    const struct module *m = r->scene->m;
    const struct graph *g = &m->graph[1];
    if (!m->color)
        return 0;
    uint32_t most = module_most_color(m);
    /* [colour] first: the colour's first node with a device; other: a node of the colour on another device; 0: none */
    nid *first = arena_array(r->a, (size_t)most + 1, sizeof *first);
    nid *other = arena_array(r->a, (size_t)most + 1, sizeof *other);
    for (nid n = g->first; n < g->first + g->count; n++) {
        uint32_t c = m->color[n];
        if (!is_placed(r, n) || r->dev[n] < 0)
            continue;
        if (!first[c])
            first[c] = n;
        else if (r->dev[first[c]] != r->dev[n])
            other[c] = n;
    }
    for (nid n = g->first; n < g->first + g->count; n++) {
        uint32_t c = m->color[n];
        if (!is_placed(r, n) || r->dev[n] >= 0 || !c || !first[c])
            continue;
        if (other[c])
            return diag_error(
                r->diag,
                "%s: node '%s' is not listed, and nodes of its colour are on '%s' ('%s') "
                "and '%s' ('%s'): expected one device",
                r->path, node_name(m, n), device_name(r, r->dev[first[c]]), node_name(m, first[c]),
                device_name(r, r->dev[other[c]]), node_name(m, other[c]));
        r->dev[n] = r->dev[first[c]];
    }
    return 0;
}

int assign_end(struct assignment *r)
{
    const struct module *m = r->scene->m;
    const struct place *p = r->scene->place;
    const struct graph *g = &m->graph[1];
    uint32_t missing = 0, placed = 0;
    /* missed: the first placed node without a device; unordered: the first one without a position in the order; 0:
     * none */
    nid missed = 0, unordered = 0;
    /* assign_range() left out the Shape and Size nodes of opened calls: they go on the devices of their operands'
     * producers */
    for (uint32_t i = 0; r->range && i < p->nsame; i++)
        if (p->same[i].why == SAME_SHAPE && r->dev[p->same[i].b] < 0) {
            r->dev[p->same[i].b] = r->dev[p->same[i].a];
            if (r->slot)
                r->slot[p->same[i].b] = r->slot[p->same[i].a];
            if (r->stage_of)
                r->stage_of[p->same[i].b] = r->stage_of[p->same[i].a];
        }
    for (nid n = g->first; n < g->first + g->count; n++) {
        if (!is_placed(r, n))
            continue;
        placed++;
        if (r->ordered && !r->place[n] && !unordered)
            unordered = n;
        if (r->dev[n] >= 0)
            continue;
        if (!missing)
            missed = n;
        missing++;
    }
    if (!missing && unordered)
        return diag_error(r->diag, "%s: node '%s' has no place in the order of the plan", r->path,
                          node_name(m, unordered));
    if (!missing)
        return 0;
    return diag_error(r->diag, "%s: %u of %u placed nodes have no device, the first is '%s'",
                      r->path, missing, placed, node_name(m, missed));
}

uint32_t *assign_rank(const struct assignment *r)
{
    return r->ordered ? r->place : NULL;
}
