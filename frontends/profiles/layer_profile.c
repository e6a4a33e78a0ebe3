/* Reads a profile of layers: the text that PipeDream's profiler writes and DAPPLE's planner reads.
 *
 *     node4 -- Embedding(32320, 1024) -- forward_compute_time=0.073, backward_compute_time=6.949,
 *         activation_size=6291456.0, parameter_size=132382720.000        (in one line)
 *     <TAB>node4 -- node5
 *
 * A line that begins with a blank is an edge, another one a layer: its id, what it is, its figures in ms and bytes for
 * the batch that was measured, perhaps a stage.  stored_size, which is pcc's own and may be left out, is what forward
 * leaves for backward; without it that is the activations, which is less than most layers keep.  A list of sizes,
 * "[602112; 4004]", is their sum.  Sources named Input... stand for the model's inputs, and sinks named __getitem__...
 * for results that nothing reads: neither is a layer.
 *
 * A layer becomes two nodes of one colour, forward and backward, so that everything that knows training graphs knows
 * profiles: forward makes its activations, and backward a gradient of each value that forward reads.  O(text), and a
 * sort of the names. */
#include "frontends/frontends.h"

#include "ir/base/infile.h"
#include "ir/base/units.h"

#include <string.h>

struct layer {
    sid id;
    const char *label; /* description of the layer; not ended by a NUL */
    size_t nlabel;
    uint32_t line;
    int64_t forward, backward;     /* ps */
    int64_t activation, parameter; /* bytes */
    int64_t stored;                /* bytes that forward leaves for backward */
};

struct reader {
    const char *path;
    struct diag *d;
    struct module *m;
    struct arena *a; /* the module's */
    uint32_t line;
    struct layer *layer;
    uint32_t nlayer, caplayer;
    uint32_t *by_id; /* [string] the layer of that id + 1 */
    uint32_t nid, capid;
    uint32_t *from, *to; /* [edge] layers */
    uint32_t nedge, capfrom, capto;
    struct csr out, in; /* layer -> edges */
    uint32_t *order;    /* position -> layer, of the layers that are kept */
    uint32_t norder;
    uint8_t *gone; /* [layer] */
};

/* Text [at, end) of a line. */
struct span {
    const char *at, *end;
};

static struct span trim(struct span s)
{
    while (s.at < s.end && (*s.at == ' ' || *s.at == '\t'))
        s.at++;
    while (s.at < s.end && (s.end[-1] == ' ' || s.end[-1] == '\t' || s.end[-1] == '\r'))
        s.end--;
    return s;
}

/* What stands before the separator, which is taken off; all of it and false if there is none. */
static bool split(struct span *s, const char *separator, struct span *before)
{
    size_t n = strlen(separator);
    const char *at = memmem(s->at, (size_t)(s->end - s->at), separator, n);
    *before = trim((struct span){s->at, at ? at : s->end});
    s->at = at ? at + n : s->end;
    return at != NULL;
}

static int expected(const struct reader *r, struct span s, const char *what)
{
    return diag_error(r->d, "%s:%u: '%.*s': expected %s", r->path, r->line,
                      (int)(smaller(s.end - s.at, 60)), s.at, what);
}

/* ---- numbers ------------------------------------------------------------------------------------ */

/* Digits, perhaps a point and an exponent, times 10^power, rounded to nearest.  false: it is no such number, or as
 * large as 4e18. */
static bool read_decimal(struct span s, int power, int64_t *out)
{
    unsigned __int128 x = 0;
    bool point = false, any = false;
    for (; s.at < s.end && (*s.at == '.' || (*s.at >= '0' && *s.at <= '9')); s.at++) {
        if (*s.at == '.' && point)
            return false;
        point = point || *s.at == '.';
        if (*s.at == '.')
            continue;
        any = true;
        if (x < (unsigned __int128)1 << 96) {
            x = 10 * x + (unsigned)(*s.at - '0');
            power -= point;
        } else {
            power += !point;
        }
    }
    if (any && s.at < s.end && (*s.at == 'e' || *s.at == 'E')) {
        bool minus = ++s.at < s.end && *s.at == '-';
        int exponent = 0;
        s.at += s.at < s.end && (*s.at == '-' || *s.at == '+');
        any = s.at < s.end;
        for (; s.at < s.end && *s.at >= '0' && *s.at <= '9'; s.at++)
            exponent = exponent < 1000 ? 10 * exponent + (*s.at - '0') : exponent;
        power += minus ? -exponent : exponent;
    }
    if (!any || s.at != s.end)
        return false;
    const unsigned __int128 most = (unsigned __int128)4000000000 * 1000000000;
    for (; power > 0 && x && x < most; power--)
        x *= 10;
    for (; power < -1; power++)
        x /= 10;
    x = power == -1 ? (x + 5) / 10 : x;
    *out = (int64_t)x;
    return x < most;
}

/* Reads one number, or "[a; b]" as the sum of a and b. */
static int read_figure(const struct reader *r, struct span s, int power, int64_t *out)
{
    struct span whole = s, one;
    bool more = true, list = s.at < s.end && *s.at == '[';
    int64_t x;
    *out = 0;
    if (list && s.end[-1] != ']')
        return expected(r, whole, "a list that ends with ']'");
    if (list)
        s = (struct span){s.at + 1, s.end - 1};
    while (more) {
        more = split(&s, ";", &one);
        if (!read_decimal(one, power, &x) || (more && !list))
            return expected(r, whole, "a number >= 0, or a list of some: [1; 2]");
        *out = sat_add(*out, x);
    }
    return 0;
}

/* ---- lines -------------------------------------------------------------------------------------- */

/* "forward_compute_time=0.073, backward_compute_time=6.949, ..." */
static int read_figures(const struct reader *r, struct span s, struct layer *l)
{
    static const struct {
        const char *name;
        int power;
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
        more = split(&s, ", ", &pair);
        if (!split(&pair, "=", &name))
            return expected(r, name, "NAME=NUMBER, as in 'forward_compute_time=0.5'");
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

static int read_layer(struct reader *r, struct span s)
{
    struct span id, label, figures, line = s;
    if (!split(&s, " -- ", &id) || !split(&s, " -- ", &label) || id.at == id.end)
        return expected(r, line, "a layer: 'node1 -- name -- forward_compute_time=...'");
    if (memchr(id.at, 0, (size_t)(id.end - id.at)))
        return diag_error(r->d, "%s:%u: the id of a layer cannot hold the byte \\x00", r->path,
                          r->line);
    split(&s, " -- ", &figures); /* a stage may follow */
    r->layer = vec_grow(r->a, r->layer, &r->caplayer, r->nlayer + 1, sizeof *r->layer);
    struct layer *l = &r->layer[r->nlayer];
    l->id = str_id_n(r->m, id.at, (size_t)(id.end - id.at));
    l->label = label.at;
    l->nlabel = (size_t)(label.end - label.at);
    l->line = r->line;
    r->by_id = vec_grow(r->a, r->by_id, &r->capid, l->id + 1, sizeof *r->by_id);
    r->nid = r->nid > l->id ? r->nid : l->id + 1;
    if (r->by_id[l->id])
        return diag_error(r->d, "%s:%u: there is a layer '%s' already, in line %u", r->path,
                          r->line, module_str(r->m, l->id), r->layer[r->by_id[l->id] - 1].line);
    r->by_id[l->id] = ++r->nlayer;
    return read_figures(r, figures, l);
}

static int find_layer(const struct reader *r, struct span s, uint32_t *out)
{
    sid id = str_id_n(r->m, s.at, (size_t)(s.end - s.at));
    if (id >= r->nid || !r->by_id[id])
        return expected(r, s, "the id of a layer in a line above");
    *out = r->by_id[id] - 1;
    return 0;
}

static int read_edge(struct reader *r, struct span s)
{
    struct span from, line = s;
    r->from = vec_grow(r->a, r->from, &r->capfrom, r->nedge + 1, sizeof *r->from);
    r->to = vec_grow(r->a, r->to, &r->capto, r->nedge + 1, sizeof *r->to);
    if (!split(&s, " -- ", &from))
        return expected(r, line, "an edge: 'node1 -- node2'");
    if (find_layer(r, from, &r->from[r->nedge]) || find_layer(r, trim(s), &r->to[r->nedge]))
        return -1;
    r->nedge++;
    return 0;
}

static int read_lines(struct reader *r, const char *text, size_t n)
{
    struct span all = {text, text + n};
    if (n > INT32_MAX) /* so that all can be counted */
        return diag_error(r->d, "%s: a profile of more than 2 GiB", r->path);
    while (all.at < all.end) {
        const char *end = memchr(all.at, '\n', (size_t)(all.end - all.at));
        struct span line = {all.at, end ? end : all.end}, s = trim(line);
        all.at = end ? end + 1 : all.end;
        r->line++;
        if (s.at == s.end)
            continue;
        if (s.at == line.at ? read_layer(r, s) : read_edge(r, s))
            return -1;
    }
    return r->nlayer ? 0 : diag_error(r->d, "%s: there are no layers in it", r->path);
}

/* ---- the graph ---------------------------------------------------------------------------------- */

static bool is_named(const struct layer *l, const char *begin)
{
    return l->nlabel >= strlen(begin) && memcmp(l->label, begin, strlen(begin)) == 0;
}

static void index_edges(struct reader *r)
{
    r->out = csr_build(r->a, r->nlayer, r->nedge, r->from, NULL);
    r->in = csr_build(r->a, r->nlayer, r->nedge, r->to, NULL);
}

/* Forgets edges that are there twice. */
static void drop_repeats(struct reader *r)
{
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

/* Inputs, and results that nothing reads, are no layers. */
static void drop_ends(struct reader *r)
{
    uint32_t n = 0;
    r->gone = arena_alloc(r->a, (size_t)r->nlayer + 1);
    for (uint32_t v = 0; v < r->nlayer; v++)
        r->gone[v] = (r->in.at[v] == r->in.at[v + 1] && is_named(&r->layer[v], "Input")) ||
                     (r->out.at[v] == r->out.at[v + 1] && is_named(&r->layer[v], "__getitem__"));
    for (uint32_t e = 0; e < r->nedge; e++)
        if (!r->gone[r->from[e]] && !r->gone[r->to[e]]) {
            r->from[n] = r->from[e];
            r->to[n++] = r->to[e];
        }
    r->nedge = n;
    index_edges(r);
}

/* The file's order if it is one, else another topological order. */
static int sort_layers(struct reader *r)
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
        if (!r->gone[order[i]])
            r->order[r->norder++] = order[i];
    }
    if (n == r->nlayer)
        return 0;
    for (v = 0; met[v];)
        v++;
    return diag_error(r->d, "%s:%u: layer '%s' is on or behind a cycle of edges", r->path,
                      r->layer[v].line, module_str(r->m, r->layer[v].id));
}

/* ---- the module --------------------------------------------------------------------------------- */

/* The first word of a layer's description; if there is none, or several layers have the same word, also the layer's
 * id: "layer_0", "Conv2d.node4". */
static sid *name_layers(struct reader *r)
{
    sid *name = arena_array(r->a, (size_t)r->nlayer + 1, sizeof *name);
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

struct layer_build {
    struct reader *r;
    const sid *name; /* [layer] */
    vid *forward;    /* [layer] its result */
    vid *gradient;   /* [edge] gradient of the value on the edge */
    vid *listed;     /* operands or results at hand */
    uint8_t *taken;  /* [string] 1: in use as a name */
    uint32_t captaken;
};

/* Makes a name of the text, with a number behind if the text is in use as a name. */
static sid fresh_name(struct layer_build *t, const char *text)
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

static nid add_node(struct layer_build *t, sid name, struct slice in, struct slice out)
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

static void add_forward(struct layer_build *t, uint32_t v)
{
    const struct reader *r = t->r;
    uint32_t n = 0;
    for_row (x, r->in, v)
        t->listed[n++] = t->forward[r->from[x]];
    struct slice in = module_add_args(r->m, t->listed, n);
    sid name = fresh_name(t, module_str(r->m, t->name[v]));
    t->forward[v] = module_add_value(r->m);
    r->m->value[t->forward[v]].name = name;
    add_node(t, name, in, module_add_args(r->m, &t->forward[v], 1));
}

/* Adds the backward node of a layer: it reads the layer's result and the gradients of that result by the layer's
 * readers, and makes a gradient of each operand of the layer. */
static void add_backward(struct layer_build *t, uint32_t v)
{
    const struct reader *r = t->r;
    uint32_t n = 0;
    t->listed[n++] = t->forward[v];
    for_row (x, r->out, v)
        t->listed[n++] = t->gradient[x];
    struct slice in = module_add_args(r->m, t->listed, n);
    sid name = fresh_name(t, arena_fmt(r->a, "%s/backward", module_str(r->m, t->name[v])));
    n = 0;
    for_row (x, r->in, v) {
        vid g = t->gradient[x] = t->listed[n++] = module_add_value(r->m);
        r->m->value[g].name = fresh_name(t, arena_fmt(r->a, "%s:%s", module_str(r->m, name),
                                                      module_str(r->m, t->name[r->from[x]])));
    }
    add_node(t, name, in, module_add_args(r->m, t->listed, n));
}

static void add_nodes(struct reader *r)
{
    struct module *m = r->m;
    gid g = module_add_graph(m);
    struct layer_build t = {.r = r, .name = name_layers(r)};
    t.forward = arena_array(r->a, (size_t)r->nlayer + 1, sizeof *t.forward);
    t.gradient = arena_array(r->a, (size_t)r->nedge + 1, sizeof *t.gradient);
    t.listed = arena_array(r->a, (size_t)r->nedge + 2, sizeof *t.listed);
    m->graph[g].name = str_id(m, "profile");
    m->graph[g].first = m->nnode;
    m->graph[g].count = 2 * r->norder;
    for (uint32_t i = 0; i < r->norder; i++)
        add_forward(&t, r->order[i]);
    for (uint32_t i = r->norder; i-- > 0;)
        add_backward(&t, r->order[i]);
}

static void add_costs(struct reader *r)
{
    struct module *m = r->m;
    struct costs *k = m->cost = arena_alloc(r->a, sizeof *k);
    nid first = m->graph[1].first, last = first + 2 * r->norder - 1;
    k->nclass = 1; /* until a cluster says how many there are */
    k->time = arena_array(r->a, 1, sizeof *k->time);
    k->time[0] = k->measured = arena_array(r->a, m->nnode, sizeof *k->measured);
    k->flops = arena_array(r->a, m->nnode, sizeof *k->flops);
    k->traffic = arena_array(r->a, m->nnode, sizeof *k->traffic);
    k->own = arena_array(r->a, m->nnode, sizeof *k->own);
    k->params = arena_array(r->a, m->nnode, sizeof *k->params);
    k->bytes = arena_array(r->a, m->nval, sizeof *k->bytes);
    k->elems = arena_array(r->a, m->nval, sizeof *k->elems);
    k->xfer = arena_array(r->a, m->nval, sizeof *k->xfer);
    m->color = arena_array(r->a, m->nnode, sizeof *m->color);
    m->layer = arena_array(r->a, m->nnode, sizeof *m->layer);
    m->backward = arena_alloc(r->a, m->nnode);
    for (vid v = 1; v < m->nval; v++)
        k->elems[v] = k->xfer[v] = -1;
    for (uint32_t i = 0; i < r->norder; i++) {
        const struct layer *l = &r->layer[r->order[i]];
        nid n = first + i, back = last - i;
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

static int read_all(struct reader *r, const char *text, size_t n)
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
    struct reader r = {.path = name, .d = d, .m = m, .a = m->mem};
    if (read_all(&r, text, n) == 0)
        return m;
    arena_free(m->mem);
    return NULL;
}
