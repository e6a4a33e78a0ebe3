/* Writes the tables of the page: devices, parts, transfers, sizes.  They are complete and need no JavaScript.
 * O(nodes + tensors that cross * log of their number + their readers). */
#include "backends/html/html.h"

#include "backends/html/text.h"
#include "backends/palette.h"
#include "backends/type_text.h"

#include <inttypes.h>
#include <stdlib.h>

enum { LONG = 200 /* rows; a table with more is folded */ };

void html_open_table(struct html *h, const char *const *heading, uint32_t rows)
{
    fprintf(h->f, "<details%s><summary>%u row%s</summary>\n<div class=\"wide\"><table><thead><tr>",
            rows > LONG ? "" : " open", rows, rows == 1 ? "" : "s");
    for (; *heading; heading++)
        fprintf(h->f, "<th%s>%s</th>", **heading == '#' ? " class=\"n\"" : "",
                *heading + (**heading == '#'));
    fputs("</tr></thead><tbody>\n", h->f);
}

void html_close_table(struct html *h)
{
    fputs("</tbody></table></div></details>\n", h->f);
}

/* Write a cell of a table: put_time() a time of `ps`, put_bytes() a number of bytes, put_text() a text, put_count() a
 * number.  Times and bytes are rounded; the cell's title, which appears under the mouse, has the exact number. */
static void put_time(struct html *h, int64_t ps)
{
    char s[UNIT_TEXT], all[UNIT_TEXT];
    fprintf(h->f, "<td class=\"n\" title=\"%s\">%s</td>", time_print(all, ps), time_short(s, ps));
}

static void put_bytes(struct html *h, int64_t bytes)
{
    char s[UNIT_TEXT];
    fprintf(h->f, "<td class=\"n\" title=\"%" PRId64 " bytes\">%s</td>", bytes,
            bytes_short(s, bytes));
}

static void put_text(struct html *h, const char *text)
{
    fputs("<td>", h->f);
    html_put_name(h->f, h->a, text);
    fputs("</td>", h->f);
}

static void put_count(struct html *h, uint32_t n)
{
    fprintf(h->f, "<td class=\"n\">%u</td>", n);
}

/* Writes a device's name with a mark in its colour. */
static void put_device(struct html *h, uint32_t dev)
{
    fprintf(h->f, "<span class=\"dev d%u\">", dev % PALETTE);
    html_put(h->f, h->a, cluster_device_name(h->r->scene.cluster, h->a, dev));
    fputs("</span>", h->f);
}

/* ---- devices ---------------------------------------------------------------------------------- */

/* Writes a cell with a bar whose whole length stands for `all`: `part` of it is filled, `more` behind that is filled in
 * a pale colour.  Beside the bar stands how many percent of `all` both are together.  over: the bar has the colour of a
 * warning. */
static void put_bar(struct html *h, int64_t part, int64_t more, int64_t all, bool over)
{
    int first = percent_of(part, all), both = percent_of(sat_add(part, more), all);
    first = first < 100 ? first : 100;
    both = both < 100 ? both : 100;
    fprintf(h->f,
            "<td class=\"bar\"><div><svg class=\"bar%s\" viewBox=\"0 0 100 8\" "
            "preserveAspectRatio=\"none\"><rect class=\"all\" width=\"100\" height=\"8\"/>"
            "<rect class=\"more\" width=\"%d\" height=\"8\"/>"
            "<rect class=\"part\" width=\"%d\" height=\"8\"/></svg><span>%d %%</span></div></td>",
            over ? " over" : "", both, first, percent_of(sat_add(part, more), all));
}

/* Writes the row of device d.  parts: number of its parts; longest: ps, the most that any device computes and
 * transfers. */
static void put_device_row(struct html *h, uint32_t d, uint32_t parts, int64_t longest)
{
    const struct cluster *c = h->r->scene.cluster;
    const struct device_class *k = &c->cls[cluster_class(c, d)];
    const struct device_load *l = &h->r->verdict->load[d];
    fprintf(h->f, "<tr id=\"device%u\" class=\"d%u\"><td>", d, d % PALETTE);
    put_device(h, d);
    fputs("</td>", h->f);
    put_text(h, k->name);
    put_count(h, parts);
    put_count(h, l->nodes);
    put_time(h, l->compute);
    put_time(h, l->transfer);
    put_bar(h, l->compute, l->transfer, longest, false);
    put_bytes(h, l->weights);
    put_bytes(h, l->used);
    if (k->memory < 0) {
        fputs("<td class=\"n\">no limit</td><td></td>", h->f);
    } else {
        int64_t other = l->used > l->weights ? l->used - l->weights : 0;
        put_bytes(h, k->memory);
        put_bar(h, l->weights, other, k->memory, l->used > k->memory);
    }
    fputs("</tr>\n", h->f);
}

void html_put_devices(struct html *h)
{
    static const char *const heading[] = {"device",
                                          "class",
                                          "#parts",
                                          "#nodes",
                                          "#compute",
                                          "#transfer",
                                          "of the longest time",
                                          "#weights",
                                          "#memory",
                                          "#limit",
                                          "of the limit",
                                          NULL};
    const struct result *r = h->r;
    uint32_t ndev = r->scene.cluster->ndev;
    uint32_t *parts = arena_array(h->a, (size_t)ndev + 1, sizeof *parts);
    int64_t longest = 0;
    for (uint32_t x = 0; x < r->parts->nparts; x++)
        parts[r->parts->part[x].dev]++;
    for (uint32_t d = 0; d < ndev; d++) {
        int64_t busy = sat_add(r->verdict->load[d].compute, r->verdict->load[d].transfer);
        longest = busy > longest ? busy : longest;
    }
    html_open(h, "devices", "Devices: time and memory");
    html_open_table(h, heading, ndev);
    for (uint32_t d = 0; d < ndev; d++) {
        struct arena_mark mark = arena_mark(h->a);
        put_device_row(h, d, parts[d], longest);
        arena_release(h->a, mark);
    }
    html_close_table(h);
    html_close(h);
}

/* ---- parts ------------------------------------------------------------------------------------ */

/* Writes the row of part x; its time of computing and its bytes are sums over its nodes, weights, inputs and
 * outputs. */
static void put_part_row(struct html *h, uint32_t x)
{
    const struct module *m = h->r->scene.m;
    const struct part *t = &h->r->parts->part[x];
    const int64_t *time = m->cost->time[cluster_class(h->r->scene.cluster, t->dev)];
    int64_t compute = 0, in = 0, out = 0, weights = 0;
    for (uint32_t i = 0; i < t->nnode; i++)
        compute = sat_add(compute, time[t->node[i]]);
    for (uint32_t i = 0; i < t->nweight; i++)
        weights = sat_add(weights, m->cost->bytes[t->weight[i]]);
    for (uint32_t i = 0; i < t->nin; i++)
        in = sat_add(in, m->cost->bytes[t->in[i]]);
    for (uint32_t i = 0; i < t->nout; i++)
        out = sat_add(out, m->cost->bytes[t->out[i]]);
    fprintf(h->f, "<tr id=\"part%u\"><td>%s</td><td>", x, part_file(h->r->parts, x, h->a));
    put_device(h, t->dev);
    fputs("</td>", h->f);
    put_count(h, t->nnode);
    put_count(h, t->ncopy);
    put_time(h, compute);
    put_bytes(h, weights);
    put_count(h, t->nin);
    put_bytes(h, in);
    put_count(h, t->nout);
    put_bytes(h, out);
    fputs("</tr>\n", h->f);
}

void html_put_parts(struct html *h)
{
    static const char *const heading[] = {"part",     "device",     "#nodes",  "#copied nodes",
                                          "#compute", "#weights",   "#inputs", "#bytes in",
                                          "#outputs", "#bytes out", NULL};
    html_open(h, "parts", "Parts, in an order in which they can run");
    html_open_table(h, heading, h->r->parts->nparts);
    for (uint32_t x = 0; x < h->r->parts->nparts; x++) {
        struct arena_mark mark = arena_mark(h->a);
        put_part_row(h, x);
        arena_release(h->a, mark);
    }
    html_close_table(h);
    html_close(h);
}

/* ---- transfers -------------------------------------------------------------------------------- */

/* A tensor that crosses: its index in parts.cross, and its bytes. */
struct crossing {
    uint32_t i;
    int64_t bytes;
};

/* For qsort(): crossings with more bytes first; crossings with equal bytes in the order of parts.cross. */
static int by_bytes(const void *a, const void *b)
{
    const struct crossing *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x->i < y->i ? -1 : x->i > y->i;
}

/* Writes the file of a part and the name of its device. */
static void put_end(struct html *h, uint32_t part)
{
    fprintf(h->f, "%s ", part_file(h->r->parts, part, h->a));
    put_device(h, h->r->parts->part[part].dev);
}

/* Writes the row of a tensor that crosses: name, type, bytes, the part that makes it, the parts that read it. */
static void put_crossing(struct html *h, const struct crossing *x)
{
    const struct module *m = h->r->scene.m;
    const struct parts *p = h->r->parts;
    vid v = p->cross[x->i];
    fputs("<tr>", h->f);
    put_text(h, value_name(m, v));
    put_text(h, type_text(m, m->value[v].type, h->a));
    put_bytes(h, x->bytes);
    fputs("<td>", h->f);
    put_end(h, (uint32_t)p->part_of[m->value[v].def]);
    fputs("</td><td>", h->f);
    bool first = true;
    for_row (to, p->cross_to, x->i) {
        fputs(first ? "" : ", ", h->f);
        put_end(h, to);
        first = false;
    }
    fputs("</td></tr>\n", h->f);
}

void html_put_transfers(struct html *h)
{
    static const char *const heading[] = {"tensor", "type", "#bytes", "from", "to", NULL};
    const struct parts *p = h->r->parts;
    struct crossing *x = arena_array(h->a, (size_t)p->ncross + 1, sizeof *x);
    for (uint32_t i = 0; i < p->ncross; i++)
        x[i] = (struct crossing){i, h->r->scene.m->cost->bytes[p->cross[i]]};
    qsort(x, p->ncross, sizeof *x, by_bytes);
    html_open(h, "transfers", "Transfers: the tensors that cross, the largest first");
    html_open_table(h, heading, p->ncross);
    for (uint32_t i = 0; i < p->ncross; i++) {
        struct arena_mark mark = arena_mark(h->a);
        put_crossing(h, &x[i]);
        arena_release(h->a, mark);
    }
    html_close_table(h);
    html_close(h);
}

/* ---- sizes ------------------------------------------------------------------------------------ */

void html_put_sizes(struct html *h)
{
    static const char *const heading[] = {"dimension", "#size", "from", NULL};
    const struct result *r = h->r;
    html_open(h, "sizes", "Sizes that the plan is for");
    if (r->assumed) {
        fputs("<p>Assumed: ", h->f);
        html_put(h->f, h->a, r->assumed);
        fputs(".</p>\n", h->f);
    }
    html_open_table(h, heading, r->ndims);
    for (uint32_t i = 0; i < r->ndims; i++) {
        fputs("<tr>", h->f);
        put_text(h, r->dim_name[i]);
        fprintf(h->f, "<td class=\"n\">%" PRId64 "</td><td>%s</td></tr>\n", r->dim_value[i],
                i + r->nguessed >= r->ndims ? "guessed" : "given or read");
    }
    html_close_table(h);
    html_close(h);
}
