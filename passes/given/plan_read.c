/* Reading plans that were made elsewhere (plan_read.h).
 *
 * Three kinds of JSON are told apart by their keys: "pcc_plan" (devices with lists of node names),
 * "pcc_manifest" (parts with a device, lists of nodes by part), and the placement paper's splits
 * ("fpgas" and "cpus" with lists of node ids).  Names are found through the interner, ids through
 * one table.  O(nodes + entries); text lists: O(nodes * lines). */
#include "passes/given/plan_read.h"

#include "ir/base/infile.h"
#include "ir/base/json_keep.h"
#include "ir/base/strings.h"
#include "passes/functions/opened.h"
#include "passes/functions/patterns.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

struct reading {
    struct ctx *x;
    const char *path;
    int32_t *dev;           /* [node], -1 */
    struct map node;        /* name, or id + 1 for the paper's splits -> node */
    struct map call;        /* name -> site of an open call */
    const uint8_t *follows; /* [node] 1: a Shape or Size, which stays where its operand is made */
};

static int expect_form(const struct reading *r, const char *what)
{
    return diag_error(r->x->use.diag, "%s: expected %s", r->path, what);
}

static int find_device(const struct reading *r, const char *name)
{
    int dev = cluster_device(r->x->scene.cluster, name);
    if (dev < 0)
        diag_error(r->x->use.diag, "%s: there is no device '%s'; the first is '%s'", r->path, name,
                   cluster_device_name(r->x->scene.cluster, r->x->use.mem, 0));
    return dev;
}

static int assign_node(struct reading *r, nid n, int dev)
{
    struct ctx *x = r->x;
    if (r->dev[n] >= 0 && r->dev[n] != dev)
        return diag_error(x->use.diag, "%s: node '%s' is on '%s' and on '%s': expected one device",
                          r->path, node_name(x->scene.m, n),
                          cluster_device_name(x->scene.cluster, x->use.mem, (uint32_t)r->dev[n]),
                          cluster_device_name(x->scene.cluster, x->use.mem, (uint32_t)dev));
    if (x->scene.place->kind[n] == PLACE_NODE)
        r->dev[n] = dev;
    return 0;
}

/* Puts the nodes of an open call on device dev.  0, or -1 and an error. */
static int assign_call(struct reading *r, uint32_t site, int dev)
{
    const struct site *s = &r->x->results.opened->site[site];
    for (nid n = s->first; n < s->end; n++)
        if (!r->follows[n] && assign_node(r, n, dev))
            return -1;
    return 0;
}

/* ---- JSON ------------------------------------------------------------------------------------- */

static void index_names(struct reading *r)
{
    const struct graph *g = &r->x->scene.m->graph[1];
    const struct opened *o = r->x->results.opened;
    for (nid n = g->first; n < g->first + g->count; n++)
        map_set(&r->node, r->x->use.mem, r->x->scene.m->node[n].name, n);
    for (uint32_t s = 1; o && s < o->nsite; s++)
        map_set(&r->call, r->x->use.mem, o->site[s].name, s);
}

static void index_ids(struct reading *r)
{
    const struct graph *g = &r->x->scene.m->graph[1];
    for (nid n = g->first; n < g->first + g->count; n++) {
        int64_t id = node_attr_int(r->x->scene.m, n, "id", -1);
        if (id >= 0)
            map_set(&r->node, r->x->use.mem, (uint64_t)id + 1, n);
    }
}

/* Puts what an entry names, a node by name or id or an open call by name, on a device.  0, or -1 and an error. */
static int assign_entry(struct reading *r, const json_t *entry, int dev)
{
    const char *name = json_string_value(entry);
    nid n = 0;
    if (name && *name)
        n = map_get(&r->node, str_id(r->x->scene.m, name));
    else if (json_is_integer(entry) && json_integer_value(entry) >= 0)
        n = map_get(&r->node, (uint64_t)json_integer_value(entry) + 1);
    uint32_t site = !n && name && *name ? map_get(&r->call, str_id(r->x->scene.m, name)) : 0;
    if (n || site)
        return n ? assign_node(r, n, dev) : assign_call(r, site, dev);
    if (name)
        return diag_error(r->x->use.diag, "%s: there is no node '%s' in %s", r->path, name,
                          str(r->x->scene.m, r->x->scene.m->path));
    if (json_is_integer(entry))
        return diag_error(r->x->use.diag,
                          "%s: there is no node with id %" JSON_INTEGER_FORMAT " in %s", r->path,
                          json_integer_value(entry), str(r->x->scene.m, r->x->scene.m->path));
    return expect_form(r, "names or ids of nodes in 'nodes'");
}

static int assign_list(struct reading *r, const json_t *nodes, int dev)
{
    if (!json_is_array(nodes))
        return expect_form(r, "a list of nodes for each device in 'nodes'");
    for (size_t i = 0; i < json_array_size(nodes); i++)
        if (assign_entry(r, json_array_get(nodes, i), dev))
            return -1;
    return 0;
}

/* {"devices": [{"name": "acc0", "nodes": [names]}]} */
static int read_plan(struct reading *r, const json_t *root)
{
    const json_t *devices = json_object_get(root, "devices");
    if (!json_is_array(devices))
        return expect_form(r, "a list 'devices'");
    index_names(r);
    for (size_t i = 0; i < json_array_size(devices); i++) {
        const json_t *d = json_array_get(devices, i), *nodes = json_object_get(d, "nodes");
        const char *name = json_string_value(json_object_get(d, "name"));
        if (!name)
            return expect_form(r, "a 'name' in every one of 'devices'");
        if (json_is_array(nodes) && !json_array_size(nodes))
            continue; /* a device without nodes, which this cluster may lack */
        int dev = find_device(r, name);
        if (dev < 0 || assign_list(r, nodes, dev))
            return -1;
    }
    return 0;
}

/* {"parts": [{"file": "part0.onnx", "device": "acc0"}], "nodes": {"part0.onnx": [names]}} */
static int read_manifest(struct reading *r, const json_t *root)
{
    const json_t *parts = json_object_get(root, "parts"), *nodes = json_object_get(root, "nodes");
    if (!json_is_array(parts) || !json_is_object(nodes))
        return expect_form(r, "a list 'parts' and an object 'nodes'");
    index_names(r);
    for (size_t i = 0; i < json_array_size(parts); i++) {
        const json_t *p = json_array_get(parts, i);
        const char *file = json_string_value(json_object_get(p, "file"));
        const char *device = json_string_value(json_object_get(p, "device"));
        if (!file || !device)
            return expect_form(r, "'file' and 'device' in every one of 'parts'");
        int dev = find_device(r, device);
        if (dev < 0 || assign_list(r, json_object_get(nodes, file), dev))
            return -1;
    }
    return 0;
}

/* Puts nodes that a split of the paper leaves out where the other nodes of their colour are (expert splits list the
 * forward pass alone); an error if these are on two devices. */
static int fill_by_color(struct reading *r)
{
    struct ctx *x = r->x;
    const struct module *m = x->scene.m;
    const struct wdag *g = x->levels.base;
    uint32_t most = 0;
    for (uint32_t v = 0; v < g->n; v++)
        most = m->color[g->node[v]] > most ? m->color[g->node[v]] : most;
    nid *first = arena_array(x->use.mem, (size_t)most + 1, sizeof *first);
    /* [colour] a node on another device than the first */
    nid *other = arena_array(x->use.mem, (size_t)most + 1, sizeof *other);
    for (uint32_t v = 0; v < g->n; v++) {
        nid n = g->node[v];
        uint32_t c = m->color[n];
        if (r->dev[n] < 0)
            continue;
        if (!first[c])
            first[c] = n;
        else if (r->dev[first[c]] != r->dev[n])
            other[c] = n;
    }
    for (uint32_t v = 0; v < g->n; v++) {
        nid n = g->node[v];
        uint32_t c = m->color[n];
        if (r->dev[n] >= 0 || !c || !first[c])
            continue;
        if (other[c])
            return diag_error(
                x->use.diag,
                "%s: node '%s' is not listed, and nodes of its colour are on '%s' ('%s') "
                "and '%s' ('%s'): expected one device",
                r->path, node_name(m, n),
                cluster_device_name(x->scene.cluster, x->use.mem, (uint32_t)r->dev[first[c]]),
                node_name(m, first[c]),
                cluster_device_name(x->scene.cluster, x->use.mem, (uint32_t)r->dev[other[c]]),
                node_name(m, other[c]));
        r->dev[n] = r->dev[first[c]];
    }
    return 0;
}

/* {"fpgas": [{"nodes": [ids]}], "cpus": [{"nodes": [ids]}]}: accelerators, host devices, in order */
static int read_paper(struct reading *r, const json_t *root)
{
    static const char *const key[] = {"fpgas", "cpus"};
    const struct cluster *c = r->x->scene.cluster;
    index_ids(r);
    for (int host = 0; host < 2; host++) {
        const json_t *list = json_object_get(root, key[host]);
        uint32_t dev = 0;
        for (size_t i = 0; i < json_array_size(list); i++, dev++) {
            const json_t *nodes = json_object_get(json_array_get(list, i), "nodes");
            while (dev < c->ndev && c->cls[cluster_class(c, dev)].host != (host == 1))
                dev++;
            if (dev >= c->ndev && json_array_size(nodes))
                return diag_error(r->x->use.diag,
                                  "%s: '%s' has nodes on more devices than the cluster has",
                                  r->path, key[host]);
            if (assign_list(r, nodes, (int)dev))
                return -1;
        }
    }
    return r->x->scene.m->color ? fill_by_color(r) : 0;
}

static int read_json(struct reading *r, const char *text, size_t n)
{
    json_error_t e;
    struct arena *own = arena_new(r->x->use.scratch);
    json_t *root = json_keep(own, json_loadb(text, n, JSON_REJECT_DUPLICATES, &e));
    int rc;
    if (!root)
        rc = diag_error(r->x->use.diag, "%s:%d: %s", r->path, e.line, e.text);
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

/* ---- text and annotations --------------------------------------------------------------------- */

static int read_line(struct reading *r, struct patterns *p, char *line, uint32_t number)
{
    char *where = arena_fmt(r->x->use.mem, "%s:%u", r->path, number), *eq = strrchr(line, '=');
    if (!eq || eq == line || !eq[1])
        return diag_error(r->x->use.diag, "%s: '%s': expected REGEX=DEVICE", where, line);
    *eq = 0;
    int dev = find_device(r, eq + 1);
    return dev < 0 ? -1
                   : patterns_add(p, r->x->use.mem, line, (uint32_t)dev, where, r->x->use.diag);
}

static int read_list(struct reading *r, char *text)
{
    const struct wdag *g = r->x->levels.base;
    struct patterns p = {0};
    int rc = 0;
    uint32_t number = 1;
    for (char *line = text, *end; *line && !rc; line = end, number++) {
        size_t n = strcspn(line, "\n");
        end = line + n + (line[n] == '\n');
        line[n] = 0;
        line[strcspn(line, "\r")] = 0;
        if (*line != '#' && line[strspn(line, " \t")])
            rc = read_line(r, &p, line, number);
    }
    struct pattern **hit = rc ? NULL : patterns_nodes(&p, r->x, r->x->use.mem);
    for (uint32_t v = 0; v < g->n && !rc; v++)
        if (hit[g->node[v]])
            r->dev[g->node[v]] = (int32_t)hit[g->node[v]]->group;
    if (!rc)
        patterns_warn_idle(&p, r->path, r->x->use.diag);
    patterns_free(&p);
    return rc;
}

/* Reads the annotations of module `from`, whose nodes are those of the same names here.  0, or -1 and an error. */
static int read_annotations(struct reading *r, const struct module *from)
{
    const struct graph *g = &from->graph[1];
    if (!from->device_ann)
        return diag_error(r->x->use.diag,
                          "%s: no node of it says where it runs (pcc.device or layer_ann "
                          "in its metadata)",
                          r->path);
    index_names(r);
    for (nid n = g->first; n < g->first + g->count; n++) {
        const char *device = str(from, from->device_ann[n]);
        sid name = str_id(r->x->scene.m, node_name(from, n));
        nid here = map_get(&r->node, name);
        uint32_t site = here ? 0 : map_get(&r->call, name);
        bool follower = from == r->x->scene.m && r->x->results.opened &&
                        r->x->results.opened->within[n] && r->follows[n];
        if ((!here && !site) || !*device || (here && r->x->scene.place->kind[here] != PLACE_NODE) ||
            follower) /* the annotation was that of the call around it */
            continue;
        int dev = cluster_device(r->x->scene.cluster, device);
        if (dev < 0)
            return diag_error(r->x->use.diag,
                              "%s: node '%s' says '%s', which is no device; the first is "
                              "'%s'",
                              r->path, node_name(from, n), device,
                              cluster_device_name(r->x->scene.cluster, r->x->use.mem, 0));
        if (here ? assign_node(r, here, dev) : assign_call(r, site, dev))
            return -1;
    }
    return 0;
}

/* ---- all of them ------------------------------------------------------------------------------ */

/* Puts Shapes in calls that were named as a whole where their operands are made. */
static void place_followers(struct reading *r)
{
    const struct place *p = r->x->scene.place;
    for (uint32_t i = 0; r->x->results.opened && i < p->nsame; i++)
        if (p->same[i].why == SAME_SHAPE && r->dev[p->same[i].b] < 0)
            r->dev[p->same[i].b] = r->dev[p->same[i].a];
}

static int check_complete(struct reading *r)
{
    const struct wdag *g = r->x->levels.base;
    uint32_t missing = 0, first = 0;
    place_followers(r);
    for (uint32_t v = g->n; v-- > 0;)
        if (r->dev[g->node[v]] < 0) {
            missing++;
            first = v;
        }
    if (!missing)
        return 0;
    return diag_error(r->x->use.diag, "%s: %u of %u placed nodes have no device, the first is '%s'",
                      r->path, missing, g->n, node_name(r->x->scene.m, g->node[first]));
}

static int begin_reading(struct reading *r, struct ctx *x, const char *path)
{
    if (ctx_base(x))
        return -1;
    *r = (struct reading){
        .x = x, .path = path, .dev = arena_array(x->use.mem, x->scene.m->nnode, sizeof *r->dev)};
    memset(r->dev, 0xff, x->scene.m->nnode * sizeof *r->dev);
    r->follows = place_follows(x->scene.m, x->scene.place, x->use.mem);
    return 0;
}

int32_t *plan_read_text(struct ctx *x, const char *path, char *text, size_t n)
{
    struct reading r;
    if (begin_reading(&r, x, path))
        return NULL;
    int rc = str_ends(path, ".json") || text[strspn(text, " \t\r\n")] == '{'
                 ? read_json(&r, text, n)
                 : read_list(&r, text);
    return rc || check_complete(&r) ? NULL : r.dev;
}

/* The file of a plan: the manifest of a split folder, else `from` itself. */
static const char *plan_file(struct ctx *x, const char *from)
{
    struct stat st;
    bool folder = stat(from, &st) == 0 && S_ISDIR(st.st_mode);
    return folder ? arena_fmt(x->use.mem, "%s/manifest.json", from) : from;
}

bool plan_calls_open(struct ctx *x, const char *from)
{
    struct diag quiet = diag_silent();
    size_t n;
    if (strcmp(from, "self") == 0 || str_ends(from, ".onnx"))
        return true;
    char *text = infile_read(plan_file(x, from), x->use.mem, &n, &quiet);
    struct arena *own = arena_new(x->use.scratch);
    json_t *root = json_keep(own, text ? json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL) : NULL);
    const char *calls = json_string_value(json_object_get(root, "calls"));
    bool named = json_object_get(root, "pcc_plan") || json_object_get(root, "pcc_manifest");
    bool open = named && !(calls && strcmp(calls, "whole") == 0);
    arena_free(own);
    return open;
}

int32_t *plan_read(struct ctx *x, const char *from)
{
    struct reading r;
    size_t n;
    if (begin_reading(&r, x, from))
        return NULL;
    if (strcmp(from, "self") == 0) {
        r.path = str(x->scene.m, x->scene.m->path);
        return read_annotations(&r, x->scene.m) || check_complete(&r) ? NULL : r.dev;
    }
    if (str_ends(from, ".onnx")) {
        struct module *m =
            x->use.read_model ? x->use.read_model(from, x->use.scratch, x->use.diag) : NULL;
        if (!m && !x->use.read_model)
            expect_form(&r, "a plan, not a model");
        int rc = !m || read_annotations(&r, m) || check_complete(&r);
        if (m)
            arena_free(m->mem);
        return rc ? NULL : r.dev;
    }
    from = plan_file(x, from);
    char *text = infile_read(from, x->use.mem, &n, x->use.diag);
    return text ? plan_read_text(x, from, text, n) : NULL;
}
