/* Reads a split folder's manifest (split_in.h; backends/split/manifest.md has the form).  O(bytes). */
#include "tools/run/split_in.h"

#include "ir/base/infile.h"
#include "ir/base/json_in.h"
#include "ir/base/name_table.h"
#include "ir/base/numbers.h"
#include "ir/base/units.h"
#include "ir/plan/schedule_json.h"
#include "ir/plan/state_pieces.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NO_VALUE = -1 };

/* The state of reading. */
struct reader {
    struct split *s;
    struct names names; /* name of a value -> its number */
    bool *made;         /* [value] an input of the model, or made by a part that was read */
    const char *path;   /* path of the manifest */
    struct arena *a;
    struct diag *d;
};

/* Returns the number of the value with this name; NO_VALUE after an error.  where: the key that names it. */
static int64_t value_named(struct reader *r, const json_t *name, const char *where)
{
    const char *text = json_string_value(name);
    uint32_t v = text ? names_get(&r->names, text, UINT32_MAX) : UINT32_MAX;
    if (v != UINT32_MAX)
        return v;
    diag_error(r->d, "%s: %s: expected a tensor of \"values\", found '%s'", r->path, where,
               text ? text : "no text");
    return NO_VALUE;
}

/* Reads "values": names and types; makes r->names and r->made.  Returns 0, or -1 and an error. */
static int read_values(struct reader *r)
{
    json_t *all = json_object_get(r->s->manifest, "values"), *row;
    const char *name;
    if (!json_is_object(all))
        return diag_error(r->d, "%s: expected an object \"values\"", r->path);
    uint32_t n = (uint32_t)json_object_size(all);
    r->names = names_new(r->a, n);
    r->made = arena_array(r->a, (size_t)n + 1, sizeof *r->made);
    r->s->value = arena_array(r->a, (size_t)n + 1, sizeof *r->s->value);
    json_object_foreach(all, name, row)
    {
        const char *type = json_get_text(row, "type");
        names_add(&r->names, name, r->s->nvalue);
        r->s->value[r->s->nvalue++] =
            (struct split_value){.name = name, .type = type ? type : "", .bytes = -1};
    }
    return 0;
}

void split_take_sizes(struct split_value *v, const json_t *sizes, struct arena *a)
{
    uint32_t n = (uint32_t)smaller((int64_t)json_array_size(sizes), ENGINE_AXES);
    int64_t *size = arena_array(a, (size_t)n + 1, sizeof *size);
    v->size = NULL;
    for (uint32_t k = 0; k < n; k++)
        if (!json_int_in(json_array_get(sizes, k), 0, INT64_MAX, &size[k]))
            return;
    v->size = json_is_array(sizes) ? size : NULL;
    v->rank = n;
}

/* Returns the list of sizes, in a, that a shape of the manifest has: a name in it gets its size from "dims", or null if
 * it has none there.  NULL: `shape` is no list.  The sizes are compared with the list "sizes"; in folders of an older
 * pcc they take its place. */
static json_t *sizes_of_shape(const struct reader *r, const json_t *shape)
{
    json_t *to = json_keep(r->a, json_array()), *dim;
    size_t i;
    json_array_foreach(shape, i, dim)
    {
        const char *name = json_string_value(dim);
        json_t *size = name ? json_object_get(r->s->dims, name) : dim;
        if (json_array_append(to, size ? size : json_null()))
            arena_exhausted(r->a, 1);
    }
    return json_is_array(shape) ? to : NULL;
}

/* Checks that "sizes" of the input v has as many sizes as `said`, the sizes that follow from "shape" and "dims", and
 * the same ones where both are numbers.  Returns 0, or -1 and an error. */
static int check_sizes(struct reader *r, uint32_t v, const json_t *sizes, const json_t *said)
{
    size_t n = json_array_size(said);
    for (size_t k = 0; k < n || k < json_array_size(sizes); k++) {
        const json_t *size = json_array_get(sizes, k), *want = json_array_get(said, k);
        if (!size || !want ||
            (json_is_integer(size) && json_is_integer(want) && !json_equal(size, want)))
            return diag_error(r->d,
                              "%s: inputs: '%s': its \"sizes\" are not those of its \"shape\"",
                              r->path, r->s->value[v].name);
    }
    return 0;
}

/* Adds value v to the inputs of the split, and reads its sizes from its row of "inputs".  Returns 0, or -1 and an
 * error. */
static int read_input(struct reader *r, uint32_t v, const json_t *row)
{
    const json_t *said = sizes_of_shape(r, json_object_get(row, "shape"));
    const json_t *given = json_object_get(row, "sizes"), *sizes = given ? given : said;
    struct split_value *to = &r->s->value[v];
    if (r->made[v])
        return diag_error(r->d, "%s: inputs: '%s' is listed twice", r->path, to->name);
    if (json_array_size(sizes) > ENGINE_AXES)
        return diag_error(r->d, "%s: inputs: '%s': expected at most %d sizes, found %zu", r->path,
                          to->name, ENGINE_AXES, json_array_size(sizes));
    if (said && json_is_array(given) && check_sizes(r, v, given, said))
        return -1;
    r->made[v] = true;
    r->s->input[r->s->ninput++] = v;
    split_take_sizes(to, sizes, r->a);
    return 0;
}

/* Reads the rows of the list with this key, "inputs", "outputs" or "tensors": bytes of values; of inputs their sizes,
 * too; of outputs, that the model returns them.  Returns 0, or -1 and an error. */
static int read_rows(struct reader *r, const char *key)
{
    json_t *all = json_object_get(r->s->manifest, key), *row;
    bool inputs = !strcmp(key, "inputs"), outputs = !strcmp(key, "outputs");
    size_t i;
    if (!json_is_array(all))
        return diag_error(r->d, "%s: expected a list \"%s\"", r->path, key);
    if (inputs)
        r->s->input = arena_array(r->a, json_array_size(all) + 1, sizeof *r->s->input);
    json_array_foreach(all, i, row)
    {
        int64_t v = value_named(r, json_object_get(row, "name"), key);
        if (v < 0)
            return -1;
        json_int_in(json_object_get(row, "bytes"), 0, INT64_MAX, &r->s->value[v].bytes);
        r->s->value[v].nuses += outputs;
        if (inputs && read_input(r, (uint32_t)v, row))
            return -1;
    }
    return 0;
}

/* Whether value v was found before as a state or a piece of a state, which is an error and reported; notes it in
 * seen[v]. */
static bool is_twice(struct reader *r, uint32_t v, bool *seen)
{
    bool twice = seen[v];
    seen[v] = true;
    if (twice)
        diag_error(r->d, "%s: sharding: states: '%s' is listed twice", r->path,
                   r->s->value[v].name);
    return twice;
}

/* Reads how the input (end "in") or the output (end "out") of a state is cut into pieces, from a row of
 * sharding.states, which state_pieces() has checked, into *to.  seen: [value] for is_twice().  Returns 0, or -1 and an
 * error. */
static int read_cut(struct reader *r, const json_t *state, const char *end, bool *seen,
                    struct split_cut *to)
{
    json_t *pieces = json_object_get(state, "pieces"), *piece;
    int64_t axis = json_integer_value(json_object_get(state, "axis"));
    int64_t whole = value_named(r, json_object_get(state, end), "sharding");
    uint32_t *list = arena_array(r->a, json_array_size(pieces) + 1, sizeof *list);
    size_t k;
    *to = (struct split_cut){.piece = list, .axis = (uint32_t)axis};
    to->ways = (uint32_t)json_array_size(pieces);
    to->run = json_integer_value(json_object_get(state, "run"));
    to->whole = (uint32_t)whole;
    if (whole < 0 || is_twice(r, to->whole, seen))
        return -1;
    json_array_foreach(pieces, k, piece)
    {
        int64_t v = value_named(r, json_object_get(piece, end), "sharding");
        list[k] = (uint32_t)v;
        if (v < 0 || is_twice(r, list[k], seen))
            return -1;
    }
    return 0;
}

/* Reads the list of the model's inputs, and which of its inputs and outputs are in pieces.  Returns 0, or -1 and an
 * error. */
static int read_whole(struct reader *r)
{
    struct split *s = r->s;
    const json_t *states = json_object_get(json_object_get(s->manifest, "sharding"), "states");
    json_t *row, *inputs = (json_t *)(uintptr_t)split_list(s, "inputs");
    bool *seen = arena_array(r->a, (size_t)s->nvalue + 1, sizeof *seen);
    size_t i;
    s->ncut = (uint32_t)json_array_size(states);
    s->cut = arena_array(r->a, (size_t)s->ncut + 1, sizeof *s->cut);
    s->joined = arena_array(r->a, (size_t)s->ncut + 1, sizeof *s->joined);
    s->given = arena_array(r->a, json_array_size(inputs) + 1, sizeof *s->given);
    for (uint32_t k = 0; k < s->ncut; k++)
        if (read_cut(r, json_array_get(states, k), "in", seen, &s->cut[k]) ||
            read_cut(r, json_array_get(states, k), "out", seen, &s->joined[k]))
            return -1;
    for (uint32_t k = 0; k < s->ncut; k++)
        for (uint32_t p = 0; p < s->joined[k].ways; p++)
            s->value[s->joined[k].piece[p]].joined = k + 1;
    json_array_foreach(inputs, i, row)
    {
        int64_t v = value_named(r, json_object_get(row, "name"), "inputs");
        if (v < 0)
            return -1;
        s->given[s->ngiven++] = (uint32_t)v;
        if (s->ncut) /* else read_rows() reads the sizes */
            split_take_sizes(&s->value[v], json_object_get(row, "sizes"), r->a);
    }
    return 0;
}

const json_t *split_list(const struct split *s, const char *key)
{
    const json_t *whole = json_object_get(s->manifest, "whole");
    return json_object_get(whole ? whole : s->manifest, key);
}

/* Reads the list of a part's inputs, or of its outputs, into p's fields for these, and counts uses of inputs.  An input
 * must be there already, an output must be new.  Returns 0, or -1 and an error. */
static int read_side(struct reader *r, const json_t *list, bool inputs, struct split_part *p)
{
    uint32_t n = (uint32_t)json_array_size(list);
    uint32_t *at = arena_array(r->a, (size_t)n + 1, sizeof *at);
    const char **name = arena_array(r->a, (size_t)n + 1, sizeof *name);
    int64_t *bytes = arena_array(r->a, (size_t)n + 1, sizeof *bytes);
    if (!json_is_array(list))
        return diag_error(r->d, "%s: %s: expected lists \"inputs\" and \"outputs\"", r->path,
                          p->file);
    for (uint32_t k = 0; k < n; k++) {
        int64_t v = value_named(r, json_array_get(list, k), p->file);
        if (v < 0)
            return -1;
        if (r->made[v] != inputs)
            return diag_error(r->d, "%s: %s: '%s' is %s", r->path, p->file, r->s->value[v].name,
                              inputs ? "read before a part makes it" : "made twice");
        r->made[v] = true;
        r->s->value[v].nuses += inputs;
        at[k] = (uint32_t)v;
        name[k] = r->s->value[v].name;
        bytes[k] = r->s->value[v].bytes;
    }
    if (inputs) {
        p->in = at;
        p->in_name = name;
        p->nin = n;
    } else {
        p->out = at;
        p->out_name = name;
        p->nout = n;
        p->out_bytes = bytes;
    }
    return 0;
}

/* Reads a row of "parts" into *p, with the part's nodes from "nodes".  Returns 0, or -1 and an error. */
static int read_part(struct reader *r, const json_t *row, struct split_part *p)
{
    p->file = json_get_text(row, "file");
    p->device = json_get_text(row, "device");
    if (!p->file || !p->device || !*p->file || strchr(p->file, '/') || *p->file == '.')
        return diag_error(
            r->d, "%s: parts: expected \"file\", a file of the folder, and \"device\"", r->path);
    p->path = arena_fmt(r->a, "%s/%s", r->s->folder, p->file);
    double s = json_number_value(json_object_get(row, "compute_s"));
    bool fits = s >= 0 && s < 1e6; /* the time, in ps, fits an int64_t */
    p->compute_ps = json_is_number(json_object_get(row, "compute_s")) && fits
                        ? llround(s * (double)PS_PER_S)
                        : -1;
    p->live_bytes = -1;
    json_int_in(json_object_get(row, "live_peak_bytes"), 0, INT64_MAX, &p->live_bytes);
    const json_t *nodes = json_object_get(json_object_get(r->s->manifest, "nodes"), p->file);
    p->node = arena_array(r->a, json_array_size(nodes) + 1, sizeof *p->node);
    for (size_t k = 0; k < json_array_size(nodes); k++) {
        const char *name = json_string_value(json_array_get(nodes, k));
        if (!name)
            return diag_error(r->d, "%s: nodes: %s: expected names", r->path, p->file);
        p->node[p->nnode++] = name;
    }
    if (read_side(r, json_object_get(row, "inputs"), /*inputs=*/true, p))
        return -1;
    return read_side(r, json_object_get(row, "outputs"), /*inputs=*/false, p);
}

int split_read_manifest(struct split *s, const char *folder, struct arena *a, struct diag *d)
{
    size_t n, i;
    int64_t version;
    json_error_t e;
    json_t *row;
    *s = (struct split){.folder = folder};
    struct reader r = {.s = s, .path = arena_fmt(a, "%s/manifest.json", folder), .a = a, .d = d};
    char *text = infile_read(r.path, INFILE_PLAN, a, &n, d);
    if (!text)
        return -1;
    s->manifest = json_read(a, text, n, &e);
    if (!s->manifest)
        return diag_error(d, "%s:%d:%d: %s", r.path, e.line, e.column, e.text);
    if (!json_int_in(json_object_get(s->manifest, "pcc_manifest"), 1, 1, &version))
        return diag_error(d, "%s: expected a manifest with \"pcc_manifest\": 1", r.path);
    s->dims = json_object_get(s->manifest, "dims");
    if (state_pieces(s->manifest, r.path, a, d)) /* lists the pieces of states in "states" */
        return -1;
    json_t *parts = json_object_get(s->manifest, "parts");
    if (!json_is_array(parts))
        return diag_error(d, "%s: expected a list \"parts\"", r.path);
    s->part = arena_array(a, json_array_size(parts) + 1, sizeof *s->part);
    if (read_values(&r) || read_whole(&r) || read_rows(&r, "inputs") || read_rows(&r, "outputs") ||
        read_rows(&r, "tensors"))
        return -1;
    json_array_foreach(parts, i, row)
    {
        if (read_part(&r, row, &s->part[s->npart]))
            return -1;
        s->npart++;
    }
    return s->npart > 0 ? 0 : diag_error(d, "%s: it has no parts", r.path);
}

int split_read(struct split *s, const char *folder, struct arena *a, struct diag *d)
{
    if (split_read_manifest(s, folder, a, d))
        return -1;
    for (uint32_t k = 0; k < s->npart; k++)
        if (access(s->part[k].path, R_OK))
            return diag_error(d, "%s: it does not exist, but %s/manifest.json lists it",
                              s->part[k].path, folder);
    return 0;
}

int split_read_text(struct json_text *to, const char *folder, const char *file, struct arena *a,
                    struct diag *d)
{
    to->path = arena_fmt(a, "%s/%s", folder, file);
    to->text = infile_read(to->path, INFILE_PLAN, a, &to->n, d);
    return to->text ? 0 : -1;
}

const char *split_plan_text(const struct split *s, struct arena *a)
{
    char *nodes = json_dumps(json_object_get(s->manifest, "nodes"), JSON_COMPACT | JSON_SORT_KEYS);
    const char *text = arena_fmt(a, "%s", nodes ? nodes : "");
    free(nodes);
    for (uint32_t k = 0; k < s->npart; k++)
        text = arena_fmt(a, "%s %s", text, s->part[k].device);
    return text;
}

struct engine_load split_load(const struct split_part *p, int threads, bool optimise)
{
    return (struct engine_load){.path = p->path,
                                .data = p->data,
                                .threads = threads,
                                .optimise = optimise,
                                .node = p->node,
                                .nnode = p->nnode};
}
