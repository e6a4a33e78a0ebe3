/* Writes the texts of frames (frame_label.h). */
#include "backends/picture/frame_label.h"

#include "backends/label.h"
#include "backends/picture/title.h"
#include "ir/plan/parts.h"

#include <string.h>

enum { NAME = 80 }; /* the most characters of a name that are shown */

const char *frame_device(const struct result *r, const struct frames *f, uint32_t i,
                         struct arena *a)
{
    const struct cluster *c = r->scene.cluster;
    uint32_t dev = f->dev[i], n = r->plan->copies ? r->plan->copies[dev] : 1;
    const char *class = c->cls[cluster_class(c, dev)].name, *name = cluster_device_name(c, a, dev);
    if (n > 1)
        name = arena_fmt(a, "%s to %s in turn", name, cluster_device_name(c, a, dev + n - 1));
    return arena_fmt(a, "%s (%s)", name, label_text(a, class, strlen(class), NAME));
}

const char *frame_file(const struct result *r, const struct frames *f, uint32_t i, struct arena *a)
{
    return f->parts[i] > 1 ? arena_fmt(a, "%u parts", f->parts[i])
                           : part_file(r->parts, f->first[i], a);
}

/* Returns "\n", a line break of DOT, and "weights 3.2 MiB, state 1.5 MiB"; leaves out weights or state if it is 0; ""
 * if both are 0. */
static const char *write_holdings(const struct holdings *h, struct arena *a)
{
    char b[UNIT_TEXT];
    const char *s = "";
    if (h->weights)
        s = arena_fmt(a, "\\nweights %s", bytes_short(b, h->weights));
    if (h->state)
        s = arena_fmt(a, "%s%sstate %s", s, *s ? ", " : "\\n", bytes_short(b, h->state));
    return s;
}

/* Writes the time of all nodes of frame i to buf[UNIT_TEXT], "3.2 ms", and returns buf. */
static const char *frame_time(const struct result *r, const struct frames *f, uint32_t i, char *buf)
{
    uint32_t cls = cluster_class(r->scene.cluster, f->dev[i]);
    int64_t time = 0;
    for_row (n, f->node, i)
        time = sat_add(time, r->scene.m->cost->time[cls][n]);
    return time_short(buf, time);
}

const char *frame_label(const struct result *r, const struct frames *f, uint32_t i,
                        const struct holdings *h, struct arena *a)
{
    char t[UNIT_TEXT], m[UNIT_TEXT];
    const char *dev = frame_device(r, f, i, a), *file = frame_file(r, f, i, a);
    uint32_t nodes = f->node.at[i + 1] - f->node.at[i];
    const char *time = frame_time(r, f, i, t);
    if (!h)
        return arena_fmt(a, "%s, %s\\l%s\\l", dev, time, file);
    const char *memory =
        f->shared ? ""
                  : arena_fmt(a, "\\nmemory %s", bytes_short(m, r->verdict->load[f->dev[i]].used));
    return arena_fmt(a, "%s\n%s, %u node%s\ncompute %s%s%s", dev, file, nodes,
                     nodes == 1 ? "" : "s", time, write_holdings(h, a), memory);
}
