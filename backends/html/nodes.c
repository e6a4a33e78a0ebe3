/* Writes the nodes of each box of the graph as JSON into the page: the page shows them when a box is clicked, and its
 * search looks through them.  A node is [name, index of its operator, ps, bytes of its results].  Of very large models
 * the nodes are left out, as browsers would take minutes to open the page.  O(nodes + operators). */
#include "backends/html/html.h"

#include "backends/html/text.h"
#include "backends/picture/frame_label.h"
#include "ir/base/map.h"

#include <inttypes.h>

enum { MOST_NODES = 200000 }; /* of models with more nodes, none is written */

/* The operators of the nodes, each once. */
struct operators {
    struct map index; /* text of a name (module_str) -> its index in name[] + 1 */
    const char **name;
    uint32_t n, cap;
};

/* Returns the index in *o of the operator of node x; adds the operator if it is new. */
static uint32_t operator_of(struct html *h, struct operators *o, nid x)
{
    const struct module *m = h->r->scene.m;
    uint32_t i = map_get(&o->index, map_key(0, m->node[x].op));
    if (i)
        return i - 1;
    o->name = vec_grow(h->a, o->name, &o->cap, o->n + 1, sizeof *o->name);
    o->name[o->n++] = node_op(m, x);
    map_set(&o->index, h->a, map_key(0, m->node[x].op), o->n);
    return o->n - 1;
}

/* Writes node x as a list of JSON: its name, the number of its operator, its time on its device in ps, and the bytes
 * of its results.  cls: class of the device. */
static void put_node(struct html *h, struct operators *o, nid x, uint32_t cls)
{
    const struct module *m = h->r->scene.m;
    int64_t bytes = 0;
    for (uint32_t i = 0; i < m->node[x].out.n; i++)
        bytes = sat_add(bytes, m->cost->bytes[m->arg[m->node[x].out.at + i]]);
    putc('[', h->f);
    html_put_json(h->f, h->a, node_name(m, x));
    fprintf(h->f, ",%u,%" PRId64 ",%" PRId64 "]", operator_of(h, o, x), m->cost->time[cls][x],
            bytes);
}

/* Writes box i as an object of JSON: its file, its device, the device's class, and its nodes. */
static void put_box(struct html *h, struct operators *o, uint32_t i)
{
    const struct cluster *c = h->r->scene.cluster;
    uint32_t dev = h->box.dev[i];
    bool first = true;
    fprintf(h->f, "{\"file\":\"%s\",\"device\":", frame_file(h->r, &h->box, i, h->a));
    html_put_json(h->f, h->a, cluster_device_name(c, h->a, dev));
    fputs(",\"class\":", h->f);
    html_put_json(h->f, h->a, c->cls[cluster_class(c, dev)].name);
    fputs(",\"nodes\":[", h->f);
    for_row (x, h->box.node, i) {
        fputs(first ? "\n" : ",\n", h->f);
        put_node(h, o, x, cluster_class(c, dev));
        first = false;
    }
    fputs("]}", h->f);
}

void html_put_nodes(struct html *h)
{
    struct operators o = {0};
    if (h->box.node.at[h->box.n] > MOST_NODES) {
        fprintf(h->f,
                "<p class=\"note\">The %u nodes are left out, as they are more than %d: "
                "<code>--emit csv</code> lists them.</p>\n",
                h->box.node.at[h->box.n], MOST_NODES);
        return;
    }
    fputs("<script type=\"application/json\" id=\"nodes\">{\"boxes\":[", h->f);
    for (uint32_t i = 0; i < h->box.n; i++) {
        fputs(i ? ",\n" : "\n", h->f);
        put_box(h, &o, i);
    }
    fputs("],\n\"operators\":[", h->f);
    for (uint32_t i = 0; i < o.n; i++) {
        fputs(i ? "," : "", h->f);
        html_put_json(h->f, h->a, o.name[i]);
    }
    fputs("]}</script>\n", h->f);
}
