/* Reads plans that were made elsewhere (plan_read.h): JSON in the forms of plan_json.h, lines regex=device, and
 * annotations of models.  A call that stands open (opened.h) may be named instead of its nodes.  O(nodes + entries);
 * lists of lines: O(nodes * lines). */
#include "passes/given/plan_read.h"

#include "ir/base/infile.h"
#include "ir/base/strings.h"
#include "ir/base/units.h"
#include "ir/plan/plan_json.h"
#include "passes/functions/opened.h"
#include "passes/functions/patterns.h"
#include "passes/given/split_assignments.h"

#include <string.h>

/* ---- text and annotations --------------------------------------------------------------------- */

/* Adds the pattern of a line REGEX=DEVICE to p; changes the line.  number: the line's number, from 1, for errors.
 * Returns 0, or -1 after an error. */
static int read_line(struct assignment *r, struct patterns *p, char *line, uint32_t number)
{
    char *where = arena_fmt(r->a, "%s:%u", r->path, number), *eq = strrchr(line, '=');
    if (!eq || eq == line || !eq[1])
        return diag_error(r->diag, "%s: '%s': expected REGEX=DEVICE", where, line);
    *eq = 0;
    int dev = assign_device(r, eq + 1);
    return dev < 0 ? -1 : patterns_add(p, r->a, line, (uint32_t)dev, where, r->diag);
}

/* Reads a text of lines REGEX=DEVICE, and gives each node the device of the first line whose REGEX matches the node or
 * an open call around it.  Skips empty lines and lines that begin with '#'.  Changes the text.  Returns 0, or -1 after
 * an error. */
static int read_list(struct assignment *r, struct ctx *x, char *text)
{
    const struct wdag *g = x->levels.base;
    struct patterns p = {0};
    int rc = 0;
    uint32_t number = 1;
    for (char *line = text, *end; *line && !rc; line = end, number++) {
        size_t n = strcspn(line, "\n");
        end = line + n + (line[n] == '\n'); /* the next line, or the end of the text */
        line[n] = 0;
        line[strcspn(line, "\r")] = 0;
        bool is_empty = line[strspn(line, " \t")] == 0;
        if (*line != '#' && !is_empty)
            rc = read_line(r, &p, line, number);
    }
    struct pattern **hit = rc ? NULL : patterns_nodes(&p, x, r->a);
    for (uint32_t v = 0; v < g->n && !rc; v++)
        if (hit[g->node[v]])
            r->dev[g->node[v]] = (int32_t)hit[g->node[v]]->group;
    if (!rc)
        patterns_warn_idle(&p, r->path, r->diag);
    patterns_free(&p);
    return rc;
}

/* What the annotation of a node in another module is about: a node of the scene, or an open call. */
struct target {
    nid node;       /* 0: the annotation is about an open call */
    uint32_t range; /* 1 + index of the call in assignment.range */
};

/* Finds what the annotation of node n of module `from` is about, by the node's name, and writes it to *t.  o: the
 * open calls; NULL: none.  Returns false if the annotation says nothing: there is no such node or call, the node is
 * not placed, or it follows its operand (such as a Shape) within an open call, so that its annotation only repeats
 * the call's. */
static bool find_target(const struct assignment *r, const struct open_calls *o,
                        const struct module *from, nid n, struct target *t)
{
    struct module *m = r->scene->m;
    t->node = assign_find(r, str_id(m, node_name(from, n)), &t->range);
    if (!t->node && !t->range)
        return false;
    if (t->node && r->scene->place->kind[t->node] != PLACE_NODE)
        return false;
    return !(from == m && o && o->within[n] && r->follows[n]);
}

/* Gives a target the device `dev`.  Returns 0, or -1 and an error. */
static int assign_target(struct assignment *r, const struct target *t, int dev)
{
    return t->node ? assign_node(r, t->node, dev) : assign_range(r, t->range - 1, dev);
}

/* Reads plan.copies from the model's metadata: "pcc.copies.acc0": "2" says that acc0 stands for two devices that
 * take turns.  Returns 0, or -1 and an error. */
static int read_model_copies(struct assignment *r, const struct module *from)
{
    static const char key[] = "pcc.copies.";
    const struct slice meta = from->about[from->own_about].meta;
    for (uint32_t i = 0; i + 1 < meta.n; i += 2) {
        const char *name = module_str(from, from->sids[meta.at + i]);
        int64_t copies;
        if (strncmp(name, key, strlen(key)) != 0)
            continue;
        int dev = cluster_device(r->scene->cluster, name + strlen(key));
        if (dev < 0 || !count_parse(module_str(from, from->sids[meta.at + i + 1]), &copies))
            return diag_error(r->diag,
                              "%s: metadata '%s': expected a device and a number of devices",
                              r->path, name);
        if (assign_copies(r, dev, copies))
            return -1;
    }
    return 0;
}

/* Gives the nodes of r's scene the devices and slots that are annotated in module `from`, a model with the same names
 * of nodes or the scene's own module.  o: the open calls; NULL: none.  Returns 0, or -1 and an error. */
static int read_annotations(struct assignment *r, const struct open_calls *o,
                            const struct module *from)
{
    const struct graph *g = &from->graph[1];
    if (!from->device_ann)
        return diag_error(r->diag,
                          "%s: no node of it says where it runs (pcc.device or layer_ann "
                          "in its metadata, or split_assignments in the model's)",
                          r->path);
    assign_by_name(r);
    for (nid n = g->first; n < g->first + g->count; n++) {
        const char *device = module_str(from, from->device_ann[n]);
        struct target to;
        if (!*device || !find_target(r, o, from, n, &to))
            continue;
        int dev = cluster_device(r->scene->cluster, device);
        if (dev < 0)
            return diag_error(
                r->diag, "%s: node '%s' says '%s', which is no device: expected one of %s", r->path,
                node_name(from, n), device, cluster_devices(r->scene->cluster, r->a));
        if (assign_target(r, &to, dev))
            return -1;
        uint32_t slot = from->slot_ann ? from->slot_ann[n] : 0;
        if (slot && assign_slot_named(r, node_name(from, n), slot))
            return -1;
    }
    return 0;
}

/* Gives the nodes of r's scene the devices that the splits of module `from` say: split 0 is the first device, and so
 * on.  o, from: as in read_annotations(); text: the assignments in the model's metadata.  Returns 0, or -1 and an
 * error. */
static int read_splits(struct assignment *r, const struct open_calls *o, const struct module *from,
                       const char *text)
{
    const struct graph *g = &from->graph[1];
    const int32_t *split = split_assignments_read(from, text, r->path, r->a, r->diag);
    if (!split)
        return -1;
    assign_by_name(r);
    for (nid n = g->first; n < g->first + g->count; n++) {
        struct target to;
        if (split[n] == SPLIT_NONE || !find_target(r, o, from, n, &to))
            continue;
        if ((uint32_t)split[n] >= r->scene->cluster->ndev)
            return diag_error(r->diag,
                              "%s: node '%s' is in split %d, but there are only %u devices: a "
                              "device for each split is expected",
                              r->path, node_name(from, n), split[n], r->scene->cluster->ndev);
        if (assign_target(r, &to, split[n]))
            return -1;
    }
    return 0;
}

/* ---- all forms --------------------------------------------------------------------------------- */

/* Makes the base level if it is missing, and *r: an assignment in which no node has a device yet and open calls are
 * known by name.  Returns 0, or -1 after an error. */
static int begin_reading(struct assignment *r, struct ctx *x, const char *path)
{
    const struct open_calls *o = x->results.opened;
    if (ctx_base(x))
        return -1;
    *r =
        (struct assignment){.scene = &x->scene, .path = path, .a = x->use.mem, .diag = x->use.diag};
    if (o) {
        struct node_range *range = arena_array(x->use.mem, (size_t)o->nsite + 1, sizeof *range);
        for (uint32_t s = 1; s < o->nsite; s++)
            range[r->nrange++] =
                (struct node_range){o->site[s].name, o->site[s].first, o->site[s].end};
        r->range = range;
    }
    assign_begin(r);
    return 0;
}

struct plan plan_given(const struct given_plan *p, const struct scene *s)
{
    bool steady = exec_kind(&s->model)->feed == FEED_STEADY;
    return (struct plan){.planner = "plan",
                         .dev = p->dev,
                         .copies = steady ? p->copies : NULL,
                         .rank = p->rank,
                         .slot = p->slot,
                         .stages = p->stages,
                         .stage_of = p->stage_of};
}

/* Returns the path of the file to read: the manifest if `from` is a split folder, else `from` itself. */
static const char *plan_file(struct ctx *x, const char *from)
{
    return infile_is_folder(from) ? arena_fmt(x->use.mem, "%s/manifest.json", from) : from;
}

bool plan_calls_open(struct ctx *x, const char *from)
{
    struct diag quiet = diag_silent();
    size_t n;
    if (strcmp(from, "self") == 0 || str_ends(from, ".onnx"))
        return true;
    char *text = infile_read(plan_file(x, from), INFILE_PLAN, x->use.mem, &n, &quiet);
    return text && plan_json_calls_open(text, n);
}

/* Reads what module `from` says of a plan: the annotations of its nodes, and those of copies unless the pass shard
 * made the annotations; if its nodes have none, Olive's assignments.  Returns 0, or -1 and an error. */
static int read_marks(struct assignment *r, struct ctx *x, const struct module *from)
{
    const struct open_calls *o = x->results.opened;
    const char *splits = from->device_ann ? NULL : split_assignments_of(from);
    bool sharded = from == x->scene.m && x->results.sharding != NULL;
    if (splits)
        return read_splits(r, o, from, splits);
    return read_annotations(r, o, from) || (!sharded && read_model_copies(r, from)) ? -1 : 0;
}

/* Reads the annotations of the ONNX model at r->path.  Returns 0, or -1 and an error. */
static int read_model(struct assignment *r, struct ctx *x)
{
    if (!x->use.read_model)
        return diag_error(x->use.diag, "%s: expected a plan, not a model", r->path);
    struct module *m = x->use.read_model(r->path, x->use.scratch, x->use.diag);
    if (!m)
        return -1;
    int rc = read_marks(r, x, m);
    arena_free(m->mem);
    return rc;
}

/* Reads the file at r->path: plan JSON if its name ends in .json or its text begins with '{', else lines REGEX=DEVICE.
 * Returns 0, or -1 and an error. */
static int read_text(struct assignment *r, struct ctx *x)
{
    size_t n;
    char *text = infile_read(r->path, INFILE_PLAN, x->use.mem, &n, x->use.diag);
    if (!text)
        return -1;
    bool json = str_ends(r->path, ".json") || text[strspn(text, " \t\r\n")] == '{';
    return json ? plan_json_read(r, text, n) : read_list(r, x, text);
}

int plan_read(struct given_plan *p, struct ctx *x, const char *from)
{
    struct assignment r;
    int rc;
    if (begin_reading(&r, x, from))
        return -1;
    if (strcmp(from, "self") == 0) {
        r.path = module_str(x->scene.m, x->scene.m->path);
        rc = read_marks(&r, x, x->scene.m);
    } else if (str_ends(from, ".onnx")) {
        rc = read_model(&r, x);
    } else {
        r.path = plan_file(x, from);
        rc = read_text(&r, x);
    }
    if (rc || assign_end(&r))
        return -1;
    *p = (struct given_plan){.dev = r.dev,
                             .rank = assign_rank(&r),
                             .said = r.said.bits,
                             .model = r.said.model,
                             .bound = r.said.bound,
                             .scope = r.said.scope,
                             .slot = r.slot,
                             .copies = r.copies,
                             .stages = r.stages,
                             .stage_of = r.stage_of};
    return 0;
}
