/* Reads and writes plans as JSON (plan_json.h), in three forms: pcc's own plan, the manifest of a split, and the
 * placement paper's split.
 *
 *     {"pcc_plan": 1, "planner", "objective": {...}, "ordered", "devices": [{"name", ..., "copies", "nodes": [names]}],
 *      "calls"}
 *     {"pcc_manifest": 1, "objective": {...}, "parts": [{"file", "device", "replicas"}], "nodes": {file: [names]},
 *      "order": {device: [names]}, "recomputed": {name: name}, "calls", ...}
 *     {"fpgas": [{"nodes": [ids]}], "cpus": [{"nodes": [ids]}], ...}
 *
 * The paper's form lists accelerators and host devices in the order of their numbers; paper_split.c writes it.  Of a
 * manifest, this file handles the members about the plan; backends/split/manifest.c writes the others.
 * O(nodes + entries). */
#include "ir/plan/plan_json.h"

#include "ir/base/json_in.h"
#include "ir/base/outfile.h"
#include "ir/base/units.h"
#include "ir/plan/order.h"
#include "ir/plan/training_json.h"

#include <errno.h>
#include <string.h>

/* ---- reading ---------------------------------------------------------------------------------- */

/* Reports that the file has not the expected form; returns -1. */
static int expect_form(const struct assignment *r, const char *expected)
{
    return diag_error(r->diag, "%s: expected %s", r->path, expected);
}

/* Puts the nodes of a list of names or ids on device dev.  Returns 0, or -1 and an error. */
static int read_nodes(struct assignment *r, const json_t *nodes, int dev)
{
    if (!json_is_array(nodes))
        return expect_form(r, "a list of nodes for each device in 'nodes'");
    for (size_t i = 0; i < json_array_size(nodes); i++) {
        const json_t *entry = json_array_get(nodes, i);
        int rc;
        if (json_is_string(entry))
            rc = assign_named(r, json_string_value(entry), dev);
        else if (json_is_integer(entry))
            rc = assign_numbered(r, json_integer_value(entry), dev);
        else
            rc = expect_form(r, "names or ids of nodes in 'nodes'");
        if (rc)
            return -1;
    }
    return 0;
}

/* Reads the member "copies" of device dev into r->copies; does nothing if it is NULL (there is none). Returns 0, or -1
 * and an error. */
static int read_copies(struct assignment *r, const json_t *copies, int dev)
{
    if (copies && !json_is_integer(copies))
        return expect_form(r, "a number in 'copies'");
    return copies ? assign_copies(r, dev, json_integer_value(copies)) : 0;
}

/* Sets the slot of the nodes of a list of names or ids, whose form was checked.  Returns 0, or -1 and an error. */
static int read_slot(struct assignment *r, const json_t *nodes, uint32_t slot)
{
    for (size_t i = 0; i < json_array_size(nodes); i++) {
        const json_t *entry = json_array_get(nodes, i);
        int rc = json_is_string(entry) ? assign_slot_named(r, json_string_value(entry), slot)
                                       : assign_slot_numbered(r, json_integer_value(entry), slot);
        if (rc)
            return -1;
    }
    return 0;
}

/* Reads the member "slots" of a device: for slot 1, 2, ... a list of names.  NULL: the device has no such member.
 * Returns 0, or -1 and an error. */
static int read_slots(struct assignment *r, const json_t *slots)
{
    if (slots && (!json_is_array(slots) || json_array_size(slots) > SLOTS_MOST))
        return expect_form(r, "a list of lists of names in 'slots'");
    for (size_t i = 0; i < json_array_size(slots); i++) {
        const json_t *nodes = json_array_get(slots, i);
        bool names = json_is_array(nodes);
        for (size_t k = 0; names && k < json_array_size(nodes); k++)
            names = json_is_string(json_array_get(nodes, k));
        if (!names)
            return expect_form(r, "a list of lists of names in 'slots'");
        if (read_slot(r, nodes, (uint32_t)i + 1))
            return -1;
    }
    return 0;
}

/* Reads the bound that the planner claimed, and its scope, into r->said; leaves them unset if there is no bound, if it
 * is above the value, or if the scope is unknown. */
static void read_bound(struct assignment *r, const json_t *objective)
{
    const char *scope = json_get_text(objective, "scope");
    double bound = json_number_value(json_object_get(objective, "bound_s"));
    double value = json_number_value(json_object_get(objective, "value_s"));
    for (enum plan_scope s = SCOPE_ALL; scope && bound > 0 && value >= bound && s < SCOPES; s++)
        if (strcmp(scope, plan_scope_name(s)) == 0) {
            r->said.bound = bound;
            r->said.scope = plan_scope_name(s);
        }
}

/* Reads the objective and the settings under which the file's figures were computed, and the bound, into r->said.
 * Returns 0, or -1 and an error. */
static int read_objective(struct assignment *r, const json_t *root)
{
    const json_t *o = json_object_get(root, "objective");
    if (o && !json_is_object(o))
        return expect_form(r, "an object 'objective'");
    for (const struct opt *row = exec_settings; row->name; row++) {
        bool objective = row->off == offsetof(struct exec_model, objective);
        /* settings about iterations alone are in the member "training" */
        if (!objective && !(row->in_plans && row->about & ~(unsigned)ABOUT_ITERATION))
            continue;
        struct opt own = exec_values(&r->scene->model, row, r->a);
        const char *key = objective ? "name" : opt_json(row, r->a);
        const json_t *entry = json_object_get(o, key);
        const char *said = json_string_value(entry);
        if (row->kind == OPT_INT && json_is_integer(entry))
            said = arena_fmt(r->a, "%" JSON_INTEGER_FORMAT, json_integer_value(entry));
        if (entry && !said)
            return diag_error(r->diag, "%s: objective: %s: expected %s", r->path, key,
                              opt_expected(&own, r->a));
        if (said && !opt_set(&own, &r->said.model, said))
            return diag_error(r->diag, "%s: objective: %s '%s': expected %s", r->path, key, said,
                              opt_expected(&own, r->a));
        r->said.bits |= said ? exec_bit(row) : 0;
    }
    read_bound(r, o);
    return 0;
}

/* Reads a plan in pcc's own form.  Returns 0, or -1 and an error. */
static int read_plan(struct assignment *r, const json_t *root)
{
    const json_t *devices = json_object_get(root, "devices");
    if (!json_is_array(devices))
        return expect_form(r, "a list 'devices'");
    const json_t *ordered = json_object_get(root, "ordered");
    if (ordered && !json_is_boolean(ordered))
        return expect_form(r, "true or false in 'ordered'");
    r->ordered = json_is_true(ordered);
    assign_by_name(r);
    if (read_objective(r, root))
        return -1;
    if (training_json_read(r, json_object_get(root, "training")))
        return -1;
    for (size_t i = 0; i < json_array_size(devices); i++) {
        const json_t *d = json_array_get(devices, i), *nodes = json_object_get(d, "nodes");
        const char *name = json_get_text(d, "name");
        if (!name)
            return expect_form(r, "a 'name' in every one of 'devices'");
        if (json_is_array(nodes) && !json_array_size(nodes))
            continue; /* an idle device: the plan may be from a larger cluster, which has more names */
        int dev = assign_device(r, name);
        if (dev < 0 || read_nodes(r, nodes, dev) || read_slots(r, json_object_get(d, "slots")) ||
            read_copies(r, json_object_get(d, "copies"), dev))
            return -1;
    }
    return 0;
}

/* Reads the member "order" of a manifest: device -> its nodes, in the order in which the device runs them.  Returns 0,
 * or -1 and an error. */
static int read_order(struct assignment *r, json_t *order)
{
    const char *name;
    json_t *nodes;
    json_object_foreach(order, name, nodes)
    {
        int dev = assign_device(r, name);
        if (dev < 0 || read_nodes(r, nodes, dev))
            return -1;
    }
    return 0;
}

/* Reads the stage of a part, and sets it for the part's nodes; does nothing if each device has one stage at most.
 * Returns 0, or -1 and an error. */
static int read_part_stage(struct assignment *r, const json_t *part, const json_t *nodes)
{
    int64_t stage;
    if (!r->stages || stages_places(r->stages) == r->stages->n)
        return 0;
    if (!json_int_in(json_object_get(part, "stage"), 0, (int64_t)r->stages->n - 1, &stage))
        return expect_form(r, "the number of its 'stage' in every one of 'parts'");
    for (size_t i = 0; i < json_array_size(nodes); i++) {
        const char *name = json_string_value(json_array_get(nodes, i));
        if (name && assign_stage(r, name, (uint32_t)stage))
            return -1;
    }
    return 0;
}

/* Reads the member "recomputed" of a manifest into r->left_out: names of nodes that were made again when the manifest
 * was written, each with the name of the node that it was made from; names NULL: there is no such member.  Returns 0,
 * or -1 and an error. */
static int read_recomputed(struct assignment *r, json_t *names)
{
    const char *name;
    json_t *of;
    if (names && !json_is_object(names))
        return expect_form(r, "an object 'recomputed', from names of nodes to names of nodes");
    json_object_foreach(names, name, of)
    {
        if (!json_is_string(of))
            return expect_form(r, "names of nodes as values of 'recomputed'");
        map_set(&r->left_out, r->a, str_id(r->scene->m, name),
                1 + str_id(r->scene->m, json_string_value(of)));
    }
    return 0;
}

/* Reads the plan in a manifest.  The member "order" is read before the nodes of parts, which are the same nodes, so
 * that it determines the positions of the nodes.  Returns 0, or -1 and an error. */
static int read_manifest(struct assignment *r, const json_t *root)
{
    json_t *order = json_object_get(root, "order");
    const json_t *parts = json_object_get(root, "parts"), *nodes = json_object_get(root, "nodes");
    if (!json_is_array(parts) || !json_is_object(nodes))
        return expect_form(r, "a list 'parts' and an object 'nodes'");
    if (order && !json_is_object(order))
        return expect_form(r, "an object 'order', a list of nodes for each device");
    r->ordered = json_is_object(order);
    assign_by_name(r);
    if (read_objective(r, root) || read_recomputed(r, json_object_get(root, "recomputed")) ||
        (r->ordered && read_order(r, order)) ||
        training_json_read(r, json_object_get(root, "training")))
        return -1;
    for (size_t i = 0; i < json_array_size(parts); i++) {
        const json_t *p = json_array_get(parts, i);
        const char *file = json_get_text(p, "file");
        const char *device = json_get_text(p, "device");
        if (!file || !device)
            return expect_form(r, "'file' and 'device' in every one of 'parts'");
        int dev = assign_device(r, device);
        const json_t *of = json_object_get(nodes, file);
        if (dev < 0 || read_nodes(r, of, dev) || read_part_stage(r, p, of))
            return -1;
        size_t turns =
            json_array_size(json_object_get(p, "replicas")); /* 0: there is no such list */
        if (!r->stages && turns && assign_copies(r, dev, (int64_t)turns))
            return -1;
        const json_t *slot = json_object_get(p, "slot");
        int64_t k;
        if (slot && !json_int_in(slot, 1, SLOTS_MOST, &k))
            return expect_form(r, "a number from 1 on in each 'slot' of 'parts'");
        if (slot && read_slot(r, of, (uint32_t)k))
            return -1;
    }
    return 0;
}

/* Returns the objective (number in exec_model.kinds) of a split of the paper: a member such as "totalLatency", which
 * holds the split's value, tells the objective; without such a member, TIME_PER_SAMPLE. */
static uint32_t paper_objective(const struct assignment *r, const json_t *root)
{
    const struct exec_kind *const *kinds = r->scene->model.kinds;
    for (uint32_t k = 0; kinds && kinds[k]; k++)
        if (kinds[k]->paper && json_object_get(root, kinds[k]->paper))
            return k;
    return TIME_PER_SAMPLE;
}

/* Returns the number of slots of each accelerator: "fpgas" has one entry for each slot. That is the member "q" or,
 * without "q" and if the objective runs subgraphs, the number of entries divided by the number of accelerators. 0: no
 * slots, "fpgas" has one entry for each accelerator. */
static uint32_t slots_in_paper(const struct assignment *r, const json_t *root)
{
    const struct cluster *c = r->scene->cluster;
    int64_t q;
    size_t n = json_array_size(json_object_get(root, "fpgas")), accelerators = 0;
    for (uint32_t k = 0; k < c->ncls; k++)
        accelerators += c->cls[k].host ? 0 : c->cls[k].count;
    if (n <= SLOTS_MOST && json_int_in(json_object_get(root, "q"), 1, (int64_t)n, &q))
        return (uint32_t)q;
    if (exec_kind_of(&r->scene->model, paper_objective(r, root))->subgraphs && n > accelerators &&
        accelerators && n % accelerators == 0 && n <= SLOTS_MOST)
        return (uint32_t)(n / accelerators);
    return 0;
}

/* Reads a split of the placement paper.  Some splits list only the nodes of the forward pass: nodes that are not
 * listed go to the devices of the nodes of their colours.  Returns 0, or -1 and an error. */
static int read_paper(struct assignment *r, const json_t *root)
{
    static const char *const key[] = {"fpgas", "cpus"};
    const struct cluster *c = r->scene->cluster;
    uint32_t q = slots_in_paper(r, root), objective = paper_objective(r, root);
    if (objective != TIME_PER_SAMPLE) {
        r->said.model.objective = objective;
        r->said.bits |= exec_bit(exec_setting("objective"));
    }
    assign_by_id(r);
    for (int host = 0; host < 2; host++) {
        const json_t *list = json_object_get(root, key[host]);
        uint32_t dev = 0;
        for (size_t i = 0; i < json_array_size(list); i++) {
            /* with q slots per accelerator, q entries in a row are slots 1 to q of one device; else each entry is a
             * device */
            uint32_t slot = !host && q ? (uint32_t)(i % q) + 1 : 0;
            if (i && slot <= 1)
                dev++;
            const json_t *nodes = json_object_get(json_array_get(list, i), "nodes");
            while (dev < c->ndev && c->cls[cluster_class(c, dev)].host != (host == 1))
                dev++;
            if (dev >= c->ndev && json_array_size(nodes))
                return diag_error(r->diag,
                                  "%s: '%s' has nodes on more devices than the cluster has",
                                  r->path, key[host]);
            if (read_nodes(r, nodes, (int)dev))
                return -1;
            if (slot && read_slot(r, nodes, slot))
                return -1;
        }
    }
    return assign_by_color(r);
}

int plan_json_read(struct assignment *r, const char *text, size_t n)
{
    json_error_t e;
    struct arena *own = arena_new(r->a);
    json_t *root = json_read(own, text, n, &e);
    int rc;
    if (!root)
        rc = diag_error(r->diag, "%s:%d: %s", r->path, e.line, e.text);
    else if (json_object_get(root, "pcc_plan"))
        rc = read_plan(r, root);
    else if (json_object_get(root, "pcc_manifest"))
        rc = read_manifest(r, root);
    else if (json_object_get(root, "fpgas"))
        rc = read_paper(r, root);
    else
        rc = expect_form(r, "one of the keys 'pcc_plan', 'pcc_manifest', 'fpgas'");
    arena_free(own);
    return rc;
}

bool plan_json_calls_open(const char *text, size_t n)
{
    json_t *root = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
    const char *calls = json_get_text(root, "calls");
    bool named = json_object_get(root, "pcc_plan") || json_object_get(root, "pcc_manifest");
    bool open = named && !(calls && strcmp(calls, "whole") == 0);
    json_decref(root);
    return open;
}

/* ---- writing ---------------------------------------------------------------------------------- */

/* Returns a time of `ps` ps in seconds; null for ps < 0. */
static json_t *make_seconds(int64_t ps)
{
    return ps < 0 ? json_null() : json_real((double)ps / (double)PS_PER_S);
}

/* State of writing a plan in pcc's own form. */
struct plan_json_state {
    const struct plan_report *t;
    struct arena *a;
    nid bad;               /* the first node whose name is not UTF-8; 0: none was found */
    const nid *order;      /* the nodes in the order of the plan */
    uint32_t n;            /* number of nodes in order[] */
    const uint32_t *slots; /* [device] number of slots of the device */
};

/* Adds to the object o the settings on which figures under the execution model e depend. */
static void add_settings(json_t *o, const struct exec_model *e, struct arena *a)
{
    for (const struct opt *row = exec_settings; o && row->name; row++) {
        const char *word = exec_told(e, row, a), *key = word ? opt_json(row, a) : NULL;
        if (word)
            json_object_set_new(o, key,
                                row->kind == OPT_INT ? json_integer(opt_number(row, e))
                                                     : json_string(word));
    }
}

/* Returns the member "judged": the plan's value for the objective of --judge.  NULL: no such option.  w->a owns it. */
static json_t *make_judged(const struct plan_json_state *w)
{
    const struct scene *by = w->t->judged;
    if (!by)
        return NULL;
    json_t *o = json_keep(w->a, json_pack("{s:s, s:o}", "name", exec_kind(&by->model)->name,
                                          "value_s", make_seconds(w->t->judged_value)));
    add_settings(o, &by->model, w->a);
    return o;
}

/* Returns the member "objective": name, value, bounds and status, and the settings on which these figures depend.
 * w->a owns it. */
static json_t *make_objective(const struct plan_json_state *w)
{
    const struct plan *p = w->t->plan;
    const struct exec_model *e = &w->t->scene->model;
    json_t *o = json_keep(w->a, json_pack("{s:s, s:o, s:o, s:s, s:s, s:s, s:o}", "name",
                                          exec_kind_of(e, p->claim.objective)->name, "value_s",
                                          make_seconds(w->t->verdict->value), "bound_s",
                                          make_seconds(p->claim.bound), "status",
                                          plan_status_name(p->claim.status), "argument",
                                          p->claim.argument ? p->claim.argument : "", "scope",
                                          plan_scope_name(p->claim.scope), "bound_all_s",
                                          make_seconds(p->claim.bound_all)));
    add_settings(o, e, w->a);
    return o;
}

/* Returns the member "slots" of device d: for each slot the names of its nodes, which must be UTF-8.  NULL: the device
 * has no slots. */
static json_t *make_slots(const struct plan_json_state *w, uint32_t d)
{
    const struct plan *p = w->t->plan;
    if (!w->slots[d])
        return NULL;
    json_t *slots = json_array();
    for (uint32_t k = 0; k < w->slots[d]; k++)
        json_array_append_new(slots, json_array());
    for (uint32_t i = 0; i < w->n; i++) {
        nid n = w->order[i];
        if (p->dev[n] == (int32_t)d && p->slot[n])
            json_array_append_new(json_array_get(slots, p->slot[n] - 1),
                                  json_string(node_name(w->t->scene->m, n)));
    }
    return slots;
}

/* Returns the entry of device d in "devices".  NULL: memory is short (errno is ENOMEM), or a name is not UTF-8. */
static json_t *make_device(struct plan_json_state *w, uint32_t d)
{
    const struct module *m = w->t->scene->m;
    const struct cluster *c = w->t->scene->cluster;
    const struct device_load *l = &w->t->verdict->load[d];
    const char *name = cluster_device_name(c, w->a, d);
    const uint32_t *copies = w->t->plan->copies;
    /* no memory of an arena from here on: running out of it would leak `nodes` */
    json_t *nodes = json_array();
    for (uint32_t i = 0; i < w->n; i++)
        if (w->t->plan->dev[w->order[i]] == (int32_t)d &&
            json_array_append_new(nodes, json_string(node_name(m, w->order[i])))) {
            w->bad = w->order[i];
            json_decref(nodes);
            return NULL;
        }
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:I, s:o*, s:o, s:o*}", "name", name, "class",
                     c->cls[cluster_class(c, d)].name, "load_s", make_seconds(l->load), "compute_s",
                     make_seconds(l->compute), "transfer_s", make_seconds(l->transfer),
                     "used_bytes", (json_int_t)l->used, "copies",
                     copies && copies[d] > 1 ? json_integer(copies[d]) : NULL, "nodes", nodes,
                     "slots", make_slots(w, d));
}

/* Returns the whole plan; NULL as for make_device(). */
static json_t *make_plan(struct plan_json_state *w)
{
    const struct plan *p = w->t->plan;
    json_t *devices = json_keep(w->a, json_array());
    for (uint32_t d = 0; d < w->t->scene->cluster->ndev; d++)
        if (json_array_append_new(devices, make_device(w, d)))
            return NULL;
    /* '*': a member whose value is NULL is left out; 'O' keeps the caller's reference to the value, 'o' takes it */
    return json_pack("{s:i, s:s, s:O, s:O*, s:o*, s:o*, s:O, s:s*}", "pcc_plan", 1, "planner",
                     p->planner, "objective", make_objective(w), "judged", make_judged(w),
                     "ordered", p->rank ? json_true() : NULL, "training",
                     training_json(w->t->scene, w->t->plan->stages, w->t->plan, w->a), "devices",
                     devices, "calls", w->t->calls);
}

/* Reports the error for which make_plan() returned NULL; returns -1. */
static int report_no_json(const struct plan_json_state *w, const char *path, struct diag *d)
{
    if (errno == ENOMEM)
        return diag_error(d, "%s: %s", path, strerror(errno));
    if (w->bad)
        return diag_error(d, "%s: the name of node '%s' is not UTF-8, which JSON cannot hold", path,
                          node_name(w->t->scene->m, w->bad));
    return diag_error(d, "%s: a name is not UTF-8, which JSON cannot hold", path);
}

int plan_slots_check(uint64_t slots, const struct module *m, const char *path, struct diag *d)
{
    uint64_t most = (uint64_t)m->graph[1].count + SLOTS_EMPTY;
    if (slots <= most)
        return 0;
    return diag_error(
        d, "%s: cannot list %llu slots, most of them without nodes: expected %llu at most", path,
        (unsigned long long)slots, (unsigned long long)most);
}

/* Returns the number of slots of all devices together. */
static uint64_t count_slots(const struct plan_json_state *w)
{
    uint64_t all = 0;
    for (uint32_t d = 0; d < w->t->scene->cluster->ndev; d++)
        all += w->slots[d];
    return all;
}

int plan_json_write(const struct plan_report *t, const char *path, FILE *out, struct diag *d)
{
    struct outfile o;
    struct plan_json_state w = {.t = t, .a = arena_new(t->scene->m->mem)};
    w.order = plan_order(t->plan, t->scene->m, w.a, &w.n);
    w.slots = plan_slots(t->scene, t->plan, w.a);
    int rc = plan_slots_check(count_slots(&w), t->scene->m, path, d);
    errno = 0;
    json_t *root = rc ? NULL : json_keep(w.a, make_plan(&w));
    /* json_pack() leaves out a member that could not be made for lack of memory: only errno tells
     * that */
    if (!rc)
        rc = root && errno != ENOMEM ? outfile_open_to(&o, path, out, t->scene->m->mem, d)
                                     : report_no_json(&w, path, d);
    if (!rc) {
        bool done = json_dumpf(root, o.f,
                               JSON_INDENT(1) | JSON_PRESERVE_ORDER | JSON_ENSURE_ASCII |
                                   JSON_REAL_PRECISION(15)) == 0;
        bool full = ferror(o.f) != 0; /* outfile_close() reports a write error */
        if (!done && !full)
            diag_error(d, "%s: cannot be written: %s", path, strerror(errno));
        putc('\n', o.f);
        rc = outfile_close(&o, done || full);
    }
    arena_free(w.a);
    return rc;
}

void plan_put_order(struct json_out *o, const struct scene *s, const struct plan *p,
                    struct arena *scratch)
{
    struct arena *own = arena_new(scratch);
    uint32_t n;
    const nid *order = plan_order(p, s->m, own, &n);
    json_open(o, "order", '{', /*indent=*/4);
    for (uint32_t d = 0; d < s->cluster->ndev; d++) {
        json_open(o, cluster_device_name(s->cluster, own, d), '[', JSON_ROW);
        for (uint32_t i = 0; i < n; i++)
            if (p->dev[order[i]] == (int32_t)d)
                json_text(o, NULL, node_name(s->m, order[i]));
        json_close(o, JSON_ROW);
    }
    json_close(o, 2);
    arena_free(own);
}

void plan_put_objective(struct json_out *o, const struct scene *s, const struct plan *p,
                        int64_t value, int64_t of_parts)
{
    const char *status = plan_status_name(p->claim.status);
    bool proven = p->claim.bound >= 0 &&
                  (p->claim.status == PLAN_OPTIMAL || p->claim.status == PLAN_FEASIBLE);
    int64_t gap = -1;
    struct arena *a = arena_new(s->m->mem);
    if (!proven && p->claim.status != PLAN_OVER_MEMORY)
        status = "heuristic";
    if (proven) /* the gap is in units of 10^-9 of the value */
        gap = value > p->claim.bound ? mul_div_ceil(value - p->claim.bound, 1000000000, value) : 0;
    json_open(o, "objective", '{', JSON_ROW);
    json_text(o, "name", exec_kind_of(&s->model, p->claim.objective)->name);
    json_seconds(o, "value_s", value);
    json_seconds(o, "bound_s", proven ? p->claim.bound : -1);
    json_put_decimal(json_member(o, "gap"), gap, 9);
    json_text(o, "status", status);
    json_text(o, "argument", p->claim.argument ? p->claim.argument : p->planner);
    json_text(o, "scope", plan_scope_name(p->claim.scope));
    json_seconds(o, "bound_all_s", proven ? p->claim.bound_all : -1);
    json_seconds(o, "part_cost_s", s->model.part_cost);
    for (const struct opt *row = exec_settings; row->name; row++) {
        const char *word = exec_told(&s->model, row, a);
        if (word && row->kind == OPT_INT)
            json_int(o, opt_json(row, a), opt_number(row, &s->model));
        else if (word)
            json_text(o, opt_json(row, a), word);
    }
    if (exec_kind(&s->model)->feed == FEED_ALONE)
        json_seconds(o, "parts_value_s", of_parts);
    json_close(o, JSON_ROW);
    arena_free(a);
}
