/* Files of pcc-profile (costs_in.h; passes/cost/costs.md has the form).  O(rows). */
#include "tools/run/costs_in.h"

#include "ir/base/infile.h"
#include "ir/base/json_in.h"
#include "ir/base/strings.h"
#include "ir/base/units.h"

/* The largest time of a row in ps, and the most memory in bytes. */
#define PS_MOST (INT64_C(1) << 60)

int costs_read(struct costs_in *c, const char *path, struct arena *a, struct diag *d)
{
    size_t bytes, i;
    int64_t version;
    json_error_t e;
    json_t *row;
    *c = (struct costs_in){.path = path};
    if (str_ends(path, ".csv"))
        return diag_error(d, "%s: expected its JSON form, which -o FILE.json writes", path);
    char *text = infile_read(path, INFILE_TABLE, a, &bytes, d);
    json_t *root = text ? json_read(a, text, bytes, &e) : NULL;
    if (!text)
        return -1;
    json_t *nodes = json_object_get(root, "nodes");
    if (!json_int_in(json_object_get(root, "pcc_measured"), 1, 1, &version) ||
        !json_is_array(nodes))
        return diag_error(d, "%s: expected a file that pcc-profile has written", path);
    c->dims = json_object_get(root, "dims");
    c->names = names_new(a, (uint32_t)json_array_size(nodes));
    c->ps = arena_array(a, json_array_size(nodes) + 1, sizeof *c->ps);
    c->bytes = arena_array(a, json_array_size(nodes) + 1, sizeof *c->bytes);
    json_array_foreach(nodes, i, row)
    {
        const char *name = json_get_text(row, "name");
        if (!name || !json_int_in(json_object_get(row, "time"), 0, PS_MOST, &c->ps[c->n]))
            return diag_error(d, "%s: nodes[%zu]: expected a name and a time, an integer of ps",
                              path, i);
        if (!json_int_in(json_object_get(row, "memory"), 0, PS_MOST, &c->bytes[c->n]))
            c->bytes[c->n] = -1; /* a row may lack it */
        names_add(&c->names, name, c->n++);
    }
    return 0;
}

int costs_fit(const struct costs_in *c, const struct split *s, struct diag *d)
{
    const char *name;
    json_t *size;
    json_object_foreach((json_t *)c->dims, name, size)
    {
        const json_t *here = json_object_get(s->dims, name);
        if (json_is_integer(here) && !json_equal(here, size))
            return diag_error(d,
                              "--costs %s: measured at %s=%" JSON_INTEGER_FORMAT
                              ", but the parts are measured at %s=%" JSON_INTEGER_FORMAT,
                              c->path, name, json_integer_value(size), name,
                              json_integer_value(here));
    }
    for (uint32_t k = 0; k < s->npart; k++)
        for (uint32_t v = 0; v < s->part[k].nnode; v++)
            if (names_get(&c->names, s->part[k].node[v], UINT32_MAX) != UINT32_MAX)
                return 0;
    const struct split_part *p = &s->part[0];
    return diag_error(d,
                      "--costs %s: none of its rows names a node of the split, the first is '%s'",
                      c->path, p->nnode ? p->node[0] : "");
}

void costs_share(const struct costs_in *c, const struct measuring *m, struct part_figures *f)
{
    for (uint32_t k = 0; k < m->s->npart; k++) {
        const struct split_part *p = &m->s->part[k];
        uint32_t known = 0;
        int64_t rows = 0;
        f[k].node = arena_array(m->a, (size_t)p->nnode + 1, sizeof *f[k].node);
        for (uint32_t v = 0; v < p->nnode; v++) {
            uint32_t row = names_get(&c->names, p->node[v], UINT32_MAX);
            bool there = row != UINT32_MAX;
            known += there;
            rows = sat_add(rows, there ? c->ps[row] : 0);
            f[k].node[v] =
                (struct node_figures){there ? c->ps[row] : -1, there ? c->bytes[row] : -1};
        }
        /* The part's planned time contains pcc's estimates for nodes without a row: what the rows leave of it belongs
         * to these nodes. */
        f[k].nameless_ps = known < p->nnode && p->compute_ps > rows ? p->compute_ps - rows : 0;
    }
}
