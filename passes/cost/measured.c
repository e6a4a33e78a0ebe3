/* Reads files of times and memory into sheets (sheets.h).
 *
 * A file has one of four forms (costs.md): a table of nodes and operator types (CSV, or a JSON list with the same
 * keys), which may begin with facts about the measurement (table_facts.h); a file of pcc-profile, a JSON object with
 * such a list; a trace of a run (run_trace.h); or a profile by ONNX Runtime, a JSON list of trace events.  Its content
 * decides which.  Names get ids in the cost table; the module is not changed.  Each row of a table is stored at once in
 * an array by node or by operator type.  Events are sorted by node and time, and the time of a node is the median of
 * its events.  O(nodes * classes + rows), O(events log events). */
#include "passes/cost/run_trace.h"
#include "passes/cost/sheets.h"
#include "passes/cost/table_facts.h"

#include "ir/base/csv_in.h"
#include "ir/base/infile.h"
#include "ir/base/json_in.h"
#include "ir/base/strings.h"
#include "ir/base/units.h"
#include "ir/base/utf8.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PS_PER_US INT64_C(1000000)
/* the least time of a node from a profile; a profile's clock ticks in microseconds, so it states shorter times as 0 */
#define FLOOR_PS INT64_C(100000)

/* The state of reading one file into a sheet. */
struct reader {
    struct ctx *x;
    const struct cost_table *t; /* says which rows nodes and operators have */
    struct sheet *to;           /* what the file is read into */
    const char *path;           /* path of the file */
    /* the node, operator or class that the first row counted in `unknown` names */
    const char *first_unknown;
    uint32_t filter;  /* bit k: the file is for class k */
    uint32_t unknown; /* number of rows that name a node, operator or class that does not exist */
    /* where the last row stood: before, among or behind the facts at the top of the file */
    enum facts facts;
    bool sized; /* the file says at which sizes it was measured */
    size_t row; /* for messages: line of a CSV file; index in a JSON list */
};

/* Keys of the columns of a table (costs.md).  KEY_PS: the key ps_CLASS; KEY_SKIP: any key of a column that is
 * ignored. */
enum key { KEY_NAME, KEY_OP, KEY_CLASS, KEY_TIME, KEY_MEMORY, KEY_PS, KEY_SKIP };

/* One row of a table. */
struct row {
    const char *name, *op, *cls; /* NULL: absent or empty */
    int64_t time, memory;        /* ps, bytes; NONE: absent or empty */
    int64_t ps[CLUSTER_CLASSES]; /* [class] ps by a column ps_CLASS; NONE: no such column */
    bool absent; /* the row gives a time for a class of devices that the cluster does not have */
};

struct column {
    enum key key;
    uint32_t classes; /* KEY_PS: bit k: the column is for class k */
};

/* Returns the classes with this name, as bits. */
static uint32_t classes_named(const struct cluster *c, const char *name)
{
    uint32_t bits = 0;
    for (uint32_t k = 0; k < c->ncls; k++)
        bits |= strcmp(c->cls[k].name, name) == 0 ? 1u << k : 0;
    return bits;
}

/* Reports an error in the present row, and returns -1. */
static int bad_row(const struct reader *r, const char *what)
{
    return diag_error(r->x->use.diag, "%s: row %zu: %s", r->path, r->row, what);
}

/* ---- rows ------------------------------------------------------------------------------------- */

/* Writes to *out what a column with the key s holds; returns false if there is no such key. */
static bool key_of(const struct cluster *c, const char *s, struct column *out)
{
    /* the first values of enum key, in their order */
    static const char *const names[] = {"name", "op", "class", "time", "memory"};
    static const char *const skipped[] = {"flops", "traffic_bytes", "result_bytes"};
    *out = (struct column){.key = KEY_SKIP};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(s, names[i]) == 0) {
            out->key = (enum key)i;
            return true;
        }
    for (unsigned i = 0; i < sizeof skipped / sizeof *skipped; i++)
        if (strcmp(s, skipped[i]) == 0)
            return true;
    if (strncmp(s, "ps_", 3) != 0 || s[3] == 0)
        return false;
    *out = (struct column){KEY_PS, classes_named(c, s + 3)};
    return true;
}

/* Reports that `key` is no key of a table, and returns -1. */
static int unknown_key(const struct reader *r, const char *key)
{
    return diag_error(
        r->x->use.diag,
        "%s: row %zu: unknown key '%s', expected name, op, class, time, memory, ps_CLASS, "
        "flops, traffic_bytes or result_bytes",
        r->path, r->row, key);
}

/* Writes to *ps the time that s means: "12.5us", an integer of ps, or "never" (COST_NEVER).  Returns false if s is no
 * time, or too long. */
static bool time_text(const char *s, int64_t *ps)
{
    if (strcmp(s, "never") == 0) {
        *ps = COST_NEVER;
        return true;
    }
    bool digits = *s != 0 && s[strspn(s, "0123456789")] == 0;
    return (digits ? count_parse(s, ps) : time_parse(s, ps)) && *ps <= FIT_QUANTITY_MAX;
}

/* Stores the size that s means in row->memory.  Returns 0, or -1 and reports an error. */
static int put_memory(const struct reader *r, struct row *row, const char *s)
{
    if (bytes_parse(s, &row->memory) && row->memory <= FIT_QUANTITY_MAX)
        return 0;
    return diag_error(r->x->use.diag,
                      "%s: row %zu: memory '%.60s', expected a size such as 4KiB, or an integer of "
                      "bytes below 2^60",
                      r->path, r->row, s);
}

/* Stores the text s of a cell in column *c in *row.  Returns 0, or -1 and reports an error. */
static int put_cell(const struct reader *r, struct row *row, const struct column *c, const char *s)
{
    int64_t t = COST_NEVER; /* what an empty cell of a column ps_CLASS means */
    const char *text = *s != 0 ? s : NULL;
    switch (c->key) {
    case KEY_SKIP:
        return 0;
    case KEY_NAME:
        row->name = text;
        return 0;
    case KEY_OP:
        row->op = text;
        return 0;
    case KEY_CLASS:
        row->cls = text;
        return 0;
    default:
        break;
    }
    if (!text && c->key != KEY_PS)
        return 0;
    if (c->key == KEY_MEMORY)
        return put_memory(r, row, s);
    if (text && !time_text(s, &t))
        return diag_error(
            r->x->use.diag,
            "%s: row %zu: time '%.60s', expected a time such as 12.5us, an integer of "
            "picoseconds below 2^60, or never",
            r->path, r->row, s);
    if (c->key == KEY_TIME) {
        row->time = t;
        return 0;
    }
    for (uint32_t k = 0; k < r->x->scene.cluster->ncls; k++)
        if ((c->classes >> k & 1) != 0)
            row->ps[k] = t;
    row->absent = row->absent || c->classes == 0;
    return 0;
}

/* Makes *row empty. */
static void begin_row(struct row *row)
{
    *row = (struct row){.time = NONE, .memory = NONE};
    for (uint32_t k = 0; k < CLUSTER_CLASSES; k++)
        row->ps[k] = NONE;
}

/* Counts a row that names something that does not exist; `name`, the first time, is kept for the warning. */
static void count_unknown(struct reader *r, const char *name)
{
    if (r->unknown++ == 0)
        r->first_unknown = arena_strdup(r->x->use.scratch, name, strlen(name));
}

/* Returns the row (of the cost table) of the node with this name; 0: there is no such node, or op is not NULL and
 * differs from the node's operator. */
static uint32_t find_row(const struct cost_table *t, const char *name, const char *op)
{
    uint32_t id = strings_id(t->names, name, strlen(name)), n = id <= t->nname ? t->row_of[id] : 0;
    return n != 0 && (!op || t->op_of[n] == strings_id(t->ops, op, strlen(op))) ? n : 0;
}

/* Returns find_row() of the two texts, in which the escapes \xNN that --emit csv has written are replaced by their
 * characters; if there is no such node, returns find_row() of the texts as they are. */
static uint32_t find_escaped(const struct reader *r, const char *name, const char *op)
{
    struct arena *a = r->x->use.scratch;
    uint32_t n = find_row(r->t, utf8_unescaped(a, name), op ? utf8_unescaped(a, op) : NULL);
    return n != 0 ? n : find_row(r->t, name, op);
}

/* Returns the address of element i of the array *of.  If *of is NULL, allocates the array first, with n elements that
 * are NONE. */
static int64_t *cell_at(struct arena *a, int64_t **of, uint32_t i, uint32_t n)
{
    if (*of == NULL) {
        *of = arena_array(a, n, sizeof **of);
        for (uint32_t k = 0; k < n; k++)
            (*of)[k] = NONE;
    }
    return &(*of)[i];
}

/* Stores a time in the sheet for class k.  at: a row of the cost table if `node`, else an operator type. */
static void put_time(const struct reader *r, bool node, uint32_t at, uint32_t k, int64_t time)
{
    int64_t **of = node ? &r->to->node_time[k] : &r->to->op_time[k];
    *cell_at(r->x->use.scratch, of, at, node ? r->t->nrow : r->t->nop + 1) = time;
}

/* Stores bytes in the sheet, unless it has a larger number for this place already.  node, at: as in put_time(). */
static void put_bytes(const struct reader *r, bool node, uint32_t at, int64_t bytes)
{
    int64_t **of = node ? &r->to->node_memory : &r->to->op_memory;
    int64_t *cell = cell_at(r->x->use.scratch, of, at, node ? r->t->nrow : r->t->nop + 1);
    *cell = larger(bytes, *cell);
}

/* Stores the times and memory of *row in the sheet.  at: as in put_time(); classes: bits of the classes that the row is
 * for. */
static void put_row(const struct reader *r, const struct row *row, uint32_t at, uint32_t classes)
{
    for (uint32_t k = 0; k < r->x->scene.cluster->ncls; k++) {
        int64_t time = row->time != NONE ? row->time : row->ps[k];
        if (classes >> k & 1 && time != NONE)
            put_time(r, row->name != NULL, at, k, time);
    }
    if (row->memory != NONE && classes != 0)
        put_bytes(r, row->name != NULL, at, row->memory);
}

/* Checks a row of a table and stores it in the sheet.  A row that is a fact is passed over; a row that names something
 * that does not exist is counted (r->unknown).  Returns 0, or -1 and reports an error. */
static int apply_row(struct reader *r, const struct row *row)
{
    const struct cost_table *t = r->t;
    const uint32_t ncls = r->x->scene.cluster->ncls;
    /* what the row is about, as in put_time(); 0: there is no such node or operator type */
    uint32_t at = 0;
    bool by_class = row->absent; /* a column ps_CLASS gives a time */
    r->facts = facts_next(r->facts, row->name);
    r->sized = r->sized || r->facts == FACTS_HERE;
    /* a row of facts of the whole file, which table_facts_read() has read before */
    if (r->facts == FACTS_HERE)
        return 0;
    if (!row->name && !row->op)
        return bad_row(r, "expected a name or an op");
    for (uint32_t k = 0; k < ncls; k++)
        by_class = by_class || row->ps[k] != NONE;
    if (row->time == NONE && !by_class && row->memory == NONE)
        return bad_row(r, "expected a time or memory");
    if (row->time != NONE && by_class)
        return bad_row(r, "it has both time and ps_CLASS, expected one of them");
    if (row->name) {
        at = find_escaped(r, row->name, row->op);
    } else {
        at = strings_id(t->ops, row->op, strlen(row->op));
        at = at <= t->nop ? at : 0;
    }
    uint32_t classes = row->cls ? classes_named(r->x->scene.cluster, row->cls) : UINT32_MAX;
    if (at == 0 || classes == 0 || row->absent)
        count_unknown(r, at == 0        ? (row->name ? row->name : row->op)
                         : classes == 0 ? row->cls
                                        : "a ps_ column");
    if (at != 0)
        put_row(r, row, at, r->filter & classes);
    return 0;
}

/* ---- CSV -------------------------------------------------------------------------------------- */

/* Where several columns bear the name that several classes have, assigns them in order: the first column to the first
 * of these classes, the second column to the second class, and so on. */
static void spread_columns(const struct reader *r, struct column *col, char *const *name,
                           uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        /* same: number of columns with the name of column i; before: how many of them stand before it; seen: number of
         * classes with that name so far */
        uint32_t same = 0, before = 0, seen = 0;
        if (col[i].key != KEY_PS)
            continue;
        for (uint32_t j = 0; j < n; j++) {
            bool equal = strcmp(name[i], name[j]) == 0;
            same += equal;
            before += equal && j < i;
        }
        if (same == 1)
            continue;
        for (uint32_t k = 0; k < r->x->scene.cluster->ncls; k++) {
            uint32_t bit = 1u << k;
            if ((col[i].classes & bit) != 0 && seen++ != before)
                col[i].classes &= ~bit;
        }
    }
}

enum { COLUMNS = 64 };

/* Reads the header line at *s: col[*ncol] are the columns.  Returns 0, or -1 and reports an error. */
static int read_header(struct reader *r, char **s, struct column *col, uint32_t *ncol)
{
    char *name[COLUMNS], stop = ',';
    uint32_t n = 0, have = 0;
    r->row = 1;
    while (stop == ',') {
        if (n == COLUMNS)
            return bad_row(r, "more than 64 columns");
        if (!csv_field(s, &name[n], &stop))
            return bad_row(r, "a quoted field does not end before a comma or line end");
        if (!key_of(r->x->scene.cluster, name[n], &col[n]))
            return unknown_key(r, name[n]);
        uint32_t bit = 1u << col[n].key;
        if (col[n].key < KEY_PS && (have & bit) != 0)
            return bad_row(r, "a column comes twice");
        have |= bit;
        n++;
    }
    if ((have & (1u << KEY_NAME | 1u << KEY_OP)) == 0 ||
        (have & (1u << KEY_TIME | 1u << KEY_MEMORY | 1u << KEY_PS)) == 0)
        return bad_row(r, "expected a header such as name,op,class,time");
    spread_columns(r, col, name, n);
    *ncol = n;
    return 0;
}

/* Reads a table in CSV, the text s, which is overwritten.  Returns 0, or -1 and reports an error. */
static int read_csv(struct reader *r, char *s)
{
    struct column col[COLUMNS];
    struct row row;
    uint32_t n = 0;
    s += strncmp(s, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0; /* spreadsheets write a byte order mark */
    if (read_header(r, &s, col, &n) != 0)
        return -1;
    while (*s != 0) {
        char *cell, stop = ',';
        uint32_t i = 0;
        r->row++;
        begin_row(&row);
        for (; stop == ','; i++) {
            if (!csv_field(&s, &cell, &stop))
                return bad_row(r, "a quoted field does not end before a comma or line end");
            if (i == 0 && stop != ',' && *cell == 0 && n > 1)
                break; /* an empty line */
            if (i < n && put_cell(r, &row, &col[i], csv_plain(cell)) != 0)
                return -1;
        }
        if (i == 0)
            continue;
        if (i != n)
            return diag_error(r->x->use.diag, "%s: row %zu: %u fields, expected %u", r->path,
                              r->row, i, n);
        if (apply_row(r, &row) != 0)
            return -1;
    }
    return 0;
}

/* ---- JSON ------------------------------------------------------------------------------------- */

/* Reads a table that is a JSON list of objects.  Returns 0, or -1 and reports an error. */
static int read_objects(struct reader *r, json_t *list)
{
    size_t i;
    json_t *object, *v;
    const char *key;
    json_array_foreach(list, i, object)
    {
        struct row row;
        struct column c;
        char number[32];
        r->row = i;
        begin_row(&row);
        if (!json_is_object(object))
            return bad_row(r, "expected an object with name or op, and time");
        json_object_foreach(object, key, v)
        {
            const char *s = json_is_string(v) ? json_string_value(v) : NULL;
            if (!key_of(r->x->scene.cluster, key, &c))
                return unknown_key(r, key);
            if (json_is_integer(v) && c.key >= KEY_TIME) {
                snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
                s = number;
            }
            /* null is an empty cell, but a time must be given */
            s = json_is_null(v) && c.key != KEY_TIME ? "" : s;
            if (c.key != KEY_SKIP && !s)
                return diag_error(r->x->use.diag, "%s: row %zu: \"%s\": expected a text%s", r->path,
                                  i, key,
                                  c.key == KEY_MEMORY ? " such as 4KiB or an integer"
                                  : c.key >= KEY_TIME ? " such as 12.5us or an integer"
                                                      : "");
            if (put_cell(r, &row, &c, s ? s : "") != 0)
                return -1;
        }
        if (apply_row(r, &row) != 0)
            return -1;
    }
    return 0;
}

/* ---- ONNX Runtime's profile ------------------------------------------------------------------- */

/* One run of a node in a profile. */
struct event {
    uint32_t node;      /* row of the cost table */
    int64_t us, memory; /* duration; bytes of the results, NONE: not given */
};

/* Compares events by node, then by duration, for qsort(). */
static int by_node(const void *a, const void *b)
{
    const struct event *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return x->us < y->us ? -1 : x->us > y->us;
}

/* Returns the nodes of the main graph, in a, in the order in which ONNX Runtime numbers them, and writes their number
 * to *n.  Constants are left out, since ONNX Runtime turns them into initializers first. */
static nid *runtime_order(const struct module *m, struct arena *a, uint32_t *n)
{
    const struct graph *g = &m->graph[1];
    nid *order = arena_array(a, (size_t)g->count + 1, sizeof *order);
    *n = 0;
    for (nid k = g->first; k < g->first + g->count; k++)
        if (!node_is(m, k, "Constant"))
            order[(*n)++] = k;
    return order;
}

/* Returns the row of the node of event e; 0: not found.  name: the node's name in the profile, which is OPERATOR_INDEX
 * for a node without a name; order, n: from runtime_order(). */
static uint32_t event_row(const struct reader *r, const json_t *e, const char *name,
                          const nid *order, uint32_t n)
{
    const json_t *args = json_object_get(e, "args");
    const char *op = json_get_text(args, "op_name");
    const char *index = json_get_text(args, "node_index");
    int64_t k;
    if (op && index && strcmp(name, arena_fmt(r->x->use.scratch, "%s_%s", op, index)) == 0 &&
        count_parse(index, &k) && k >= 0 && k < n && strcmp(node_op(r->t->m, order[k]), op) == 0)
        return order[k];
    return find_row(r->t, name, op);
}

/* Stores the median time, at least FLOOR_PS, and the largest memory of each node in the sheet; returns the number of
 * nodes.  Sorts e[n]. */
static uint32_t put_medians(struct reader *r, struct event *e, size_t n)
{
    uint32_t nodes = 0;
    qsort(e, n, sizeof *e, by_node);
    for (size_t i = 0, end; i < n; i = end, nodes++) {
        for (end = i; end < n && e[end].node == e[i].node; end++)
            if (r->filter != 0 && e[end].memory != NONE)
                put_bytes(r, /*node=*/true, e[end].node, e[end].memory);
        /* the two events in the middle, or twice the one in the middle */
        size_t at = i + (end - i - 1) / 2, other = i + (end - i) / 2;
        int64_t ps = (e[at].us + e[other].us) * (PS_PER_US / 2);
        for (uint32_t k = 0; k < r->x->scene.cluster->ncls; k++)
            if ((r->filter >> k & 1) != 0)
                put_time(r, /*node=*/true, e[i].node, k, larger(ps, FLOOR_PS));
    }
    return nodes;
}

/* Returns the bytes of the results that event e states, as a text; NONE: it states none. */
static int64_t event_memory(const json_t *e)
{
    const char *text = json_get_text(json_object_get(e, "args"), "output_size");
    int64_t bytes;
    return text && count_parse(text, &bytes) && bytes <= FIT_QUANTITY_MAX ? bytes : NONE;
}

/* Checks that most rows of a profile name nodes of the model (n rows do, r->unknown rows do not).  If not, the
 * session joined and renamed nodes, or ran another model: warns or, if n is 0, reports an error and returns -1.
 * Else returns 0. */
static int check_session(struct reader *r, size_t n)
{
    static const char todo[] = "was the session optimised, or of another model? measure with "
                               "ORT_DISABLE_ALL, as tools/measure.py does";
    uint32_t strange = r->unknown;
    if (n >= strange)
        return 0;
    if (n == 0)
        return diag_error(r->x->use.diag,
                          "%s: none of %u rows names a node of the model, the first is '%s': %s",
                          r->path, strange, r->first_unknown, todo);
    diag_warning(r->x->use.diag, WARN_UNMATCHED_COST,
                 "%s: %u of %zu rows name no node of the model, the first is '%s': %s", r->path,
                 strange, strange + n, r->first_unknown, todo);
    r->unknown = 0; /* the warning has told of them */
    return 0;
}

/* Adds a note for how many nodes a profile has times.  found: this number. */
static void note_profile(const struct reader *r, size_t found)
{
    size_t nodes = r->t->m->nnode - 1, left = nodes - found;
    size_t permille = nodes > 0 ? left * 1000 / nodes : 0;
    if (r->to->batch > 0)
        diag_note(r->x->use.diag, "%s: measured times for %zu of %zu nodes, batch %" PRId64,
                  r->path, found, nodes, r->to->batch);
    else
        diag_note(r->x->use.diag,
                  "%s: measured times for %zu of %zu nodes; %zu (%zu.%zu %%) keep the roofline",
                  r->path, found, nodes, left, permille / 10, permille % 10);
}

/* Reads a profile by ONNX Runtime: takes the runs of nodes' kernels from it, and adds a note for how many nodes it has
 * times.  Returns 0, or -1 and reports an error. */
static int read_profile(struct reader *r, json_t *list)
{
    static const char suffix[] = "_kernel_time";
    struct event *e = arena_array(r->x->use.scratch, json_array_size(list) + 1, sizeof *e);
    size_t i, n = 0;
    uint32_t norder;
    nid *order = runtime_order(r->t->m, r->x->use.scratch, &norder);
    json_t *v;
    json_array_foreach(list, i, v)
    {
        const char *cat = json_get_text(v, "cat");
        const char *full = json_get_text(v, "name");
        r->row = i;
        if (!cat || strcmp(cat, "Node") != 0 || !full || !str_ends(full, suffix))
            continue;
        int64_t us;
        if (!json_int_in(json_object_get(v, "dur"), 0, FIT_QUANTITY_MAX / PS_PER_US, &us))
            return bad_row(r, "\"dur\": expected an integer of microseconds");
        char *name = arena_strdup(r->x->use.scratch, full, strlen(full) - (sizeof suffix - 1));
        uint32_t node = event_row(r, v, name, order, norder);
        if (node == 0)
            count_unknown(r, name);
        else
            e[n++] = (struct event){node, us, event_memory(v)};
    }
    if (check_session(r, n) != 0)
        return -1;
    note_profile(r, put_medians(r, e, n));
    return 0;
}

/* Adds a note on how fast parts run beside each other, if the file tells that: plans suppose that all devices are as
 * fast as alone. */
static void note_side_by_side(const struct reader *r, const json_t *root)
{
    const json_t *side = json_object_get(root, "side_by_side");
    double factor = json_number_value(json_object_get(side, "factor"));
    int64_t copies;
    /* a factor or a number of copies beyond 10^6 makes no sense and is passed over */
    if (factor > 0 && factor < 1e6 &&
        json_int_in(json_object_get(side, "copies"), 2, 1000000, &copies))
        diag_note(
            r->x->use.diag,
            "%s: %lld copies of a part side by side reached %.3f of their speed alone; times of the plan do not "
            "count that",
            r->path, (long long)copies, factor);
}

/* Reads a file that pcc-profile has written: its member "nodes" is a table.  Returns 0; or -1 and reports an error if
 * the file has another version, or no row names a node of the model. */
static int read_measured(struct reader *r, const json_t *root)
{
    json_t *nodes = json_object_get(root, "nodes");
    int64_t version;
    if (!json_int_in(json_object_get(root, MEASURED_KEY), 1, 1, &version) || !json_is_array(nodes))
        return diag_error(r->x->use.diag,
                          "%s: expected \"" MEASURED_KEY "\": 1 and a list \"nodes\"", r->path);
    /* in a file of pcc-profile the facts are members, so all rows are nodes */
    r->facts = FACTS_BEHIND;
    r->sized = true;
    note_side_by_side(r, root);
    if (read_objects(r, nodes) != 0)
        return -1;
    size_t rows = json_array_size(nodes);
    if (rows == 0 || r->unknown < rows)
        return 0;
    const char *source = json_get_text(root, "source");
    return diag_error(
        r->x->use.diag,
        "%s: none of %zu rows names a node of the model, the first is '%s': it was measured of '%s'",
        r->path, rows, r->first_unknown, source ? source : "another model");
}

/* Reads a trace of a run.  Returns 0, or -1 and reports an error. */
static int read_run(struct reader *r, const json_t *root)
{
    if (r->to->batch != 0)
        return diag_error(r->x->use.diag,
                          "%s: a trace of a run is no file for --%s, but for --costs", r->path,
                          r->to->option);
    r->sized = true;
    return run_trace_read(r->to, root, r->filter, r->x);
}

/* Reads a file in JSON: a file of pcc-profile, a trace of a run, a profile or a table.  Returns 0, or -1 and reports an
 * error. */
static int read_json(struct reader *r, const char *text, size_t n)
{
    json_error_t e;
    struct arena *own = arena_new(r->x->use.scratch);
    json_t *root = json_read(own, text, n, &e);
    int rc;
    if (!root)
        rc = diag_error(r->x->use.diag, "%s:%d:%d: %s", r->path, e.line, e.column, e.text);
    else if (json_object_get(root, MEASURED_KEY))
        rc = read_measured(r, root);
    else if (run_trace_is(root))
        rc = read_run(r, root);
    else if (!json_is_array(root))
        rc = diag_error(r->x->use.diag,
                        "%s: expected a list of objects, a file of pcc-profile, or a CSV header",
                        r->path);
    else if (json_object_get(json_array_get(root, 0), "cat"))
        rc = read_profile(r, root);
    else
        rc = read_objects(r, root);
    arena_free(own);
    return rc;
}

/* ---- files ------------------------------------------------------------------------------------ */

/* Sets r->path and r->filter from text, which is FILE (for all classes) or FILE:CLASS,...  Returns 0; or -1 and reports
 * an error if the cluster has no class of such a name. */
static int split_classes(struct reader *r, const char *text)
{
    const char *s;
    r->path = table_path(text, &s, r->x->use.scratch);
    r->filter = s != NULL ? 0 : UINT32_MAX;
    for (; s != NULL; s = *s == ',' ? s + 1 : NULL) {
        size_t n = strcspn(s, ",");
        const char *name = arena_strdup(r->x->use.scratch, s, n);
        uint32_t bits = classes_named(r->x->scene.cluster, name);
        if (bits == 0)
            return diag_error(r->x->use.diag,
                              "--%s '%s': the cluster has no class '%s'; the first is '%s'",
                              r->to->option, text, name, r->x->scene.cluster->cls[0].name);
        r->filter |= bits;
        s += n;
    }
    return 0;
}

int sheet_read(const struct cost_table *t, struct sheet *to, struct ctx *x, const char *text)
{
    struct reader r = {.x = x, .t = t, .to = to};
    size_t n = 0;
    if (split_classes(&r, text) != 0)
        return -1;
    to->path = r.path;
    char *s = infile_read(r.path, INFILE_TABLE, x->use.scratch, &n, x->use.diag);
    if (!s)
        return -1;
    if (strlen(s) != n)
        return diag_error(x->use.diag, "%s: a NUL byte, expected CSV or JSON text", r.path);
    const char *first = s + strspn(s, " \t\r\n");
    if ((*first == '[' || *first == '{' ? read_json(&r, s, n) : read_csv(&r, s)) != 0)
        return -1;
    to->sized = r.sized;
    if (r.unknown > 0)
        diag_warning(x->use.diag, WARN_UNMATCHED_COST,
                     "%s: %u rows name nodes, operators or classes that are not there, the "
                     "first is '%s': they have no effect",
                     r.path, r.unknown, r.first_unknown);
    return 0;
}
