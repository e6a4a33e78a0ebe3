/* Writes a plan of a workload in the JSON form of the placement paper's splits.
 *
 *     {"cpus": [{"load": ms, "nodes": [ids]}], "fpgas": [...], "maxLoad": ms}
 *
 * Every device is listed, its node ids ascending, with its load by the judge: milliseconds with 9 decimals, which is
 * exact.  A plan for the objective latency has "totalLatency" instead of "maxLoad".  If it has slots, "q" is their
 * number, and each accelerator has q entries in "fpgas", one for each slot, without "load".
 * O(q * devices + nodes log nodes). */
#include "ir/plan/plan_json.h"

#include "ir/base/json_out.h"
#include "ir/base/keyed.h"
#include "ir/base/outfile.h"

enum { MS_DIGITS = 9 }; /* a ps is 10^-9 ms: decimals of a time in ms */

/* State of writing a split. */
struct split {
    struct json_out o;
    const struct plan_report *t;
    uint32_t q; /* number of slots of each accelerator; 0: the plan has no slots */
    /* row_of(device, slot) -> the nodes there, by ascending id in the workload */
    struct csr listed;
};

/* Returns the id that node n has in the workload, its attribute "id"; -1: it has none. */
static int64_t id_of(const struct split *w, nid n)
{
    return node_attr_int(w->t->scene->m, n, "id", -1);
}

/* Whether device dev is of a class of hosts (CPUs). */
static bool is_host(const struct split *w, uint32_t dev)
{
    const struct cluster *c = w->t->scene->cluster;
    return c->cls[cluster_class(c, dev)].host;
}

/* Returns the row of w->listed for a device and a slot, 1, 2, ...; slot 0: for a device without slots. */
static uint32_t row_of(const struct split *w, uint32_t dev, uint32_t slot)
{
    return dev * (w->q ? w->q : 1) + (slot ? slot - 1 : 0);
}

/* Fills w->listed: for each device without slots, and each slot of an accelerator (row_of), the nodes of the main
 * graph that the plan has there, by ascending id. */
static void list_by_slot(struct split *w, struct arena *a)
{
    const struct plan *p = w->t->plan;
    const struct graph *g = &w->t->scene->m->graph[1];
    struct keyed *x = arena_array(a, (size_t)g->count + 1, sizeof *x);
    uint32_t *row = arena_array(a, (size_t)g->count + 1, sizeof *row), n = 0;
    uint32_t *node = arena_array(a, (size_t)g->count + 1, sizeof *node);
    for (nid v = g->first; v < g->first + g->count; v++)
        if (p->dev[v] >= 0)
            x[n++] = (struct keyed){id_of(w, v), v};
    keyed_sort(x, n);
    for (uint32_t i = 0; i < n; i++) {
        node[i] = x[i].item;
        uint32_t dev = (uint32_t)p->dev[node[i]];
        row[i] = row_of(w, dev, w->q && !is_host(w, dev) ? p->slot[node[i]] : 0);
    }
    w->listed = csr_build(a, row_of(w, w->t->scene->cluster->ndev, 0), n, row, node);
}

/* Writes the entry of a slot of a device; slot 0: the entry of a device without slots, with its load. */
static void put_slot(struct split *w, uint32_t dev, uint32_t slot)
{
    json_open(&w->o, NULL, '{', JSON_ROW);
    if (!slot)
        json_put_decimal(json_member(&w->o, "load"), w->t->verdict->load[dev].load, MS_DIGITS);
    json_open(&w->o, "nodes", '[', JSON_ROW);
    for_row (n, w->listed, row_of(w, dev, slot))
        json_int(&w->o, NULL, id_of(w, n));
    json_close(&w->o, JSON_ROW);
    json_close(&w->o, JSON_ROW);
}

/* Writes the list named `key` of all hosts (host true) or of all accelerators (host false). */
static void put_devices(struct split *w, const char *key, bool host)
{
    const struct cluster *c = w->t->scene->cluster;
    bool any = false;
    json_open(&w->o, key, '[', /*indent=*/8);
    for (uint32_t d = 0; d < c->ndev; d++) {
        if (is_host(w, d) != host)
            continue;
        /* an entry for each slot of an accelerator; one entry, of slot 0, for a host and in a plan without slots */
        bool slotted = !host && w->q > 0;
        for (uint32_t slot = slotted ? 1 : 0; slot <= (slotted ? w->q : 0); slot++)
            put_slot(w, d, slot);
        any = true;
    }
    json_close(&w->o, any ? 4 : JSON_ROW);
}

/* Returns the largest slot of an accelerator; 0: the plan has no slots.  Only plans for the objective latency have
 * slots; latency_verdict() has checked that each node on an accelerator has one. */
static uint32_t count_slots(const struct split *w, struct arena *a)
{
    const struct scene *s = w->t->scene;
    const uint32_t *slots = plan_slots(s, w->t->plan, a);
    uint32_t most = 0;
    for (uint32_t d = 0; d < s->cluster->ndev && exec_kind(&s->model)->subgraphs; d++)
        if (!is_host(w, d) && slots[d] > most)
            most = slots[d];
    return most;
}

bool paper_split_possible(const struct plan_report *t)
{
    const struct module *m = t->scene->m;
    const struct graph *g = &m->graph[1];
    bool all = m->ir_version == 0 && !t->plan->rank && exec_kind(&t->scene->model)->paper;
    for (nid n = g->first; all && n < g->first + g->count; n++)
        all = t->plan->dev[n] < 0 || node_attr(m, n, "id");
    return all;
}

int paper_split_write(const struct plan_report *t, const char *path, FILE *out, struct diag *d)
{
    const struct module *m = t->scene->m;
    struct outfile o;
    struct arena *a = arena_new(m->mem);
    struct split w = {.t = t};
    w.q = count_slots(&w, a);
    if (plan_slots_check((uint64_t)w.q * t->scene->cluster->ndev, m, path, d) ||
        outfile_open_to(&o, path, out, m->mem, d)) {
        arena_free(a);
        return -1;
    }
    w.o.f = o.f;
    list_by_slot(&w, a);
    json_open(&w.o, NULL, '{', /*indent=*/4);
    put_devices(&w, "cpus", /*host=*/true);
    put_devices(&w, "fpgas", /*host=*/false);
    if (w.q)
        json_int(&w.o, "q", w.q);
    json_put_decimal(json_member(&w.o, exec_kind(&t->scene->model)->paper), t->verdict->value,
                     MS_DIGITS);
    json_close(&w.o, 0);
    putc('\n', o.f);
    arena_free(a);
    return outfile_close(&o, /*ok=*/true);
}
