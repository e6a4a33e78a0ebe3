/* Reads lists of what a class of devices can run (support.h).  The content of a file decides which of three forms it
 * has:
 *
 * - ONNX Runtime's assignment of nodes to providers, a JSON object on each line with "ep", "name" and "op_type".
 *   A node that went to the CPU although another provider was there cannot run on that provider's device.
 * - The result of OpenVINO's query_model(), a JSON object from the names of operations to devices; null: the device
 *   cannot run it.  An operation has the name of its node, or that of an output of the model which it makes.
 * - Lines [domain.]OpType: operators that the class cannot run.
 *
 * The first two forms name nodes.  A node of the model's graph that such a file does not name cannot run either, unless
 * the engine may have removed or renamed the node.  Engines remove Constant, Identity and Dropout; OpenVINO gives a
 * node that only Identity and Dropout read the name of such a reader; and where ONNX Runtime's file names nodes that
 * the model does not have, the session had joined nodes, so that any node may be gone.  Such a node goes with its
 * readers: it can run where all its readers can.  O(bytes + nodes + operands) for each file and class. */
#include "passes/cost/support.h"

#include "ir/base/infile.h"
#include "ir/base/json_in.h"
#include "ir/base/name_table.h"
#include "passes/cost/table_facts.h"

#include <string.h>

#define FORMS                                                                                      \
    "expected lines [domain.]OpType, ONNX Runtime's assignment (lines {\"ep\": ..., \"name\": "    \
    "...}) or OpenVINO's query_model() as a JSON object"

_Static_assert(CLUSTER_CLASSES <= 8, "a byte has a bit for each class");

/* What a file says of a node.  If it says several things of one node, the largest value counts. */
enum word {
    WORD_NONE,
    WORD_RUNS,
    /* the node is on the CPU: host classes run it; other classes run it if the file names no device but the CPU */
    WORD_CPU,
    WORD_LACKS
};

/* The state of reading one file of --support. */
struct list {
    struct ctx *x;
    const struct module *m;
    const struct inlined_module *inside; /* as in support_read() */
    const char *path;
    uint32_t classes;  /* bit k: what the file says is for class k */
    struct names node; /* maps the name of a node, and of each output of it, to the node */
    uint8_t *word;     /* [node] enum word */
    /* maps the operator type of nodes without a name to 1 + its place in op_word */
    struct names op;
    uint8_t *op_word; /* enum word of the file's nodes without a name, by operator type */
    bool others;      /* the file has another device than the CPU */
    /* named: number of rows; met: number of rows that name a node of the model */
    uint32_t named, met;
    const char *strange; /* the first name that no node has; NULL: none */
    /* true: some rows name no node of the model, as happens if the session of ONNX Runtime joined nodes */
    bool joined;
};

bool support_wanted(const struct ctx *x)
{
    return ctx_settings(x)->nsupport > 0;
}

/* ---- what rows say ----------------------------------------------------------------------------- */

/* Makes all maps of l, and all words as WORD_NONE.  l->node gets the names of nodes first and then the names of their
 * results, so that a node's own name takes priority; l->op gets the operator types of nodes without a name. */
static void index_nodes(struct list *l)
{
    const struct module *m = l->m;
    l->node = names_new(l->x->use.scratch, m->nnode);
    l->op = names_new(l->x->use.scratch, 16);
    l->word = arena_alloc(l->x->use.scratch, m->nnode);
    l->op_word = arena_alloc(l->x->use.scratch, (size_t)m->nnode + 1);
    memset(l->word, WORD_NONE, m->nnode);
    memset(l->op_word, WORD_NONE, (size_t)m->nnode + 1);
    for (nid n = 1; n < m->nnode; n++) {
        if ((m->node[n].flags & NODE_UNNAMED) == 0)
            names_add(&l->node, node_name(m, n), n);
        else
            names_add(&l->op, node_op(m, n), l->op.n + 1);
    }
    for (nid n = 1; n < m->nnode; n++)
        for (uint32_t i = 0; i < m->node[n].out.n; i++)
            if (m->arg[m->node[n].out.at + i] != 0)
                names_add(&l->node, value_name(m, m->arg[m->node[n].out.at + i]), n);
}

/* Returns the word of a row that puts a node on `device` (NULL or "": on no device), and notes in l->others that there
 * is another device than the CPU. */
static enum word word_of(struct list *l, const char *device)
{
    if (!device || !*device)
        return WORD_LACKS;
    if (strncmp(device, "CPU", 3) == 0)
        return WORD_CPU;
    l->others = true;
    return WORD_RUNS;
}

/* Notes in l what a row says (`word`).  name: the name of a node or of a result of it; "": the node has no name, and
 * its operator type is `op`. */
static void take_row(struct list *l, const char *name, const char *op, enum word word)
{
    uint32_t n = *name ? names_get(&l->node, name, 0) : 0;
    uint32_t kind = *name ? 0 : names_get(&l->op, op, 0);
    uint8_t *at = n ? &l->word[n] : &l->op_word[kind];
    l->named++;
    l->met += n || kind;
    if ((n || kind) && *at < word)
        *at = (uint8_t)word;
    else if (!n && !kind && !l->strange)
        l->strange = arena_strdup(l->x->use.scratch, *name ? name : op, strlen(*name ? name : op));
}

/* ---- the three forms --------------------------------------------------------------------------- */

/* Reads one line of ONNX Runtime's assignment, n bytes, and notes in l what it says.  number: number of the line, from
 * 1, for errors.  Returns 0, or -1 and reports an error. */
static int read_assigned(struct list *l, const char *line, size_t n, uint32_t number)
{
    struct arena *own = arena_new(l->x->use.scratch);
    json_error_t e = {.text = ""};
    const json_t *row = json_read(own, line, n, &e);
    const char *ep = json_get_text(row, "ep"), *name = json_get_text(row, "name");
    const char *op = json_get_text(row, "op_type");
    int rc = 0;
    if (!ep || !name || !op)
        rc = diag_error(l->x->use.diag,
                        "%s:%u: expected an object with the texts \"ep\", \"name\" and "
                        "\"op_type\"%s%s",
                        l->path, number, row ? "" : ": ", row ? "" : e.text);
    else
        take_row(l, name, op, word_of(l, ep));
    arena_free(own);
    return rc;
}

/* Reads a result of OpenVINO's query_model(), n bytes, and notes in l what it says.  Returns 0, or -1 and reports an
 * error. */
static int read_query(struct list *l, const char *text, size_t n)
{
    struct arena *own = arena_new(l->x->use.scratch);
    json_error_t e;
    json_t *root = json_read(own, text, n, &e), *device;
    const char *name;
    int rc = root ? 0
                  : diag_error(l->x->use.diag, "%s:%d:%d: %s: " FORMS, l->path, e.line, e.column,
                               e.text);
    json_object_foreach(root, name, device)
    {
        if (!json_is_string(device) && !json_is_null(device)) {
            rc = diag_error(l->x->use.diag,
                            "%s: '%s': expected the name of a device, or null for none", l->path,
                            name);
            break;
        }
        take_row(l, name, "", word_of(l, json_string_value(device)));
    }
    arena_free(own);
    return rc;
}

/* Whether a line, n bytes, may be [domain.]OpType. */
static bool is_operator(const char *line, size_t n)
{
    return n > 0 && strspn(line, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                 "_.-:/<>") >= n;
}

/* Returns the number that the operator of node n has in `ops`, which may name it OpType (of any domain) or
 * domain.OpType; 0: it is not there.  Text that it makes lives in a. */
static uint32_t operator_at(const struct module *m, const struct names *ops, nid n, struct arena *a)
{
    const char *domain = module_str(m, m->node[n].domain), *op = node_op(m, n);
    uint32_t at = names_get(ops, op, 0);
    return at ? at : names_get(ops, arena_fmt(a, "%s.%s", *domain ? domain : "ai.onnx", op), 0);
}

/* Sets l->word of all nodes: WORD_LACKS if the node's operator is in `ops`, else WORD_RUNS.  Warns of names of
 * operators, name[], that no node has. */
static void take_operators(struct list *l, const struct names *ops, const char *const *name)
{
    const struct module *m = l->m;
    struct arena *own = arena_new(l->x->use.scratch);
    uint8_t *used = arena_alloc(l->x->use.scratch, (size_t)ops->n + 1);
    uint32_t idle = 0, first = 0;
    memset(used, 0, (size_t)ops->n + 1);
    for (nid n = 1; n < m->nnode; n++) {
        uint32_t at = operator_at(m, ops, n, own);
        used[at] = 1;
        l->word[n] = at ? WORD_LACKS : WORD_RUNS;
    }
    arena_free(own);
    for (uint32_t i = ops->n; i > 0; i--) {
        idle += !used[i];
        first = used[i] ? first : i;
    }
    if (idle)
        diag_warning(l->x->use.diag, WARN_UNMATCHED_COST,
                     "%s: %u operators that no node has, the first is '%s': they have no effect",
                     l->path, idle, name[first]);
}

/* Reads the lines of a file and notes in l what they say.  assigned: the lines are of ONNX Runtime's assignment; else
 * they are operators.  Empty lines, and lines that begin with '#', do not count.  The text is changed.  Returns 0, or
 * -1 and reports an error. */
static int read_lines(struct list *l, char *text, bool assigned)
{
    struct names ops = names_new(l->x->use.scratch, 16); /* operators: numbers from 1 */
    /* [number of an operator in `ops`] its name */
    const char **name = NULL;
    uint32_t cap = 0, number = 1, rows = 0;
    for (char *line = text, *end; *line; line = end, number++) {
        size_t n = strcspn(line, "\n");
        end = line + n + (line[n] == '\n');
        line += strspn(line, " \t\r");
        n = line < end ? strcspn(line, "\n") : 0;
        while (n > 0 && strchr(" \t\r", line[n - 1]))
            n--; /* blanks at the end */
        if (n == 0 || *line == '#')
            continue;
        rows++;
        if (assigned) {
            if (read_assigned(l, line, n, number))
                return -1;
            continue;
        }
        if (!is_operator(line, n))
            return diag_error(l->x->use.diag, "%s:%u: '%.*s': " FORMS, l->path, number,
                              (int)(n < 80 ? n : 80), line);
        line[n] = 0;
        if (names_get(&ops, line, 0)) /* the operator is there already */
            continue;
        name = vec_grow(l->x->use.scratch, name, &cap, ops.n + 2, sizeof *name);
        name[ops.n + 1] = line;
        names_add(&ops, line, ops.n + 1);
    }
    if (rows == 0)
        return diag_error(l->x->use.diag, "%s: it lists nothing: " FORMS, l->path);
    if (!assigned)
        take_operators(l, &ops, name);
    return 0;
}

/* Whether the text begins with a line of ONNX Runtime's assignment. */
static bool is_assignment(const char *text, struct arena *a)
{
    struct arena *own = arena_new(a);
    text += strspn(text, " \t\r\n");
    const json_t *first = json_read(own, text, strcspn(text, "\n"), NULL);
    bool is = json_object_get(first, "ep") != NULL;
    arena_free(own);
    return is;
}

/* ---- nodes that a file does not name ----------------------------------------------------------- */

/* Whether node n is an Identity or a Dropout. */
static bool is_passed_over(const struct module *m, nid n)
{
    return m->node[n].domain == 0 && (node_is(m, n, "Identity") || node_is(m, n, "Dropout"));
}

/* Whether an engine can have removed node n, which its file does not name, while it optimised the model: the node is
 * then no sign that the engine cannot run it.  users: readers of values. */
static bool may_vanish(const struct list *l, nid n, const struct csr *users)
{
    const struct module *m = l->m;
    uint32_t readers = 0;
    /* unless the session joined nodes (l->joined), only Identity, Dropout and Constant can go, and nodes whose readers
     * are all Identity or Dropout */
    if (l->joined || is_passed_over(m, n) || node_is(m, n, "Constant"))
        return true;
    for (uint32_t i = 0; i < m->node[n].out.n; i++) {
        vid v = m->arg[m->node[n].out.at + i];
        if (v == 0)
            continue;
        for_row (reader, *users, v) {
            readers++;
            if (!is_passed_over(m, reader))
                return false;
        }
    }
    return readers > 0;
}

/* Returns, for each node, what the file says of it; WORD_NONE: the node goes with its readers.  Nodes in bodies and
 * within calls, of which engines say nothing, run unless the file says otherwise. */
static uint8_t *settle(const struct list *l)
{
    const struct module *m = l->m;
    const struct graph *g = &m->graph[1];
    struct csr users = module_users(m, l->x->use.scratch);
    uint8_t *word = arena_alloc(l->x->use.scratch, m->nnode);
    for (nid n = 0; n < m->nnode; n++) {
        bool asked =
            n >= g->first && n < g->first + g->count && !(l->inside && l->inside->within[n]);
        word[n] = l->word[n];
        if (word[n] == WORD_NONE && m->node[n].flags & NODE_UNNAMED && n > 0)
            word[n] = l->op_word[names_get(&l->op, node_op(m, n), 0)];
        if (word[n] == WORD_NONE)
            word[n] = !asked ? WORD_RUNS : may_vanish(l, n, &users) ? WORD_NONE : WORD_LACKS;
    }
    return word;
}

/* Sets bit k of lacks[] for the nodes that class k cannot run; returns their number.  Sets *first to the first of
 * them, if there is one.  word: from settle(). */
static uint32_t mark_class(const struct list *l, const uint8_t *word, uint32_t k, uint8_t *lacks,
                           nid *first)
{
    const struct module *m = l->m;
    bool cpu_lacks = l->others && !l->x->scene.cluster->cls[k].host;
    nid *stack = arena_array(l->x->use.scratch, m->nnode, sizeof *stack);
    uint8_t *lacking = arena_alloc(l->x->use.scratch, m->nnode); /* [node] 1: k cannot run it */
    uint32_t n = 0, count = 0;
    for (nid i = 0; i < m->nnode; i++) {
        lacking[i] = i > 0 && (word[i] == WORD_LACKS || (word[i] == WORD_CPU && cpu_lacks));
        if (lacking[i])
            stack[n++] = i;
    }
    /* a node without a word of its own goes with its readers: it cannot run where one of them cannot */
    while (n > 0) {
        const struct node *reader = &m->node[stack[--n]];
        for (uint32_t i = 0; i < reader->in.n; i++) {
            nid def = m->value[m->arg[reader->in.at + i]].def;
            if (def != 0 && word[def] == WORD_NONE && !lacking[def]) {
                lacking[def] = 1;
                stack[n++] = def;
            }
        }
    }
    for (nid i = m->nnode; i-- > 1;) {
        lacks[i] |= (uint8_t)(lacking[i] << k);
        count += lacking[i];
        *first = lacking[i] ? i : *first;
    }
    return count;
}

/* ---- files ------------------------------------------------------------------------------------- */

/* Sets l->path and l->classes from text, FILE:CLASS,...  Returns 0, or -1 and reports an error. */
static int split_classes(struct list *l, const char *text)
{
    const struct cluster *c = l->x->scene.cluster;
    const char *s;
    l->path = table_path(text, &s, l->x->use.scratch);
    while (s && *s) {
        size_t n = strcspn(s, ",");
        bool found = false;
        for (uint32_t k = 0; k < c->ncls; k++) {
            if (strncmp(c->cls[k].name, s, n) != 0 || c->cls[k].name[n])
                continue;
            if (c->cls[k].nops && c->cls[k].ops_only)
                return diag_error(l->x->use.diag,
                                  "--support '%s': the class '%s' has \"supported\" in the "
                                  "cluster: expected one of them",
                                  text, c->cls[k].name);
            l->classes |= 1u << k;
            found = true;
        }
        if (!found)
            return diag_error(l->x->use.diag,
                              "--support '%s': the cluster has no class '%.*s'; the first is '%s'",
                              text, (int)n, s, c->cls[0].name);
        s += n + (s[n] == ',');
    }
    return l->classes ? 0 : diag_error(l->x->use.diag, "--support '%s': expected FILE:CLASS", text);
}

/* Reports rows that name no node: an error if no row names one, a warning if the session had joined nodes, which it
 * notes in l->joined.  assigned: the rows are ONNX Runtime's assignment.  Returns 0, or -1 after an error. */
static int check_names(struct list *l, bool assigned)
{
    if (l->met == 0)
        return diag_error(l->x->use.diag,
                          "%s: none of %u rows names a node of the model, the first is '%s': was "
                          "it made for another model?",
                          l->path, l->named, l->strange ? l->strange : "");
    l->joined = assigned && l->strange;
    if (l->joined)
        diag_warning(l->x->use.diag, WARN_UNMATCHED_COST,
                     "%s: %u of %u rows name no node of the model, the first is '%s': the session "
                     "was optimised, and nodes that it has not go with their readers; "
                     "ORT_DISABLE_ALL keeps all",
                     l->path, l->named - l->met, l->named, l->strange);
    return 0;
}

/* Reads the file that `text`, a value of --support, names, adds what it says to lacks[], and notes for each of its
 * classes how many nodes the class cannot run.  Returns 0, or -1 and reports an error. */
static int read_list(struct list *l, const char *text, uint8_t *lacks)
{
    size_t n = 0;
    const struct cluster *c = l->x->scene.cluster;
    char *s = split_classes(l, text)
                  ? NULL
                  : infile_read(l->path, INFILE_PLAN, l->x->use.scratch, &n, l->x->use.diag);
    if (!s)
        return -1;
    if (strlen(s) != n)
        return diag_error(l->x->use.diag, "%s: a NUL byte: " FORMS, l->path);
    index_nodes(l);
    /* json: the file has one of the two forms that name nodes */
    bool assigned = is_assignment(s, l->x->use.scratch), json = s[strspn(s, " \t\r\n")] == '{';
    if (json && !assigned ? read_query(l, s, n) : read_lines(l, s, assigned))
        return -1;
    if (json && check_names(l, assigned))
        return -1;
    const uint8_t *word = settle(l);
    for (uint32_t k = 0; k < c->ncls; k++) {
        nid first = 0;
        if (!(l->classes >> k & 1))
            continue;
        uint32_t count = mark_class(l, word, k, lacks, &first);
        diag_note(l->x->use.diag, "%s: %s %s", l->path, c->cls[k].name,
                  count ? arena_fmt(l->x->use.scratch,
                                    "cannot run %u of %u nodes, the first is '%s' (%s)", count,
                                    l->m->nnode - 1, node_name(l->m, first), node_op(l->m, first))
                        : "can run all nodes");
    }
    return 0;
}

int support_read(struct ctx *x, const struct module *m, const struct inlined_module *inside,
                 const uint8_t **lacks)
{
    const struct settings *s = ctx_settings(x);
    uint8_t *all = arena_alloc(x->use.scratch, m->nnode);
    memset(all, 0, m->nnode);
    *lacks = s->nsupport ? all : NULL;
    for (uint32_t i = 0; i < s->nsupport; i++) {
        struct list l = {.x = x, .m = m, .inside = inside};
        if (read_list(&l, s->support[i], all))
            return -1;
    }
    return 0;
}

void support_apply(struct ctx *x, const uint8_t *lacks)
{
    struct module *m = x->scene.m;
    const gid *order = graphs_outer_first(m, x->use.scratch);
    uint8_t *never = arena_alloc(x->use.scratch, m->nnode);
    memcpy(never, lacks, m->nnode);
    for (uint32_t i = m->ngraph - 1; i-- > 0;) { /* inner graphs first */
        const struct graph *g = &m->graph[order[i]];
        for (nid n = g->first; n < g->first + g->count; n++)
            if (g->owner != 0)
                never[g->owner] |= never[n];
    }
    for (uint32_t k = 0; k < m->cost->nclass; k++)
        for (nid n = 1; n < m->nnode; n++)
            if (never[n] >> k & 1)
                m->cost->time[k][n] = COST_NEVER;
}
