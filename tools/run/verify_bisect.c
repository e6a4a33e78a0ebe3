/* Finds the first value that differs (verify_bisect.h).
 *
 * Both sides run on one sample, with all values of a piece of the model's order as outputs, of copies of their files in
 * a temporary folder.  Pieces follow each other until one has a value that differs, so all values before it are known
 * to be equal.  A piece has as many values as memory holds, by their sizes in the plan.  A piece that does not load or
 * run is halved; a single value with which the files do not run is skipped.  Both sides run as often as the bytes of
 * all values are more than the bytes that memory holds, at least once. */
#include "tools/run/verify_bisect.h"

#include "ir/base/csr.h"
#include "ir/base/numbers.h"
#include "ir/base/strings.h"
#include "ir/base/units.h"
#include "tools/run/extra_outputs.h"
#include "tools/run/scratch.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* RETRY: result of a run that failed and may be tried with fewer values.  GIVE_UP: the search ends if this many single
 * values have failed, one after the other, and no run has succeeded. */
enum { RETRY = 1, GIVE_UP = 16 };

/* A value that the model and a file of the side make. */
struct common {
    const char *name;
    nid node;       /* node of the model that makes the value */
    uint32_t outno; /* number of the value among the results of the node */
    uint32_t file;  /* number of the side's file that makes the value */
    int64_t bytes;  /* bytes of the value in the plan */
};

/* The search. */
struct search {
    const struct verifying *v;
    const struct verify_side *side;
    struct engine_value *const *input; /* [value of the split] inputs of the sample */
    struct common *value;              /* [n] in the order of the model, then of the side's files */
    uint32_t n;
    uint32_t *maker; /* [value of the split] file of the side that makes it; UINT32_MAX: none */
    const char *folder[2]; /* folders for copies: [0] of the model, [1] of files of the side */
    struct verify_first *out;
};

/* A run with entries [from, to) of search.value as outputs. */
struct piece {
    uint32_t from, to;
    struct engine_value **made; /* [2 * (to - from)] values of the model, then values of the side */
    /* [to - from] address of the side's value: in made[], or in the table */
    struct engine_value ***at;
    struct engine_value **table; /* [value of the split] inputs, and what files of the side make */
    struct arena *a;
};

/* ---- the values ------------------------------------------------------------------------------- */

/* Compares two entries for qsort(): by the order of the model's nodes; entries of one value by the number of the
 * file. */
static int by_order(const void *x, const void *y)
{
    const struct common *a = x, *b = y;
    if (a->node != b->node)
        return a->node < b->node ? -1 : 1;
    if (a->outno != b->outno)
        return a->outno < b->outno ? -1 : 1;
    return (a->file > b->file) - (a->file < b->file);
}

/* Returns a table of the values that nodes of the main graph make: name -> value. */
static struct names made_values(const struct module *m, struct arena *a)
{
    const struct graph *g = &m->graph[1];
    struct names names = names_new(a, m->nval);
    for (nid n = g->first; n < g->first + g->count; n++)
        for (uint32_t i = 0; i < m->node[n].out.n; i++)
            if (node_out(m, n, i))
                names_add(&names, value_name(m, node_out(m, n, i)), node_out(m, n, i));
    return names;
}

/* Lists in s->value the values that nodes of the model and of a file of the side make, by their names, but for those
 * that depend on a random operator. */
static void list_values(struct search *s)
{
    const struct verifying *v = s->v;
    const struct module *whole = v->whole.m[0];
    struct names made = made_values(whole, v->a);
    uint32_t cap = 0;
    for (uint32_t k = 0; k < s->side->npart; k++) {
        const struct module *m = s->side->m[k];
        const struct graph *g = &m->graph[1];
        for (nid n = g->first; n < g->first + g->count; n++)
            for (uint32_t i = 0; i < m->node[n].out.n; i++) {
                vid x = node_out(m, n, i);
                vid at = x ? names_get(&made, value_name(m, x), 0) : 0;
                if (!at || v->of_random[at])
                    continue;
                s->value = vec_grow(v->a, s->value, &cap, s->n + 1, sizeof *s->value);
                s->value[s->n++] = (struct common){value_name(whole, at), whole->value[at].def,
                                                   whole->value[at].outno, k, v->bytes[at]};
            }
    }
    qsort(s->value, s->n, sizeof *s->value, by_order);
}

/* ---- a run ------------------------------------------------------------------------------------ */

/* The values that one file must make in a run. */
struct request {
    const struct split_part *part;
    const struct module *m;
    const char *folder;        /* folder for a copy of the file, with links to external data */
    const char **name;         /* [n] values that are asked for */
    struct engine_value ***to; /* [n] address to which each value is written */
    uint32_t n;
};

/* Returns an empty request to a file of a side, with room for n values. */
static struct request request_new(const struct verify_side *side, uint32_t file, const char *folder,
                                  uint32_t n, struct arena *a)
{
    return (struct request){.part = &side->part[file],
                            .m = side->m[file],
                            .folder = folder,
                            .name = arena_array(a, (size_t)n + 1, sizeof(char *)),
                            .to = arena_array(a, (size_t)n + 1, sizeof(struct engine_value **))};
}

/* Adds a value to a request; the run writes it to *to. */
static void request_add(struct request *q, const char *name, struct engine_value **to)
{
    q->name[q->n] = name;
    q->to[q->n++] = to;
}

/* Returns the path of a file that returns the values of the request: the part's file, or a copy with more outputs; NULL
 * after an error. */
static const char *file_for(const struct search *s, const struct request *q, struct arena *a)
{
    const struct graph *g = &q->m->graph[1];
    struct names has = names_new(a, g->out.n);
    const char **more = arena_array(a, (size_t)q->n + 1, sizeof *more);
    uint32_t nmore = 0;
    for (uint32_t i = 0; i < g->out.n; i++)
        names_add(&has, value_name(q->m, q->m->arg[g->out.at + i]), 1);
    for (uint32_t i = 0; i < q->n; i++)
        if (!names_get(&has, q->name[i], 0))
            more[nmore++] = q->name[i];
    if (nmore == 0)
        return q->part->path;
    const char *path = arena_fmt(a, "%s/%s", q->folder, q->part->file);
    return extra_outputs(q->part->path, path, more, nmore, a, s->v->d) ? NULL : path;
}

/* Runs the file of a request with the inputs in the table, and writes the values to where the request says.  Returns 0;
 * RETRY: the file does not load or run, and s->out->why has the first such reason; -1 after an error, or Ctrl-C. */
static int run_request(const struct search *s, const struct request *q,
                       struct engine_value *const *table, struct arena *a)
{
    const struct split_part *p = q->part;
    const struct engine_face *face = s->v->e->face;
    const char *path = *s->v->stop ? NULL : file_for(s, q, a), *base = path_base(p->path);
    struct engine_error err;
    if (!path)
        return -1;
    const char *data = NULL; /* a copy's external data lie in the folder of the part's own file */
    if (path != p->path)
        data = base == p->path ? "." : arena_strdup(a, p->path, (size_t)(base - p->path));
    const struct engine_load how = {
        .path = path, .threads = 1, .data = data, .node = p->node, .nnode = p->nnode};
    struct engine_value **in = arena_array(a, (size_t)p->nin + 1, sizeof *in);
    struct engine_value **out = arena_array(a, (size_t)q->n + 1, sizeof *out);
    for (uint32_t i = 0; i < p->nin; i++)
        in[i] = table[p->in[i]];
    const struct engine_call call = {.in_name = p->in_name,
                                     .in = in,
                                     .nin = p->nin,
                                     .out_name = q->name,
                                     .out = out,
                                     .nout = q->n};
    struct loaded *l = face->load(s->v->e, &how, &err);
    int rc = l ? face->run(l, &call, &err) : -1;
    for (uint32_t i = 0; i < q->n; i++)
        *q->to[i] = out[i];
    if (l)
        face->unload(l);
    if (rc && !*s->out->why.line)
        s->out->why = err;
    return rc ? RETRY : 0;
}

/* Runs the model for the values of a piece.  Returns what run_request() returns. */
static int run_model(const struct search *s, const struct piece *p)
{
    struct request q = request_new(&s->v->whole, 0, s->folder[0], p->to - p->from, p->a);
    for (uint32_t i = p->from; i < p->to; i++)
        if (i == p->from || strcmp(s->value[i].name, s->value[i - 1].name) != 0)
            request_add(&q, s->value[i].name, &p->made[i - p->from]);
    return q.n ? run_request(s, &q, p->table, p->a) : 0;
}

/* Runs the files of the side, up to the last one that makes a value of the piece.  by_file: file -> values of the
 * piece, as indices from 0 on.  Returns what run_request() returns. */
static int run_side(const struct search *s, const struct piece *p, const struct csr *by_file)
{
    uint32_t n = p->to - p->from, last = 0;
    for (uint32_t i = p->from; i < p->to; i++)
        last = larger_u32(last, s->value[i].file);
    int rc = 0;
    for (uint32_t k = 0; k <= last && !rc; k++) {
        const struct split_part *part = &s->side->part[k];
        struct request q = request_new(s->side, k, s->folder[1],
                                       part->nout + by_file->at[k + 1] - by_file->at[k], p->a);
        for (uint32_t i = 0; i < part->nout; i++)
            request_add(&q, part->out_name[i], &p->table[part->out[i]]);
        for_row (i, *by_file, k) {
            uint32_t out = names_get(&s->v->values, s->value[p->from + i].name, UINT32_MAX);
            bool asked = out != UINT32_MAX && s->maker[out] == k;
            p->at[i] = asked ? &p->table[out] : &p->made[n + i];
            if (!asked)
                request_add(&q, s->value[p->from + i].name, p->at[i]);
        }
        rc = run_request(s, &q, p->table, p->a);
    }
    return rc;
}

/* Frees all values of a run but the inputs of the sample. */
static void free_made(const struct search *s, const struct piece *p)
{
    struct engine *e = s->v->e;
    for (uint32_t i = 0; i < 2 * (p->to - p->from); i++)
        e->face->value_free(e, p->made[i]);
    for (uint32_t k = 0; k < s->v->s->nvalue; k++)
        if (p->table[k] != s->input[k])
            e->face->value_free(e, p->table[k]);
}

/* Compares the values of a run, and counts those that are equal in s->out->equal.  Returns the entry of the first one
 * that differs, whose difference is in s->out->how; p->to: none does. */
static uint32_t compare(const struct search *s, const struct piece *p)
{
    for (uint32_t i = p->from, model = p->from; i < p->to; i++) {
        const struct common *c = &s->value[i];
        /* entries of further files with a copy of the node follow, and have no value of the model */
        if (strcmp(c->name, s->value[model].name) != 0)
            model = i;
        same_compare(s->v->e, p->made[model - p->from], *p->at[i - p->from], &s->out->how);
        bool rounded =
            (s->side == &s->v->parts && s->out->how.near && verify_rounds(s->v, c->name)) ||
            verify_tolerates(s->v, &s->out->how);
        if (!s->out->how.bits && !rounded)
            return i;
        s->out->equal++;
    }
    return p->to;
}

/* Runs both sides with the values [from, to) as outputs and writes to *found the first of them that differs; `to`:
 * none does.  Returns 0, RETRY or -1, as run_request() does. */
static int run_piece(const struct search *s, uint32_t from, uint32_t to, uint32_t *found)
{
    uint32_t n = to - from;
    struct piece p = {.from = from, .to = to, .a = arena_new(s->v->a)};
    uint32_t *file = arena_array(p.a, (size_t)n + 1, sizeof *file);
    p.made = arena_array(p.a, 2 * (size_t)n + 1, sizeof *p.made);
    p.at = arena_array(p.a, (size_t)n + 1, sizeof *p.at);
    p.table = arena_copy(p.a, s->input, ((size_t)s->v->s->nvalue + 1) * sizeof *p.table);
    for (uint32_t i = 0; i < n; i++)
        file[i] = s->value[from + i].file;
    const struct csr by_file = csr_build(p.a, s->side->npart, n, file, NULL);
    int rc = run_model(s, &p);
    if (!rc)
        rc = run_side(s, &p, &by_file);
    s->out->runs += rc >= 0;
    if (!rc)
        *found = compare(s, &p);
    free_made(s, &p);
    arena_free(p.a);
    return rc;
}

/* ---- the search ------------------------------------------------------------------------------- */

/* Returns the end of a piece that begins at `from` and takes at most `memory` bytes on both sides together; it has one
 * value at least, and `most` values at most. */
static uint32_t piece_end(const struct search *s, uint32_t from, int64_t memory, uint32_t most)
{
    int64_t bytes = 0;
    uint32_t to = from;
    for (; to < s->n && to - from < most; to++) {
        bytes = sat_add(bytes, sat_mul(2, s->value[to].bytes));
        if (bytes > memory && to > from)
            break;
    }
    return to;
}

/* Returns the name of an operand that c's node has in the model, but that no value of the file has; NULL: there is
 * none, or the file makes the value by another node. */
static const char *lost_operand(const struct search *s, const struct common *c)
{
    const struct module *m = s->v->whole.m[0], *f = s->side->m[c->file];
    struct names has = names_new(s->v->a, f->nval);
    for (vid v = 1; v < f->nval; v++)
        if (f->value[v].graph == 1)
            names_add(&has, value_name(f, v), v);
    nid n = c->node, there = f->value[names_get(&has, c->name, 0)].def;
    if (strcmp(node_name(f, there), node_name(m, n)) != 0 ||
        strcmp(node_op(f, there), node_op(m, n)) != 0)
        return NULL;
    for (uint32_t k = 0; k < m->node[n].in.n; k++)
        if (node_in(m, n, k) && !names_get(&has, value_name(m, node_in(m, n, k)), 0))
            return value_name(m, node_in(m, n, k));
    return NULL;
}

/* Fills in the result: the value of entry i differs. */
static void describe(const struct search *s, uint32_t i)
{
    const struct module *m = s->v->whole.m[0];
    const struct common *c = &s->value[i];
    s->out->value = c->name;
    s->out->node = node_name(m, c->node);
    s->out->op = node_op(m, c->node);
    s->out->file = s->side->part[c->file].file;
    s->out->device = s->side->part[c->file].device;
    s->out->lost = lost_operand(s, c);
}

/* Makes the folders for copies, with links to the external data; the list of makers; and the list of values.  Returns
 * 0, or -1 after an error. */
static int prepare(struct search *s)
{
    const struct verifying *v = s->v;
    const char *folder = scratch_folder(v->a, v->d);
    if (!folder)
        return -1;
    for (int i = 0; i < 2; i++) {
        s->folder[i] = arena_fmt(v->a, "%s/%s", folder, i ? "side" : "model");
        mkdir(s->folder[i], 0700); /* an error shows when files are written there */
    }
    extra_outputs_links(v->whole.m[0], s->folder[0], v->a);
    for (uint32_t k = 0; k < s->side->npart; k++)
        extra_outputs_links(s->side->m[k], s->folder[1], v->a);
    s->maker = arena_array(v->a, (size_t)v->s->nvalue + 1, sizeof *s->maker);
    memset(s->maker, 0xff, v->s->nvalue * sizeof *s->maker); /* all UINT32_MAX: none */
    for (uint32_t k = 0; k < s->side->npart; k++)
        for (uint32_t i = 0; i < s->side->part[k].nout; i++)
            s->maker[s->side->part[k].out[i]] = k;
    list_values(s);
    return 0;
}

int verify_bisect(const struct verifying *v, const struct verify_side *side,
                  struct engine_value *const *table, int64_t memory, struct verify_first *out)
{
    struct search s = {.v = v, .side = side, .input = table, .out = out};
    uint32_t most = UINT32_MAX, from = 0, found = 0;
    bool ran = false;
    *out = (struct verify_first){0};
    if (prepare(&s))
        return -1;
    while (from < s.n) {
        uint32_t to = piece_end(&s, from, memory, most);
        int rc = run_piece(&s, from, to, &found);
        if (rc < 0)
            return -1;
        if (rc == RETRY && to - from > 1) { /* tries the first half of the piece */
            most = (to - from) / 2;
            continue;
        }
        if (!rc && found < to) {
            describe(&s, found);
            return 0;
        }
        out->skipped += rc == RETRY;
        ran |= !rc;
        if (!ran && out->skipped == GIVE_UP)
            return diag_error(v->d, "no copy runs that has more outputs: %s", out->why.line);
        from = to;
        most = most > UINT32_MAX / 2 ? UINT32_MAX : most * 2; /* pieces grow again */
    }
    return 0;
}
