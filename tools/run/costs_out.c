/* Writes measured costs (costs_out.h).  O(nodes). */
#include "tools/run/costs_out.h"
#include "tools/run/resize.h"

#include "backends/report/csv.h"
#include "ir/base/json_out.h"
#include "ir/base/numbers.h"
#include "ir/base/outfile.h"
#include "ir/base/strings.h"
#include "ir/base/units.h"
#include "ir/cluster/detect/machine_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SESSION_BYTES (INT64_C(10) << 20) /* memory that a session takes for itself */

/* Returns by how many bytes more than planned the process of the part has grown, from its start to its most memory.
 * Planned are the bytes that the plan has for the part, and SESSION_BYTES.  Below 0: it has grown by less than planned.
 * 0 also if it is not known. */
static int64_t beyond_plan(const struct split_part *p, const struct part_bytes *b)
{
    if (b->start < 0 || b->sample < b->start || p->live_bytes < 0)
        return 0;
    return b->sample - b->start - SESSION_BYTES - p->live_bytes;
}

/* Appends the rows of part k to row[]; returns their number.  If parts were measured (m->parts), the times of a part's
 * nodes are shares of the part's time: node i gets the share of the first i + 1 nodes less the share of the first i,
 * both rounded down, so that no time is lost by rounding; if no node has a time, all get equal shares.  Otherwise a
 * node has its own time, and no row without one.  Each node gets the bytes beyond the plan (beyond_plan()) as memory of
 * its own, so that the part's peak becomes the measured one, whichever node is at the peak.  Calls of functions get no
 * row, and their share of the time (nameless_ps) goes to no node. */
static uint32_t part_rows(const struct measuring *m, uint32_t k, const struct part_figures *f,
                          struct cost_row *row)
{
    const struct split_part *p = &m->s->part[k];
    int64_t all = f->nameless_ps, beyond = beyond_plan(p, &f->bytes);
    uint32_t n = 0;
    for (uint32_t v = 0; v < p->nnode; v++)
        all = sat_add(all, f->node[v].ps > 0 ? f->node[v].ps : 0);
    __int128 before = 0;
    for (uint32_t v = 0; v < p->nnode; v++) {
        const struct node_figures *own = &f->node[v];
        int64_t ps = own->ps > 0 ? own->ps : 0;
        /* the node was not found, as other nodes ran in its place: it gets no row, and keeps pcc's estimate */
        if (own->ps < 0 && f->nameless_ps > 0)
            continue;
        if (m->parts && all > 0) {
            __int128 after = before + ps;
            ps = (int64_t)(after * f->ps / all) - (int64_t)(before * f->ps / all);
            before = after;
        } else if (m->parts) {
            /* the times of the part's nodes are not known: all get equal shares */
            ps = f->ps / p->nnode + (v < f->ps % p->nnode);
        } else if (own->ps < 0) {
            continue;
        }
        int64_t bytes = own->bytes < 0 ? -1 : larger(sat_add(own->bytes, beyond), 0);
        row[n++] = (struct cost_row){p->node[v], ps, bytes};
    }
    return n;
}

struct cost_row *costs_rows(const struct measuring *m, const struct part_figures *f, uint32_t *n,
                            struct arena *a)
{
    size_t room = 1;
    *n = 0;
    for (uint32_t k = 0; k < m->s->npart; k++)
        room += m->s->part[k].nnode;
    struct cost_row *row = arena_array(a, room, sizeof *row);
    for (uint32_t k = 0; k < m->s->npart; k++)
        if (measured_whole(m, &f[k]) && f[k].node)
            *n += part_rows(m, k, &f[k], row + *n);
    return row;
}

/* Returns the processor's name, in a, as far as the system says it. */
static const char *machine(struct arena *a)
{
    static const char key[] = "model name";
    const char *text = machine_text("", "/proc/cpuinfo", a), *at = text ? strstr(text, key) : NULL;
    if (!at)
        return "unknown";
    at += sizeof key - 1;
    at += strspn(at, " \t:");
    return arena_strdup(a, at, strcspn(at, "\n"));
}

/* Returns setting number i = 0, 1, ... of the sessions, in words; "" after the last one. */
static const char *setting(const struct costs_out *c, size_t i, struct arena *a)
{
    const struct engine_load how = {.threads = c->m->threads, .optimise = c->m->parts};
    return engine_setting(&how, i, a);
}

/* ---- JSON ------------------------------------------------------------------------------------- */

/* Writes the members about the measurement: machine, processors, engine, its settings, sizes of dimensions. */
static void put_facts(struct json_out *o, const struct costs_out *c, struct arena *a)
{
    const json_t *dims = c->m->s->dims;
    const char *name, *text;
    json_t *size;
    json_text(o, "machine", machine(a));
    json_text(o, "cores", c->cores ? c->cores : "any");
    json_text(o, "runtime", arena_fmt(a, "%s %s", c->m->e->face->name, c->m->e->version));
    json_open(o, "settings", '[', JSON_ROW);
    for (size_t i = 0; *(text = setting(c, i, a)); i++)
        json_text(o, NULL, text);
    json_close(o, JSON_ROW);
    json_open(o, "dims", '{', JSON_ROW);
    json_object_foreach((json_t *)dims, name, size)
    {
        if (split_names_dim(c->m->s, name))
            json_int(o, name, json_integer_value(size));
    }
    json_close(o, JSON_ROW);
}

/* Writes the members about a part's memory, as far as it was measured. */
static void put_bytes(struct json_out *o, const struct part_bytes *b)
{
    const struct {
        const char *key;
        int64_t bytes;
    } field[] = {{"start_bytes", b->start},
                 {"loaded_bytes", b->loaded},
                 {"sample_bytes", b->sample},
                 {"arena_bytes", b->arena},
                 {"arena_peak_bytes", b->arena_peak}};
    for (size_t i = 0; i < sizeof field / sizeof *field; i++)
        if (field[i].bytes >= 0)
            json_int(o, field[i].key, field[i].bytes);
}

/* Writes for each part that was measured as a whole: file, first node, number of nodes, time of the part and of each
 * turn, ps, and what was measured of its memory.  The list is empty if no parts were measured. */
static void put_parts(struct json_out *o, const struct costs_out *c)
{
    json_open(o, "parts", '[', 2);
    for (uint32_t k = 0; k < c->m->s->npart && c->m->parts; k++) {
        const struct split_part *p = &c->m->s->part[k];
        const struct part_figures *f = &c->part[k];
        if (!measured_whole(c->m, f))
            continue;
        json_open(o, NULL, '{', JSON_ROW);
        json_text(o, "file", p->file);
        json_text(o, "first", p->nnode ? p->node[0] : NULL);
        json_int(o, "nodes", p->nnode);
        json_int(o, "time", f->ps);
        json_open(o, "turns", '[', JSON_ROW);
        for (uint32_t t = 0; t < f->turns; t++)
            json_int(o, NULL, f->turn[t]);
        json_close(o, JSON_ROW);
        put_bytes(o, &f->bytes);
        json_close(o, JSON_ROW);
    }
    json_close(o, 1);
}

/* Writes how fast copies of a part run side by side, if that is known. */
static void put_side(struct json_out *o, const struct side_by_side *s)
{
    if (!s || s->copies == 0)
        return;
    json_open(o, "side_by_side", '{', JSON_ROW);
    json_text(o, "file", s->file);
    json_int(o, "copies", s->copies);
    json_seconds(o, "alone_s", s->alone);
    json_seconds(o, "together_s", s->together);
    json_put_decimal(json_member(o, "factor"), side_by_side_factor(s), 3);
    json_close(o, JSON_ROW);
}

void costs_put_measured(FILE *f, const struct costs_out *c, struct arena *a)
{
    struct json_out o = {.f = f};
    json_open(&o, NULL, '{', 2);
    put_facts(&o, c, a);
    put_side(&o, c->side);
    json_open(&o, "parts", '{', 3);
    for (uint32_t k = 0; k < c->m->s->npart; k++) {
        json_open(&o, c->m->s->part[k].file, '{', JSON_ROW);
        json_seconds(&o, "time_s", c->part[k].ps);
        put_bytes(&o, &c->part[k].bytes);
        json_close(&o, JSON_ROW);
    }
    json_close(&o, 2);
    json_close(&o, 1);
}

/* Writes the JSON form of the file: facts, a row for each node, and what was measured of each part. */
static void put_json(FILE *f, const struct costs_out *c, struct arena *a)
{
    struct json_out o = {.f = f};
    json_open(&o, NULL, '{', 1);
    json_int(&o, "pcc_measured", 1);
    json_text(&o, "source", path_base(c->source));
    put_facts(&o, c, a);
    put_side(&o, c->side);
    json_open(&o, "nodes", '[', 2);
    for (uint32_t i = 0; i < c->nrow; i++) {
        json_open(&o, NULL, '{', JSON_ROW);
        json_text(&o, "name", c->row[i].name);
        json_int(&o, "time", c->row[i].ps);
        if (c->row[i].bytes >= 0)
            json_int(&o, "memory", c->row[i].bytes);
        json_close(&o, JSON_ROW);
    }
    json_close(&o, 1);
    put_parts(&o, c);
    json_close(&o, 0);
}

/* ---- CSV -------------------------------------------------------------------------------------- */

/* Writes a row of the table that is about no node, but about the whole table: a fact (table_facts.h). */
static void put_fact(FILE *f, const char *text, struct arena *a)
{
    csv_text(f, text, a);
    fputs(",0,\n", f);
}

/* Writes the name of a node.  A '#' that begins it becomes "\x23", which pcc reads as '#': else the row would be a
 * fact. */
static void put_name(FILE *f, const char *name, struct arena *a)
{
    char *text = NULL;
    size_t n;
    FILE *field = *name == '#' ? open_memstream(&text, &n) : NULL;
    csv_text(field ? field : f, name, a);
    if (field && fclose(field) == 0) {
        bool quotes = *text == '"';
        fprintf(f, "%s\\x23%s", quotes ? "\"" : "", text + quotes + 1);
    }
    free(text);
}

/* Writes the CSV form of the file: facts first, then a row for each node. */
static void put_csv(FILE *f, const struct costs_out *c, struct arena *a)
{
    const json_t *dims = c->m->s->dims;
    const char *name, *text;
    json_t *size;
    fputs("name,time,memory\n", f);
    put_fact(f, "#pcc_measured 1", a);
    json_object_foreach((json_t *)dims, name, size)
    {
        if (!split_names_dim(c->m->s, name))
            continue;
        text = arena_fmt(a, "#dim %s=%lld", name, (long long)json_integer_value(size));
        put_fact(f, text, a);
    }
    for (size_t i = 0; *(text = setting(c, i, a)); i++)
        put_fact(f, arena_fmt(a, "#%s", text), a);
    put_fact(f, arena_fmt(a, "#runtime %s %s", c->m->e->face->name, c->m->e->version), a);
    put_fact(f, arena_fmt(a, "#machine %s", machine(a)), a);
    if (c->side && c->side->copies > 0)
        put_fact(f,
                 arena_fmt(a, "#side-by-side %u copies of %s, factor %.3f", c->side->copies,
                           c->side->file, (double)side_by_side_factor(c->side) / 1000),
                 a);
    for (uint32_t i = 0; i < c->nrow; i++) {
        put_name(f, c->row[i].name, a);
        fprintf(f, ",%" PRId64 ",", c->row[i].ps);
        if (c->row[i].bytes >= 0)
            fprintf(f, "%" PRId64, c->row[i].bytes);
        fputc('\n', f);
    }
}

int costs_write(const struct costs_out *c, const char *path, struct arena *a, struct diag *d)
{
    struct outfile f;
    if (outfile_open_to(&f, path, NULL, a, d))
        return -1;
    if (str_ends(path, ".csv"))
        put_csv(f.f, c, a);
    else
        put_json(f.f, c, a);
    return outfile_close(&f, true);
}
