/* Reads a profile of layers: the text that PipeDream's profiler writes and DAPPLE's planner reads.
 *
 *     node4 -- Embedding(32320, 1024) -- forward_compute_time=0.073, backward_compute_time=6.949,
 *         activation_size=6291456.0, parameter_size=132382720.000        (in one line)
 *     <TAB>node4 -- node5
 *
 * A line that begins with a blank or tab is an edge.  Each other line is a layer: an id, a description, times in ms
 * and sizes in bytes for the measured batch, and perhaps a stage, which is not used.  stored_size is an addition of
 * pcc: the bytes that the forward pass must keep for the backward pass; the default is activation_size, which is
 * less than most layers keep.  A list of sizes, "[602112; 4004]", means their sum.  A layer called Input... without
 * incoming edges stands for an input of the model, and one called __getitem__... without outgoing edges for a
 * result that nothing reads; both are dropped.
 *
 * A layer becomes two nodes of one colour, forward and backward, so profiles can be planned like all training graphs.
 * The forward node makes the layer's activations, the backward node a gradient of each value that the forward node
 * reads.  O(text), and sorting the names. */
#include "frontends/frontends.h"

#include "ir/base/infile.h"
#include "ir/base/units.h"

#include <string.h>

/* A line with a layer. */
struct layer {
    sid id;
    const char *label; /* description of the layer; not ended by a NUL */
    size_t nlabel;
    uint32_t line;                 /* its number in the text, from 1 */
    int64_t forward, backward;     /* ps */
    int64_t activation, parameter; /* bytes */
    int64_t stored;                /* bytes that the forward pass keeps for the backward pass */
};

/* State of reading a profile. */
struct profile_reader {
    const char *path;
    struct diag *d;
    struct module *m;
    struct arena *a; /* memory of the module */
    uint32_t line;   /* number of the current line, from 1 */
    struct layer *layer;
    uint32_t nlayer, caplayer;
    uint32_t *by_id;     /* [string] layer with that id, + 1; 0: none */
    uint32_t nid, capid; /* entries of by_id[] */
    /* [edge] the layer at which the edge begins; the layer at which it ends */
    uint32_t *from, *to;
    uint32_t nedge, capfrom, capto;
    struct csr out, in; /* layer -> edges that leave it; layer -> edges that enter it */
    uint32_t *order;    /* [norder] the layers that are not dropped, in topological order */
    uint32_t norder;
    uint8_t *dropped; /* [layer] 1: it is no layer of the module (drop_ends) */
};

/* The text [at, end), a part of a line. */
struct span {
    const char *at, *end;
};

/* Returns s without blanks at both ends. */
static struct span trim(struct span s)
{
    while (s.at < s.end && (*s.at == ' ' || *s.at == '\t'))
        s.at++;
    while (s.at < s.end && (s.end[-1] == ' ' || s.end[-1] == '\t' || s.end[-1] == '\r'))
        s.end--;
    return s;
}

/* Removes the text up to the first separator, and the separator, from the front of *s; *before becomes the text before
 * it, without blanks around.  Without a separator takes all of *s and returns false. */
static bool split_off(struct span *s, const char *separator, struct span *before)
{
    size_t n = strlen(separator);
    const char *at = memmem(s->at, (size_t)(s->end - s->at), separator, n);
    *before = trim((struct span){s->at, at ? at : s->end});
    s->at = at ? at + n : s->end;
    return at != NULL;
}

/* Reports that `what` was expected where s stands in the line.  Returns -1. */
static int report_expected(const struct profile_reader *r, struct span s, const char *what)
{
    return diag_error(r->d, "%s:%u: '%.*s': expected %s", r->path, r->line,
                      (int)(smaller(s.end - s.at, 60)), s.at, what);
}

/* ---- numbers ------------------------------------------------------------------------------------ */

/* Reads a decimal number >= 0, such as "1.5e3".  Writes it, times 10^power and rounded to the nearest integer, to *out.
 * Returns false if s is no such number, or the result is 4e18 or more. */
static bool read_decimal(struct span s, int power, int64_t *out)
{
    /* the result is x * 10^power: power changes while digits are read */
    unsigned __int128 x = 0;
    /* a decimal point was read; a digit was read, behind an 'e' a digit of the exponent */
    bool point = false, any = false;
    for (; s.at < s.end && (*s.at == '.' || (*s.at >= '0' && *s.at <= '9')); s.at++) {
        if (*s.at == '.' && point)
            return false;
        point = point || *s.at == '.';
        if (*s.at == '.')
            continue;
        any = true;
        /* digits behind the first 29 or so are dropped; before the point they count as powers of ten */
        if (x < (unsigned __int128)1 << 96) {
            x = 10 * x + (unsigned)(*s.at - '0');
            if (point)
                power--;
        } else if (!point) {
            power++;
        }
    }
    if (any && s.at < s.end && (*s.at == 'e' || *s.at == 'E')) {
        s.at++;
        bool minus = s.at < s.end && *s.at == '-';
        int exponent = 0;
        if (s.at < s.end && (*s.at == '-' || *s.at == '+'))
            s.at++;
        any = s.at < s.end;
        for (; s.at < s.end && *s.at >= '0' && *s.at <= '9'; s.at++)
            if (exponent < 1000)
                exponent = 10 * exponent + (*s.at - '0');
        power += minus ? -exponent : exponent;
    }
    if (!any || s.at != s.end)
        return false;
    const unsigned __int128 most = (unsigned __int128)4000000000 * 1000000000;
    for (; power > 0 && x && x < most; power--)
        x *= 10;
    /* the last division by ten rounds to the nearest integer */
    for (; power < -1; power++)
        x /= 10;
    if (power == -1)
        x = (x + 5) / 10;
    *out = (int64_t)x;
    return x < most;
}

/* Reads s, a number, or a list "[a; b]" as the sum of its numbers; *out: that times 10^power.  Returns 0, or -1 and an
 * error. */
static int read_figure(const struct profile_reader *r, struct span s, int power, int64_t *out)
{
    struct span whole = s, one;
    bool more = true, list = s.at < s.end && *s.at == '[';
    int64_t x;
    *out = 0;
    if (list && s.end[-1] != ']')
        return report_expected(r, whole, "a list that ends with ']'");
    if (list)
        s = (struct span){s.at + 1, s.end - 1};
    while (more) {
        more = split_off(&s, ";", &one);
        if (!read_decimal(one, power, &x) || (more && !list))
            return report_expected(r, whole, "a number >= 0, or a list of some: [1; 2]");
        *out = sat_add(*out, x);
    }
    return 0;
}

/* ---- lines -------------------------------------------------------------------------------------- */

/* Reads the figures of a layer: "forward_compute_time=0.073, backward_compute_time=6.949, ...".  Unknown names are
 * ignored.  Returns 0, or -1 and an error. */
static int read_figures(const struct profile_reader *r, struct span s, struct layer *l)
{
    static const struct {
        const char *name;
        int power; /* of ten, by which the figure is multiplied: ms to ps */
    } key[] = {{"forward_compute_time", 9},
               {"backward_compute_time", 9},
               {"activation_size", 0},
               {"parameter_size", 0},
               {"stored_size", 0}};
    enum { KEYS = sizeof key / sizeof *key, NEEDED = KEYS - 1 };
    int64_t *const value[] = {&l->forward, &l->backward, &l->activation, &l->parameter, &l->stored};
    uint32_t seen = 0;
    for (bool more = true; more;) {
        struct span pair, name;
        more = split_off(&s, ", ", &pair);
        if (!split_off(&pair, "=", &name))
            return report_expected(r, name, "NAME=NUMBER, as in 'forward_compute_time=0.5'");
        for (uint32_t i = 0; i < KEYS; i++) {
            size_t n = strlen(key[i].name);
            if ((size_t)(name.end - name.at) != n || memcmp(name.at, key[i].name, n) != 0)
                continue;
            if (read_figure(r, trim(pair), key[i].power, value[i]))
                return -1;
            seen |= 1U << i;
        }
    }
    for (uint32_t i = 0; i < NEEDED; i++)
        if (!(seen & 1U << i))
            return diag_error(r->d, "%s:%u: layer '%s' has no %s", r->path, r->line,
                              module_str(r->m, l->id), key[i].name);
    if (!(seen & 1U << NEEDED))
        l->stored = l->activation;
    return 0;
}

/* Adds the layer of line s to r->layer and r->by_id.  Returns 0, or -1 and an error. */
static int read_layer(struct profile_reader *r, struct span s)
{
    struct span id, label, figures, line = s;
    if (!split_off(&s, " -- ", &id) || !split_off(&s, " -- ", &label) || id.at == id.end)
        return report_expected(r, line, "a layer: 'node1 -- name -- forward_compute_time=...'");
    if (memchr(id.at, 0, (size_t)(id.end - id.at)))
        return diag_error(r->d, "%s:%u: the id of a layer cannot hold the byte \\x00", r->path,
                          r->line);
    split_off(&s, " -- ", &figures); /* a stage may follow */
    r->layer = vec_grow(r->a, r->layer, &r->caplayer, r->nlayer + 1, sizeof *r->layer);
    struct layer *l = &r->layer[r->nlayer];
    l->id = str_id_n(r->m, id.at, (size_t)(id.end - id.at));
    l->label = label.at;
    l->nlabel = (size_t)(label.end - label.at);
    l->line = r->line;
    r->by_id = vec_grow(r->a, r->by_id, &r->capid, l->id + 1, sizeof *r->by_id);
    if (r->nid <= l->id)
        r->nid = l->id + 1;
    if (r->by_id[l->id])
        return diag_error(r->d, "%s:%u: there is a layer '%s' already, in line %u", r->path,
                          r->line, module_str(r->m, l->id), r->layer[r->by_id[l->id] - 1].line);
    r->by_id[l->id] = ++r->nlayer;
    return read_figures(r, figures, l);
}

/* Sets *out to the layer with id s.  Returns 0, or -1 and an error. */
static int find_layer(const struct profile_reader *r, struct span s, uint32_t *out)
{
    sid id = str_id_n(r->m, s.at, (size_t)(s.end - s.at));
    if (id >= r->nid || !r->by_id[id])
        return report_expected(r, s, "the id of a layer in a line above");
    *out = r->by_id[id] - 1;
    return 0;
}

/* Adds the edge of line s to r->from and r->to.  Returns 0, or -1 and an error. */
static int read_edge(struct profile_reader *r, struct span s)
{
    struct span from, line = s;
    r->from = vec_grow(r->a, r->from, &r->capfrom, r->nedge + 1, sizeof *r->from);
    r->to = vec_grow(r->a, r->to, &r->capto, r->nedge + 1, sizeof *r->to);
    if (!split_off(&s, " -- ", &from))
        return report_expected(r, line, "an edge: 'node1 -- node2'");
    if (find_layer(r, from, &r->from[r->nedge]) || find_layer(r, trim(s), &r->to[r->nedge]))
        return -1;
    r->nedge++;
    return 0;
}

/* Reads all lines of the profile, text[n]; empty lines are skipped.  Returns 0, or -1 and an error. */
static int read_lines(struct profile_reader *r, const char *text, size_t n)
{
    struct span all = {text, text + n};
    if (n > INT32_MAX) /* larger files are refused, so that 32 bits can count lines and edges */
        return diag_error(r->d, "%s: a profile of more than 2 GiB", r->path);
    while (all.at < all.end) {
        const char *end = memchr(all.at, '\n', (size_t)(all.end - all.at));
        struct span line = {all.at, end ? end : all.end}, s = trim(line);
        all.at = end ? end + 1 : all.end;
        r->line++;
        if (s.at == s.end)
            continue;
        bool indented = s.at != line.at; /* as the lines of edges are */
        if (indented ? read_edge(r, s) : read_layer(r, s))
            return -1;
    }
    return r->nlayer ? 0 : diag_error(r->d, "%s: there are no layers in it", r->path);
}

/* ---- the graph ---------------------------------------------------------------------------------- */

/* Whether the description of a layer begins with that text. */
static bool label_begins(const struct layer *l, const char *begin)
{
    return l->nlabel >= strlen(begin) && memcmp(l->label, begin, strlen(begin)) == 0;
}

/* Makes r->out and r->in of the edges. */
static void index_edges(struct profile_reader *r)
{
    r->out = csr_build(r->a, r->nlayer, r->nedge, r->from, NULL);
    r->in = csr_build(r->a, r->nlayer, r->nedge, r->to, NULL);
}

/* Removes edges that are listed a second time, and makes r->out and r->in of the edges that are left. */
static void drop_repeats(struct profile_reader *r)
{
    /* [layer] 1 + the last layer so far that reads from it */
    uint32_t *last = arena_array(r->a, (size_t)r->nlayer + 1, sizeof *last), n = 0;
    uint8_t *twice = arena_alloc(r->a, (size_t)r->nedge + 1);
    for (uint32_t v = 0; v < r->nlayer; v++)
        for_row (e, r->in, v) {
            twice[e] = last[r->from[e]] == v + 1;
            last[r->from[e]] = v + 1;
        }
    for (uint32_t e = 0; e < r->nedge; e++)
        if (!twice[e]) {
            r->from[n] = r->from[e];
            r->to[n++] = r->to[e];
        }
    r->nedge = n;
    index_edges(r);
}

/* Marks layers that stand for inputs of the model or for results that nothing reads in r->dropped, removes their edges,
 * and makes r->out and r->in of the others. */
static void drop_ends(struct profile_reader *r)
{
    uint32_t n = 0;
    r->dropped = arena_alloc(r->a, (size_t)r->nlayer + 1);
    for (uint32_t v = 0; v < r->nlayer; v++)
        r->dropped[v] =
            (r->in.at[v] == r->in.at[v + 1] && label_begins(&r->layer[v], "Input")) ||
            (r->out.at[v] == r->out.at[v + 1] && label_begins(&r->layer[v], "__getitem__"));
    for (uint32_t e = 0; e < r->nedge; e++)
        if (!r->dropped[r->from[e]] && !r->dropped[r->to[e]]) {
            r->from[n] = r->from[e];
            r->to[n++] = r->to[e];
        }
    r->nedge = n;
    index_edges(r);
}

/* Sets r->order to the order of the file if that is topological, else to another topological order.  Returns 0, or -1
 * and an error if there is a cycle. */
static int sort_layers(struct profile_reader *r)
{
    uint32_t v, n = r->nlayer, *order = arena_array(r->a, (size_t)n + 1, sizeof *order);
    uint8_t *met = arena_alloc(r->a, (size_t)n + 1);
    bool sorted = true;
    r->order = arena_array(r->a, (size_t)n + 1, sizeof *r->order);
    for (uint32_t e = 0; e < r->nedge; e++)
        sorted = sorted && r->from[e] < r->to[e];
    for (v = 0; v < n; v++)
        order[v] = v;
    if (!sorted) {
        struct csr next = csr_build(r->a, n, r->nedge, r->from, r->to);
        n = csr_topo(&next, n, NULL, order, r->a);
    }
    for (uint32_t i = 0; i < n; i++) {
        met[order[i]] = 1;
        if (!r->dropped[order[i]])
            r->order[r->norder++] = order[i];
    }
    if (n == r->nlayer)
        return 0;
    /* the first layer that is not in the order */
    v = 0;
    while (met[v])
        v++;
    return diag_error(r->d, "%s:%u: layer '%s' is on or behind a cycle of edges", r->path,
                      r->layer[v].line, module_str(r->m, r->layer[v].id));
}

/* ---- the module --------------------------------------------------------------------------------- */

/* Returns an array: [layer] its name, the first word of its description ("layer_0").  If there is no word, or
 * several layers have the same word, the layer's id is appended ("Conv2d.node4"). */
static sid *name_layers(struct profile_reader *r)
{
    sid *name = arena_array(r->a, (size_t)r->nlayer + 1, sizeof *name);
    /* times[string]: number of layers whose description begins with this word */
    uint32_t *times = NULL, cap = 0;
    for (uint32_t v = 0; v < r->nlayer; v++) {
        const struct layer *l = &r->layer[v];
        size_t n = 0;
        while (n < l->nlabel && (unsigned char)l->label[n] > ' ' && l->label[n] != '(')
            n++;
        name[v] = str_id_n(r->m, l->label, n);
        times = vec_grow(r->a, times, &cap, name[v] + 1, sizeof *times);
        times[name[v]]++;
    }
    for (uint32_t v = 0; v < r->nlayer; v++)
        if (!name[v] || times[name[v]] > 1)
            name[v] = str_id(r->m, arena_fmt(r->a, "%s%s%s", module_str(r->m, name[v]),
                                             name[v] ? "." : "", module_str(r->m, r->layer[v].id)));
    return name;
}

/* What the functions that make the module's nodes share. */
struct node_maker {
    struct profile_reader *r;
    const sid *name; /* [layer] name_layers() */
    vid *forward;    /* [layer] result of its forward node */
    vid *gradient;   /* [edge] gradient of the value on the edge */
    vid *scratch;    /* operands or results of the node that is being made */
    uint8_t *taken;  /* [string] 1: it is the name of a node or value */
    uint32_t captaken;
};

/* Returns a new name: the text, or, if that is taken, the text with a number appended. */
static sid fresh_name(struct node_maker *t, const char *text)
{
    const char *next = text;
    for (uint32_t again = 2;; again++) {
        sid s = str_id(t->r->m, next);
        t->taken = vec_grow(t->r->a, t->taken, &t->captaken, s + 1, 1);
        if (!t->taken[s]) {
            t->taken[s] = 1;
            return s;
        }
        next = arena_fmt(t->r->a, "%s.%u", text, again);
    }
}

/* Appends a node with these operands and results to the module and returns it; it becomes the maker of the results. */
static nid add_module_node(struct node_maker *t, sid name, struct slice in, struct slice out)
{
    struct module *m = t->r->m;
    nid id = module_add_node(m);
    m->node[id] = (struct node){.name = name,
                                .op = str_id(m, "layer"),
                                .domain = str_id(m, "profile"),
                                .in = in,
                                .nformal = in.n,
                                .out = out,
                                .graph = 1};
    for (uint32_t i = 0; i < out.n; i++) {
        struct value *v = &m->value[m->arg[out.at + i]];
        v->def = id;
        v->outno = i;
        v->graph = 1;
    }
    return id;
}

/* Adds the forward node of layer v: it reads the results of the layers before it, and has one result. */
static void add_forward(struct node_maker *t, uint32_t v)
{
    const struct profile_reader *r = t->r;
    uint32_t n = 0;
    for_row (x, r->in, v)
        t->scratch[n++] = t->forward[r->from[x]];
    struct slice in = module_add_args(r->m, t->scratch, n);
    sid name = fresh_name(t, module_str(r->m, t->name[v]));
    t->forward[v] = module_add_value(r->m);
    r->m->value[t->forward[v]].name = name;
    add_module_node(t, name, in, module_add_args(r->m, &t->forward[v], 1));
}

/* Adds the backward node of a layer: it reads the layer's result and the gradients of that result by the layer's
 * readers, and makes a gradient of each operand of the layer. */
static void add_backward(struct node_maker *t, uint32_t v)
{
    const struct profile_reader *r = t->r;
    uint32_t n = 0;
    t->scratch[n++] = t->forward[v];
    for_row (x, r->out, v)
        t->scratch[n++] = t->gradient[x];
    struct slice in = module_add_args(r->m, t->scratch, n);
    sid name = fresh_name(t, arena_fmt(r->a, "%s/backward", module_str(r->m, t->name[v])));
    n = 0;
    for_row (x, r->in, v) {
        vid g = module_add_value(r->m);
        t->gradient[x] = g;
        t->scratch[n++] = g;
        r->m->value[g].name = fresh_name(t, arena_fmt(r->a, "%s:%s", module_str(r->m, name),
                                                      module_str(r->m, t->name[r->from[x]])));
    }
    add_module_node(t, name, in, module_add_args(r->m, t->scratch, n));
}

/* Adds the main graph: forward nodes in r->order, then backward nodes in the opposite order. */
static void add_nodes(struct profile_reader *r)
{
    struct module *m = r->m;
    gid g = module_add_graph(m);
    struct node_maker t = {.r = r, .name = name_layers(r)};
    t.forward = arena_array(r->a, (size_t)r->nlayer + 1, sizeof *t.forward);
    t.gradient = arena_array(r->a, (size_t)r->nedge + 1, sizeof *t.gradient);
    t.scratch = arena_array(r->a, (size_t)r->nedge + 2, sizeof *t.scratch);
    m->graph[g].name = str_id(m, "profile");
    m->graph[g].first = m->nnode;
    m->graph[g].count = 2 * r->norder;
    for (uint32_t i = 0; i < r->norder; i++)
        add_forward(&t, r->order[i]);
    for (uint32_t i = r->norder; i-- > 0;)
        add_backward(&t, r->order[i]);
}

/* Fills module.cost, and the colour, layer and pass of each node. */
static void add_costs(struct profile_reader *r)
{
    struct module *m = r->m;
    /* a single class of devices, until the cluster is known */
    struct costs *k = m->cost = costs_new(m, r->a, 1);
    nid first = m->graph[1].first, last = first + 2 * r->norder - 1;
    k->measured = k->time[0];
    k->params = arena_array(r->a, m->nnode, sizeof *k->params);
    m->color = arena_array(r->a, m->nnode, sizeof *m->color);
    m->layer = arena_array(r->a, m->nnode, sizeof *m->layer);
    m->backward = arena_alloc(r->a, m->nnode);
    for (vid v = 1; v < m->nval; v++)
        k->elems[v] = k->xfer[v] = -1;
    for (uint32_t i = 0; i < r->norder; i++) {
        const struct layer *l = &r->layer[r->order[i]];
        nid n = first + i, back = last - i; /* backward nodes stand in the opposite order */
        k->measured[n] = l->forward;
        k->measured[back] = l->backward;
        k->params[n] = l->parameter;
        k->bytes[node_out(m, n, 0)] = l->activation;
        k->own[n] = sat_add(l->parameter, l->stored);
        k->own[back] = l->parameter; /* gradients of the layer's parameters */
        m->color[n] = m->color[back] = m->layer[n] = m->layer[back] = i + 1;
        m->backward[back] = 1;
        uint32_t at = r->in.at[r->order[i]];
        for (uint32_t o = 0; o < m->node[back].out.n; o++) {
            int64_t bytes = r->layer[r->from[r->in.to[at + o]]].activation;
            k->bytes[node_out(m, back, o)] = bytes;
            k->own[back] = sat_add(k->own[back], bytes);
        }
    }
}

/* Reads the profile text[n] into r->m.  Returns 0, or -1 and an error. */
static int read_all(struct profile_reader *r, const char *text, size_t n)
{
    if (read_lines(r, text, n))
        return -1;
    index_edges(r);
    drop_repeats(r);
    drop_ends(r);
    if (sort_layers(r))
        return -1;
    if (!r->norder)
        return diag_error(r->d, "%s: there are no layers in it but inputs", r->path);
    add_nodes(r);
    add_costs(r);
    r->m->path = str_id(r->m, r->path);
    return 0;
}

struct module *layer_profile_parse(const char *name, const char *text, size_t n, struct arena *of,
                                   struct diag *d)
{
    struct module *m = module_new(of, d);
    struct profile_reader r = {.path = name, .d = d, .m = m, .a = m->mem};
    if (read_all(&r, text, n) == 0)
        return m;
    arena_free(m->mem);
    return NULL;
}
