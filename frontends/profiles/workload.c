/* Reads a workload of the placement paper: a profiled graph as JSON.
 *
 * Each node of the file becomes a node of the module, with one result for each distinct transfer cost of the edges that
 * leave the node (in the paper's files these costs are equal), or, if they are asked for apart, with one for each edge
 * where the costs are unequal (Appendix E.1); each edge becomes an operand.  Nodes keep the order of the file if it
 * is topological; else Kahn's algorithm sorts them.  Times in ms are rounded once, here, to integer picoseconds: no
 * later code has floating-point times.  O(nodes + edges), and sorting the ids. */
#include "frontends/frontends.h"
#include "ir/base/infile.h"
#include "ir/base/json_in.h"
#include "ir/base/keyed.h"

#include <assert.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { CLASS_ACC, CLASS_CPU, CLASSES };
#define PS_PER_MS 1e9

/* A node of the file. */
struct wnode {
    int64_t id;
    const char *name; /* NULL: none */
    int64_t acc, cpu; /* ps on an accelerator, on a CPU; acc COST_NEVER: it needs a CPU */
    /* bytes that the node needs on its device; bytes of its parameters, included in `size` */
    int64_t size, weight;
    int64_t color, layer; /* numbers of the file; -1: none */
    bool backward;        /* a node of the backward pass */
};

/* An edge of the file. */
struct wedge {
    uint32_t from, to; /* indices in workload_reader.node */
    double cost;       /* ms of a transfer */
    uint32_t result;   /* result of `from` that `to` reads, numbered over all nodes */
};

/* State of reading a workload. */
struct workload_reader {
    const char *path; /* of the file, for messages */
    struct diag *d;
    struct module *m;
    struct arena *a;   /* memory of the module */
    struct arena *own; /* memory of root and the text */
    json_t *root;
    struct wnode *node;
    uint32_t nnode;
    bool training;    /* some node is of the backward pass */
    bool has_weights; /* some node has a weightSize */
    struct wedge *edge;
    uint32_t nedge;
    struct keyed *by_id; /* [nnode] ids with their nodes, ascending */
    struct csr out, in;  /* node -> edges that leave it; node -> edges that enter it */
    uint32_t *first;     /* [node] its first result; first[nnode]: number of all results */
    int64_t *xfer;       /* [result] ps of a transfer */
    struct workload_edges how;
    uint32_t *order; /* [position in the module] index in node[] */
};

/* Reports that the file is no workload.  Returns -1. */
static int not_a_workload(const struct workload_reader *r, const char *what)
{
    return diag_error(r->d, "%s: not a workload: %s", r->path, what);
}

/* The member of the file that a message is about: "node 'conv', size", "edges[3].cost". */
struct subject {
    const char *list; /* "nodes" or "edges"; NULL: the member is one of the whole document */
    uint32_t index;   /* in the list */
    const char *key;
};

/* Returns the name of node i of the file; if the node has no name, a name made of its id. */
static const char *node_label(const struct workload_reader *r, uint32_t i)
{
    const struct wnode *n = &r->node[i];
    return n->name ? n->name : arena_fmt(r->a, "node%lld", (long long)n->id);
}

/* Returns the name of a member for messages: "nodes[3].id", or "node 'a', timeAcc" for a node whose id is known. */
static const char *subject_text(const struct workload_reader *r, struct subject s)
{
    if (!s.list)
        return s.key;
    if (strcmp(s.list, "nodes") != 0 || strcmp(s.key, "id") == 0)
        return arena_fmt(r->a, "%s[%u].%s", s.list, s.index, s.key);
    return arena_fmt(r->a, "node '%s', %s", node_label(r, s.index), s.key);
}

/* Writes the number j >= 0, times scale, to *out, rounded to the nearest integer, or up (round_up).  The result must
 * be less than 4e18.  at: the member, for an error.  Returns 0, or -1 and an error. */
static int read_number(const struct workload_reader *r, const json_t *j, struct subject at,
                       double scale, bool round_up, int64_t *out)
{
    double x = json_number_value(j) * scale;
    if (!json_is_number(j) || !(x >= 0) || !(x < 4e18))
        return diag_error(r->d, "%s: %s: expected a number from 0 to %g", r->path,
                          subject_text(r, at), 4e18 / scale);
    *out = (int64_t)(round_up ? x : x + 0.5);
    if (round_up && (double)*out < x)
        (*out)++;
    return 0;
}

/* Writes the integer j, from lo to hi, to *out.  Returns 0, or -1 and an error. */
static int read_int(const struct workload_reader *r, const json_t *j, struct subject at, int64_t lo,
                    int64_t hi, int64_t *out)
{
    if (json_int_in(j, lo, hi, out))
        return 0;
    return diag_error(r->d, "%s: %s: expected an integer from %lld to %lld", r->path,
                      subject_text(r, at), (long long)lo, (long long)hi);
}

/* Reads the member `key` of node i, which is true, false, 0 or 1; if it is missing, *out becomes `absent`.  Returns
 * 0, or -1 and an error. */
static int read_bool(const struct workload_reader *r, const json_t *node, uint32_t i,
                     const char *key, bool absent, bool *out)
{
    const json_t *j = json_object_get(node, key);
    int64_t number = absent;
    if (json_is_boolean(j))
        number = json_is_true(j);
    else if (j && !json_is_null(j) && !json_int_in(j, 0, 1, &number))
        return diag_error(r->d, "%s: %s: expected true or false", r->path,
                          subject_text(r, (struct subject){"nodes", i, key}));
    *out = number == 1;
    return 0;
}

/* Reads the member `key` of node i, an integer >= 0; if it is missing, *out becomes -1.  Returns 0, or -1 and an
 * error. */
static int read_optional(const struct workload_reader *r, const json_t *node, uint32_t i,
                         const char *key, int64_t *out)
{
    const json_t *j = json_object_get(node, key);
    *out = -1;
    if (!j || json_is_null(j))
        return 0;
    return read_int(r, j, (struct subject){"nodes", i, key}, 0, INT64_C(1) << 53, out);
}

/* Reads node i of the file into r->node[i]; sets r->training if the node is a backward node, and r->has_weights if
 * the file gives its "weightSize".  Returns 0, or -1 and an error. */
static int read_node(struct workload_reader *r, uint32_t i, const json_t *j)
{
    struct wnode *n = &r->node[i];
    bool acc;
    if (!json_is_object(j))
        return diag_error(r->d, "%s: nodes[%u]: expected an object", r->path, i);
    if (read_int(r, json_object_get(j, "id"), (struct subject){"nodes", i, "id"},
                 -(INT64_C(1) << 53), INT64_C(1) << 53, &n->id))
        return -1;
    n->name = json_get_text(j, "name");
    if (n->name && !*n->name)
        n->name = NULL;
    const json_t *size = json_object_get(j, "size"), *weight = json_object_get(j, "weightSize");
    const json_t *cpu = json_object_get(j, "cpuLatency"), *fpga = json_object_get(j, "fpgaLatency");
    if (read_bool(r, j, i, "supportedOnFpga", /*absent=*/true, &acc) ||
        read_bool(r, j, i, "isBackwardNode", /*absent=*/false, &n->backward) ||
        read_number(r, cpu, (struct subject){"nodes", i, "cpuLatency"}, PS_PER_MS,
                    /*round_up=*/false, &n->cpu) ||
        (acc && read_number(r, fpga, (struct subject){"nodes", i, "fpgaLatency"}, PS_PER_MS,
                            /*round_up=*/false, &n->acc)) ||
        (size && read_number(r, size, (struct subject){"nodes", i, "size"}, 1, /*round_up=*/true,
                             &n->size)) ||
        (weight && read_number(r, weight, (struct subject){"nodes", i, "weightSize"}, 1,
                               /*round_up=*/true, &n->weight)) ||
        read_optional(r, j, i, "colorClass", &n->color) ||
        read_optional(r, j, i, "layerId", &n->layer))
        return -1;
    if (!acc)
        n->acc = COST_NEVER;
    if (!weight)
        n->weight = n->size;
    r->training = r->training || n->backward;
    r->has_weights = r->has_weights || weight;
    return 0;
}

/* Reads the list "nodes" and fills r->by_id.  Returns 0, or -1 and an error. */
static int read_nodes(struct workload_reader *r)
{
    const json_t *list = json_object_get(r->root, "nodes");
    if (!json_is_array(list))
        return not_a_workload(r, "it has no list 'nodes'");
    assert(json_array_size(list) <= UINT32_MAX / 4); /* in a text of at most 2 GiB */
    r->nnode = (uint32_t)json_array_size(list);
    r->node = arena_array(r->a, (size_t)r->nnode + 1, sizeof *r->node);
    r->by_id = arena_array(r->a, (size_t)r->nnode + 1, sizeof *r->by_id);
    for (uint32_t i = 0; i < r->nnode; i++) {
        if (read_node(r, i, json_array_get(list, i)) || diag_stopped(r->d))
            return -1;
        r->by_id[i] = (struct keyed){r->node[i].id, i};
    }
    keyed_sort(r->by_id, r->nnode);
    for (uint32_t i = 1; i < r->nnode; i++)
        if (r->by_id[i].key == r->by_id[i - 1].key)
            return diag_error(r->d, "%s: nodes '%s' and '%s' have the same id %lld", r->path,
                              node_label(r, r->by_id[i - 1].item), node_label(r, r->by_id[i].item),
                              (long long)r->by_id[i].key);
    return 0;
}

/* Sets *out to the node with the id j, the member `key` of an edge.  Returns 0, or -1 and an error. */
static int find_node(const struct workload_reader *r, const json_t *j, uint32_t edge,
                     const char *key, uint32_t *out)
{
    if (!json_is_integer(j))
        return diag_error(r->d, "%s: edges[%u].%s: expected an integer", r->path, edge, key);
    int64_t id = json_integer_value(j);
    uint32_t lo = 0, hi = r->nnode;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (r->by_id[mid].key < id)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo == r->nnode || r->by_id[lo].key != id)
        return diag_error(r->d, "%s: edges[%u].%s: there is no node of id %lld", r->path, edge, key,
                          (long long)id);
    assert(r->by_id[lo].item < r->nnode);
    *out = r->by_id[lo].item;
    return 0;
}

/* Reads edge number i of the file into r->edge[i].  Returns 0, or -1 and an error. */
static int read_edge(struct workload_reader *r, uint32_t i, const json_t *j)
{
    struct wedge *e = &r->edge[i];
    int64_t unused;
    if (find_node(r, json_object_get(j, "sourceId"), i, "sourceId", &e->from) ||
        find_node(r, json_object_get(j, "destId"), i, "destId", &e->to) ||
        read_number(r, json_object_get(j, "cost"), (struct subject){"edges", i, "cost"},
                    PS_PER_MS * r->how.scale, /*round_up=*/false, &unused))
        return -1;
    e->cost = json_number_value(json_object_get(j, "cost"));
    if (r->node[e->from].backward && !r->node[e->to].backward)
        return diag_error(r->d, "%s: an edge leads from backward node '%s' to forward node '%s'",
                          r->path, node_label(r, e->from), node_label(r, e->to));
    return 0;
}

/* For qsort(): orders pointers to edges by cost, equal costs by position in the file. */
static int by_cost(const void *x, const void *y)
{
    const struct wedge *a = *(const struct wedge *const *)x, *b = *(const struct wedge *const *)y;
    return a->cost != b->cost ? (a->cost < b->cost ? -1 : 1) : (a > b) - (a < b);
}

/* Returns ps, scaled by r->how.scale, for a transfer cost in ms. */
static int64_t transfer_ps(const struct workload_reader *r, double ms)
{
    assert(ms >= 0 && r->how.scale > 0);
    return (int64_t)(ms * r->how.scale * PS_PER_MS + 0.5);
}

/* ms: costs that differ by at most this much count as equal, as in the paper's program */
#define COST_EQUAL 1e-6

/* Numbers the results of all nodes: one result for each distinct cost among the edges that leave the node, at least
 * one; or, with r->how.apart, one for each edge where the costs are not all equal.  Costs that differ by at most
 * COST_EQUAL count as equal.  A result gets the cost of the node's first edge if all costs of the node are equal, else
 * the least cost of the result's edges. */
static void make_results(struct workload_reader *r)
{
    uint32_t n = 0;
    /* the edges that leave a node */
    struct wedge **list = arena_array(r->a, (size_t)r->nedge + 1, sizeof(struct wedge *));
    r->first = arena_array(r->a, (size_t)r->nnode + 2, sizeof *r->first);
    r->xfer = arena_array(r->a, (size_t)r->nnode + r->nedge + 1, sizeof *r->xfer);
    for (uint32_t v = 0; v < r->nnode; v++) {
        uint32_t at = r->out.at[v], degree = r->out.at[v + 1] - at;
        bool equal = true;
        for (uint32_t i = 0; i < degree; i++) {
            list[i] = &r->edge[r->out.to[at + i]];
            double more = list[i]->cost - list[0]->cost;
            equal = equal && more <= COST_EQUAL && more >= -COST_EQUAL;
            list[i]->result = n;
        }
        r->first[v] = n;
        r->xfer[n] = degree ? transfer_ps(r, list[0]->cost) : 0;
        if (!equal) {
            qsort(list, degree, sizeof *list, by_cost);
            double least = list[0]->cost; /* of the edges of result n */
            r->xfer[n] = transfer_ps(r, least);
            for (uint32_t i = 0; i < degree; i++) {
                if (list[i]->cost - least > COST_EQUAL || (r->how.apart && i)) {
                    least = list[i]->cost;
                    r->xfer[++n] = transfer_ps(r, least);
                }
                list[i]->result = n;
            }
        }
        n++;
    }
    assert(n <= r->nnode + r->nedge);
    r->first[r->nnode] = n;
}

/* Reads the list "edges" and makes the results.  Returns 0, or -1 and an error. */
static int read_edges(struct workload_reader *r)
{
    const json_t *list = json_object_get(r->root, "edges");
    if (!json_is_array(list))
        return not_a_workload(r, "it has no list 'edges'");
    assert(json_array_size(list) <= UINT32_MAX / 4);
    r->nedge = (uint32_t)json_array_size(list);
    r->edge = arena_array(r->a, (size_t)r->nedge + 1, sizeof *r->edge);
    uint32_t *from = arena_array(r->a, (size_t)r->nedge + 1, sizeof *from);
    uint32_t *to = arena_array(r->a, (size_t)r->nedge + 1, sizeof *to);
    for (uint32_t i = 0; i < r->nedge; i++) {
        if (read_edge(r, i, json_array_get(list, i)) || diag_stopped(r->d))
            return -1;
        from[i] = r->edge[i].from;
        to[i] = r->edge[i].to;
    }
    r->out = csr_build(r->a, r->nnode, r->nedge, from, NULL);
    r->in = csr_build(r->a, r->nnode, r->nedge, to, NULL);
    make_results(r);
    return 0;
}

/* Whether each node is listed after the nodes that it reads from. */
static bool is_sorted(const struct workload_reader *r)
{
    for (uint32_t e = 0; e < r->nedge; e++)
        if (r->edge[e].from >= r->edge[e].to)
            return false;
    return true;
}

/* Sets r->order, a topological order.  Returns 0, or -1 and an error if there is a cycle. */
static int sort_nodes(struct workload_reader *r)
{
    /* [node] number of edges that enter the node from nodes that are not in the order yet */
    uint32_t *missing = arena_array(r->a, (size_t)r->nnode + 1, sizeof *missing), end = 0;
    r->order = arena_array(r->a, (size_t)r->nnode + 1, sizeof *r->order);
    if (is_sorted(r)) {
        for (uint32_t v = 0; v < r->nnode; v++)
            r->order[v] = v;
        return 0;
    }
    for (uint32_t v = 0; v < r->nnode; v++) {
        missing[v] = r->in.at[v + 1] - r->in.at[v];
        if (missing[v] == 0)
            r->order[end++] = v;
    }
    for (uint32_t at = 0; at < end; at++) {
        uint32_t v = r->order[at];
        for_row (t, r->out, v)
            if (--missing[r->edge[t].to] == 0)
                r->order[end++] = r->edge[t].to;
    }
    if (end == r->nnode)
        return 0;
    /* walk back along edges among the unsorted nodes until a node comes twice: it is on a cycle */
    uint8_t *seen = arena_alloc(r->a, (size_t)r->nnode + 1);
    uint32_t v = 0;
    while (!missing[v])
        v++;
    while (!seen[v]) {
        seen[v] = 1;
        for_row (t, r->in, v)
            if (missing[r->edge[t].from]) {
                v = r->edge[t].from;
                break;
            }
    }
    return diag_error(r->d, "%s: node '%s' is on a cycle", r->path, node_label(r, v));
}

/* ---- the module ------------------------------------------------------------------------------ */

/* The names that are in use. */
struct name_maker {
    struct workload_reader *r;
    uint8_t *taken; /* [string] 1: it is a name */
    uint32_t cap;
};

/* Returns a new name: label; if that is taken, the id of node i is appended, and if necessary a number, too. */
static sid fresh_name(struct name_maker *n, const char *label, uint32_t i)
{
    struct module *m = n->r->m;
    long long id = n->r->node[i].id;
    const char *text = label;
    for (uint32_t again = 0;; again++) {
        sid s = str_id(m, text);
        n->taken = vec_grow(n->r->a, n->taken, &n->cap, s + 1, 1);
        if (!n->taken[s]) {
            n->taken[s] = 1;
            return s;
        }
        text = again == 0 ? arena_fmt(n->r->a, "%s.%lld", label, id)
                          : arena_fmt(n->r->a, "%s.%lld.%u", label, id, again);
    }
}

/* Names the results: the first result of a node is named as in the file, made unique if necessary; further results are
 * named after the node, with a number. */
static void name_results(struct workload_reader *r, sid *name)
{
    struct name_maker n = {.r = r};
    for (uint32_t i = 0; i < r->nnode; i++)
        name[r->first[i]] = fresh_name(&n, node_label(r, i), i);
    for (uint32_t i = 0; i < r->nnode; i++)
        for (uint32_t k = 1; k < r->first[i + 1] - r->first[i]; k++)
            name[r->first[i] + k] =
                fresh_name(&n, arena_fmt(r->a, "%s:%u", node_label(r, i), k), i);
}

/* Adds nodes and values to the module, in r->order.  The id of a node becomes its attribute "id". */
static void add_nodes(struct workload_reader *r)
{
    struct module *m = r->m;
    sid *name = arena_array(r->a, (size_t)r->first[r->nnode] + 1, sizeof *name);
    vid *arg = arena_array(r->a, (size_t)r->nedge + 1, sizeof *arg);
    vid *result = arena_array(r->a, (size_t)r->first[r->nnode] + 1, sizeof *result);
    sid op = str_id(m, "op"), domain = str_id(m, "profile"), key = str_id(m, "id");
    name_results(r, name);
    gid g = module_add_graph(m);
    m->graph[g].name = str_id(m, "workload");
    m->graph[g].first = m->nnode;
    m->graph[g].count = r->nnode;
    /* p: position in the module's order; w: index of the node in the file; its results are first .. first + nout - 1 */
    for (uint32_t p = 0; p < r->nnode; p++) {
        uint32_t w = r->order[p], n = 0;
        nid id = module_add_node(m);
        uint32_t first = r->first[w], nout = r->first[w + 1] - first;
        for (uint32_t i = 0; i < nout; i++)
            result[first + i] = module_add_value(m);
        for_row (t, r->in, w)
            arg[n++] = result[r->edge[t].result];
        struct attr attr = {.name = key, .kind = ATTR_INT, .u.i = r->node[w].id};
        struct slice in = module_add_args(m, arg, n);
        struct slice out = module_add_args(m, result + first, nout);
        m->node[id] = (struct node){.name = name[first],
                                    .op = op,
                                    .domain = domain,
                                    .in = in,
                                    .nformal = n,
                                    .out = out,
                                    .graph = g,
                                    .attr = module_add_attrs(m, &attr, 1)};
        for (uint32_t i = 0; i < nout; i++)
            m->value[result[first + i]] =
                (struct value){.name = name[first + i], .def = id, .outno = i, .graph = g};
    }
}

/* Sets module.color: the file's colours, renumbered 1, 2, ... in ascending order. */
static void add_colors(struct workload_reader *r)
{
    struct module *m = r->m;
    struct keyed *c = arena_array(r->a, (size_t)r->nnode + 1, sizeof *c);
    uint32_t n = 0, last = 0;
    for (uint32_t p = 0; p < r->nnode; p++)
        if (r->node[r->order[p]].color >= 0)
            c[n++] = (struct keyed){r->node[r->order[p]].color, m->graph[1].first + p};
    keyed_sort(c, n);
    for (uint32_t i = 0; i < n; i++) {
        if (i == 0 || c[i].key != c[i - 1].key)
            last++;
        m->color[c[i].item] = last;
    }
}

/* Fills module.cost, and layer, colour and pass of each node. */
static void add_costs(struct workload_reader *r)
{
    struct module *m = r->m;
    struct costs *k = m->cost = costs_new(m, r->a, CLASSES);
    k->params = r->has_weights ? arena_array(r->a, m->nnode, sizeof *k->params) : NULL;
    m->color = arena_array(r->a, m->nnode, sizeof *m->color);
    m->layer = arena_array(r->a, m->nnode, sizeof *m->layer);
    m->backward = r->training ? arena_alloc(r->a, m->nnode) : NULL;
    /* p: position in the module's order; o: number of the node's result */
    for (uint32_t p = 0; p < r->nnode; p++) {
        const struct wnode *w = &r->node[r->order[p]];
        nid n = m->graph[1].first + p;
        k->time[CLASS_ACC][n] = w->acc;
        k->time[CLASS_CPU][n] = w->cpu;
        k->own[n] = w->size;
        if (r->has_weights)
            k->params[n] = w->weight;
        for (uint32_t i = r->first[r->order[p]], o = 0; i < r->first[r->order[p] + 1]; i++, o++) {
            k->elems[node_out(m, n, o)] = -1;
            k->xfer[node_out(m, n, o)] = r->xfer[i];
        }
        m->layer[n] = w->layer >= 0 && w->layer < UINT32_MAX ? (uint32_t)w->layer + 1 : 0;
        if (r->training)
            m->backward[n] = w->backward;
    }
    add_colors(r);
}

/* Reads the cluster: maxFPGAs accelerators with maxSizePerFPGA bytes each, and maxCPUs CPUs.  Returns 0, or -1 and an
 * error. */
static int read_cluster(struct workload_reader *r, struct cluster *c)
{
    int64_t accs, cpus, memory;
    const json_t *size = json_object_get(r->root, "maxSizePerFPGA");
    if (!size || !json_object_get(r->root, "maxFPGAs") || !json_object_get(r->root, "maxCPUs"))
        return not_a_workload(r, "expected 'maxFPGAs', 'maxSizePerFPGA', 'maxCPUs'");
    if (read_int(r, json_object_get(r->root, "maxFPGAs"), (struct subject){.key = "maxFPGAs"}, 0,
                 CLUSTER_DEVICES, &accs) ||
        read_int(r, json_object_get(r->root, "maxCPUs"), (struct subject){.key = "maxCPUs"}, 0,
                 CLUSTER_DEVICES, &cpus) ||
        read_number(r, size, (struct subject){.key = "maxSizePerFPGA"}, 1, /*round_up=*/false,
                    &memory))
        return -1;
    if (accs + cpus < 1 || accs + cpus > CLUSTER_DEVICES)
        return diag_error(r->d, "%s: maxFPGAs + maxCPUs: expected 1 to %d devices", r->path,
                          CLUSTER_DEVICES);
    /* read_number() rounds to the nearest integer, but memory must be rounded down */
    if ((double)memory > json_number_value(size))
        memory--;
    c->ncls = CLASSES;
    c->ndev = (uint32_t)(accs + cpus);
    c->cls[CLASS_ACC] =
        (struct device_class){.name = "acc", .count = (uint32_t)accs, .memory = memory};
    c->cls[CLASS_CPU] =
        (struct device_class){.name = "cpu", .host = true, .memory = -1, .count = (uint32_t)cpus};
    return 0;
}

/* Reports that the file is no JSON, for the reason *e.  Returns -1. */
static int not_json(struct workload_reader *r, const json_error_t *e)
{
    return diag_error(r->d, "%s:%d:%d: not JSON: %s", r->path, e->line, e->column, e->text);
}

/* The part of a text that jansson has not read yet. */
struct text_stream {
    const char *text;
    size_t n;
    struct diag *d;
};

/* Gives jansson up to `most` bytes of the text, in `to`.  Returns how many; 0: the text, or the time for reading, has
 * ended. */
static size_t read_stream(void *to, size_t most, void *from)
{
    struct text_stream *f = from;
    size_t n = diag_stopped(f->d) ? 0 : smaller_u64(f->n, most);
    memcpy(to, f->text, n);
    f->text += n;
    f->n -= n;
    return n;
}

/* Parses the JSON text[n] to r->root.  Returns 0, or -1 and an error. */
static int load_text(struct workload_reader *r, const char *text, size_t n)
{
    json_error_t e;
    if (n == 0)
        return diag_error(r->d, "%s: the file is empty", r->path);
    if (n > INT32_MAX)
        return diag_error(r->d, "%s: a workload of more than 2 GiB", r->path);
    struct text_stream text_stream = {text, n, r->d};
    r->root = json_keep(r->own,
                        json_load_callback(read_stream, &text_stream, JSON_REJECT_DUPLICATES, &e));
    return r->root ? 0 : diag_stopped(r->d) ? -1 : not_json(r, &e);
}

/* Reads the file.  Returns 0, or -1 and an error. */
static int load_file(struct workload_reader *r)
{
    size_t n;
    const char *text = infile_read(r->path, INFILE_GRAPH, r->own, &n, r->d);
    return text ? load_text(r, text, n) : -1;
}

/* Makes the module and the cluster of r->root.  Returns 0, or -1 and an error. */
static int read_all(struct workload_reader *r, struct cluster *c)
{
    if (!json_is_object(r->root))
        return not_a_workload(r, "expected an object");
    if (read_cluster(r, c) || read_nodes(r) || read_edges(r) || sort_nodes(r))
        return -1;
    add_nodes(r);
    add_costs(r);
    r->m->path = str_id(r->m, r->path);
    return 0;
}

/* Reads the workload *t, or, if t is NULL, the file at r->path; see workload_read() (frontends.h).  Returns 0, or -1
 * and an error. */
static int read_workload(struct workload_reader *r, const struct named_text *t, struct arena *of,
                         struct scene *s)
{
    struct module *m = r->m = module_new(of, r->d);
    r->a = m->mem;
    r->own = arena_new(m->mem);
    *s = (struct scene){.m = m, .cluster = arena_alloc(m->mem, sizeof *s->cluster)};
    s->model.io_free = true;
    /* bytes per second by which the paper's files turn bytes into ms */
    s->model.sync_bandwidth = INT64_C(1) << 31;
    int rc = t ? load_text(r, t->text, t->n) : load_file(r);
    if (!rc)
        rc = read_all(r, s->cluster);
    arena_free(r->own);
#ifdef __GLIBC__
    /* gives the memory of the JSON tree back, because the large blocks that later code allocates would not reuse it */
    malloc_trim(0);
#endif
    if (rc == 0)
        return 0;
    arena_free(m->mem);
    *s = (struct scene){0};
    return -1;
}

int workload_read(struct scene *s, const char *path, const struct workload_edges *how,
                  struct arena *of, struct diag *d)
{
    struct workload_reader r = {.path = path, .d = d, .how = *how};
    return read_workload(&r, NULL, of, s);
}

int workload_parse(struct scene *s, const struct named_text *t, const struct workload_edges *how,
                   struct arena *of, struct diag *d)
{
    assert(t->text && t->name);
    struct workload_reader r = {.path = t->name, .d = d, .how = *how};
    return read_workload(&r, t, of, s);
}
