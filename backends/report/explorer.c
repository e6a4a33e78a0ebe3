/* Writes a plan as node data for Google's Model Explorer: each node in the colour of its device, with its planned
 * time.
 *
 * The form is that of GraphNodeData in model_explorer/node_data_builder.py: "results" has a number and a colour for
 * each node, under the node's name as key.  The number is the planned time in microseconds: where the viewer folds
 * a group of nodes, it shows the sum of their numbers.  A node that is copied to several parts has the colour of
 * the first part; of several nodes with one name the first counts.  O(nodes). */
#include "backends/backends.h"
#include "backends/palette.h"
#include "ir/base/json_out.h"
#include "ir/base/name_table.h"
#include "ir/base/outfile.h"
#include "ir/plan/parts.h"

enum { US = 6 /* decimal places of a time in microseconds, which has picoseconds */ };

/* The node data while they are written. */
struct node_data {
    struct json_out j;
    const struct module *m;
    struct names seen; /* names of the nodes so far */
};

/* Writes the number and colour of node x, which runs on a device of class cls.  Writes nothing if a node of the same
 * name came before. */
static void put_result(struct node_data *o, nid x, uint32_t cls, const char *colour)
{
    const char *name = node_name(o->m, x);
    if (names_get(&o->seen, name, 0))
        return;
    names_add(&o->seen, name, x);
    json_open(&o->j, name, '{', JSON_ROW);
    json_put_decimal(json_member(&o->j, "value"), o->m->cost->time[cls][x], US); /* ps as us */
    json_text(&o->j, "bgColor", colour);
    json_close(&o->j, JSON_ROW);
}

/* For writer.write: writes the plan as node data for Model Explorer.  Returns 0, or -1 and an error. */
static int write_explorer(const struct result *r, const void *opts, const char *path)
{
    struct outfile file;
    struct arena *a = arena_new(r->scene.m->mem);
    struct node_data o = {.m = r->scene.m, .seen = names_new(a, r->scene.m->nnode)};
    (void)opts;
    int rc = -1;
    if (!r->parts)
        diag_error(r->diag, "%s: the plan has no parts", path);
    else
        rc = outfile_open_to(&file, path, r->out, r->scene.m->mem, r->diag);
    if (!rc) {
        o.j.f = file.f;
        json_open(&o.j, NULL, '{', /*indent=*/2);
        json_open(&o.j, "results", '{', /*indent=*/4);
        for (uint32_t k = 0; k < r->parts->nparts; k++) {
            const struct part *p = &r->parts->part[k];
            uint32_t cls = cluster_class(r->scene.cluster, p->dev);
            for (uint32_t i = 0; i < p->nnode; i++)
                put_result(&o, p->node[i], cls, palette_fill(p->dev));
            for (uint32_t i = 0; i < p->ncopy; i++)
                put_result(&o, p->copy[i], cls, palette_fill(p->dev));
        }
        json_close(&o.j, 2);
        json_close(&o.j, 0);
        putc('\n', file.f);
        rc = outfile_close(&file, /*ok=*/true);
    }
    arena_free(a);
    return rc;
}

const struct writer writer_explorer = {.name = "explorer",
                                       .suffix = ".explorer.json",
                                       .to_stdout = true,
                                       .needs = WRITER_NEEDS_PLAN,
                                       .write = write_explorer};
