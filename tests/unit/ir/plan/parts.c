/* From plans to parts: hand-made cases, and random modules with random plans against definitions
 * (every part can be run when its turn comes, holds what it needs and nothing else, and no two
 * parts of a device could be one). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ir/plan/parts.h"
#include "ir/ir.h"

#include <string.h>

enum { MAX_PARTS = 256 };

/* ---- making modules ------------------------------------------------------------------------- */

struct maker {
    struct module *m;
    struct diag diag;
    vid in[16], out[64];
    uint32_t nin, nout;
    uint32_t f32, i64; /* types */
};

static void start(struct maker *k)
{
    struct dim two = {2, 0}, large = {1000, 0};
    memset(k, 0, sizeof *k);
    k->m = module_new(NULL, &k->diag);
    gid g = module_add_graph(k->m);
    assert_int_equal(g, 1);
    k->m->graph[1].first = k->m->nnode;
    k->f32 = module_add_tensor_type(k->m, ELEM_F32, 1, &large);
    k->i64 = module_add_tensor_type(k->m, ELEM_I64, 1, &two);
}

static vid add_value(struct maker *k, const char *letter, uint32_t type, uint32_t flags)
{
    char name[32];
    vid v = module_add_value(k->m);
    snprintf(name, sizeof name, "%s%u", letter, v);
    sid id = str_id(k->m, name);
    k->m->value[v].name = id;
    k->m->value[v].graph = 1;
    k->m->value[v].type = type;
    k->m->value[v].flags = flags;
    return v;
}

static vid add_input(struct maker *k)
{
    return k->in[k->nin++] = add_value(k, "in", k->f32, VALUE_INPUT);
}

static vid add_init(struct maker *k)
{
    vid v = add_value(k, "w", k->f32, VALUE_INIT);
    tid t = module_add_tensor(k->m);
    k->m->value[v].tensor = t;
    return v;
}

static vid add_node(struct maker *k, const char *op, uint32_t type, uint32_t n, const vid *in)
{
    char name[32];
    nid id = module_add_node(k->m);
    vid out = add_value(k, "t", type, 0);
    snprintf(name, sizeof name, "n%u", id);
    sid label = str_id(k->m, name), kind = str_id(k->m, op);
    struct slice args = module_add_args(k->m, in, n), results = module_add_args(k->m, &out, 1);
    struct node *nd = &k->m->node[id];
    nd->name = label;
    nd->op = kind;
    nd->in = args;
    nd->nformal = n;
    nd->out = results;
    nd->graph = 1;
    k->m->value[out].def = id;
    k->m->graph[1].count++;
    return out;
}

static vid unary(struct maker *k, const char *op, vid in)
{
    return add_node(k, op, k->m->value[in].type, 1, &in);
}

static void add_output(struct maker *k, vid v)
{
    k->m->value[v].flags |= VALUE_OUTPUT;
    k->out[k->nout++] = v;
}

/* Costs that place_build reads. */
static struct place *finish(struct maker *k)
{
    struct module *m = k->m;
    struct slice in = module_add_args(m, k->in, k->nin), out = module_add_args(m, k->out, k->nout);
    m->graph[1].in = in;
    m->graph[1].out = out;
    m->cost = arena_alloc(m->mem, sizeof *m->cost);
    m->cost->elems = arena_array(m->mem, m->nval, sizeof(int64_t));
    m->cost->bytes = arena_array(m->mem, m->nval, sizeof(int64_t));
    for (vid v = 1; v < m->nval; v++) {
        m->cost->elems[v] = m->value[v].type == k->i64 ? 2 : 1000;
        m->cost->bytes[v] = 8 * m->cost->elems[v];
    }
    struct place *p = place_build(m, NULL, 0, m->mem, &k->diag);
    assert_non_null(p);
    return p;
}

static struct cluster devices(uint32_t n)
{
    struct cluster c = {.ncls = 1, .ndev = n};
    c.cls[0].name = "x";
    c.cls[0].count = n;
    return c;
}

/* ---- checking cuts -------------------------------------------------------------------------- */

static bool has(const vid *list, uint32_t n, vid v)
{
    for (uint32_t i = 0; i < n; i++)
        if (list[i] == v)
            return true;
    return false;
}

static void distinct(const vid *list, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        assert_false(has(list + i + 1, n - i - 1, list[i]));
}

static void run_node(const struct module *m, nid n, uint8_t *there, uint8_t *read)
{
    for (uint32_t i = 0; i < m->node[n].in.n; i++) {
        vid v = m->arg[m->node[n].in.at + i];
        assert_true(there[v]);
        read[v] = 1;
    }
    for (uint32_t i = 0; i < m->node[n].out.n; i++)
        there[m->arg[m->node[n].out.at + i]] = 1;
}

/* Runs part x on the table of tensors; afterwards `read` tells what its nodes read. */
static void run_part(const struct module *m, const struct part *t, uint8_t *table, uint8_t *read)
{
    uint8_t *there = arena_alloc(m->mem, m->nval);
    uint32_t i = 0, k = 0;
    there[0] = 1;
    for (i = 0; i < t->nin; i++) {
        assert_true(table[t->in[i]]);
        assert_false(m->value[t->in[i]].flags & VALUE_INIT);
        there[t->in[i]] = 1;
    }
    for (i = 0; i < t->nweight; i++) {
        assert_true(m->value[t->weight[i]].flags & VALUE_INIT);
        there[t->weight[i]] = 1;
    }
    for (i = 0; i < t->nnode || k < t->ncopy;)
        if (k == t->ncopy || (i < t->nnode && t->node[i] < t->copy[k]))
            run_node(m, t->node[i++], there, read);
        else
            run_node(m, t->copy[k++], there, read);
    for (i = 0; i < t->nout; i++) {
        assert_true(there[t->out[i]]);
        assert_false(table[t->out[i]]);
        table[t->out[i]] = 1;
        read[t->out[i]] |= 2;
    }
    distinct(t->in, t->nin);
    distinct(t->out, t->nout);
    distinct(t->weight, t->nweight);
    distinct(t->copy, t->ncopy);
}

/* Nothing in the part is there for nothing. */
static void check_needed(const struct module *m, const struct parts *c, uint32_t x,
                         const uint8_t *read)
{
    const struct part *t = &c->part[x];
    for (uint32_t i = 0; i < t->nin; i++)
        assert_true(read[t->in[i]] & 1);
    for (uint32_t i = 0; i < t->nweight; i++)
        assert_true(read[t->weight[i]]);
    for (uint32_t i = 0; i < t->ncopy; i++)
        assert_true(read[node_out(m, t->copy[i], 0)]);
    for (uint32_t i = 0; i < t->nout; i++) {
        bool wanted = (m->value[t->out[i]].flags & VALUE_OUTPUT) != 0;
        for (uint32_t y = x + 1; y < c->nparts; y++)
            wanted |= has(c->part[y].in, c->part[y].nin, t->out[i]);
        assert_true(wanted);
    }
}

static void check_sources(const struct module *m, const struct parts *c)
{
    const struct graph *g = &m->graph[1];
    for (uint32_t i = 0; i < g->out.n; i++) {
        vid v = m->arg[g->out.at + i];
        int32_t from = c->out_from[i];
        if (from >= 0)
            assert_true(has(c->part[from].out, c->part[from].nout, v));
        else if (from == PART_OF_INPUT)
            assert_true(!m->value[v].def && !(m->value[v].flags & VALUE_INIT));
        else
            assert_true(c->nparts == 0 && (m->value[v].flags & VALUE_INIT));
    }
    for (uint32_t i = 0; i < c->ncross; i++) {
        assert_true(c->cross_to.at[i] < c->cross_to.at[i + 1]);
        for (uint32_t k = c->cross_to.at[i]; k < c->cross_to.at[i + 1]; k++)
            assert_true(
                has(c->part[c->cross_to.to[k]].in, c->part[c->cross_to.to[k]].nin, c->cross[i]));
    }
}

static void check_parts(const struct module *m, const struct place *p, const struct parts *c,
                        const int32_t *dev)
{
    const struct graph *g = &m->graph[1];
    uint8_t *table = arena_alloc(m->mem, m->nval);
    uint32_t placed = 0, listed = 0;
    for (uint32_t i = 0; i < g->in.n; i++)
        table[m->arg[g->in.at + i]] = 1;
    for (uint32_t x = 0; x < c->nparts; x++) {
        uint8_t *read = arena_alloc(m->mem, m->nval);
        run_part(m, &c->part[x], table, read);
        check_needed(m, c, x, read);
        listed += c->part[x].nnode;
        for (uint32_t i = 0; i < c->part[x].nnode; i++) {
            assert_int_equal(c->part_of[c->part[x].node[i]], x);
            assert_int_equal(c->part[x].dev, dev[c->part[x].node[i]]);
        }
    }
    for (nid n = g->first; n < g->first + g->count; n++)
        placed += p->kind[n] == PLACE_NODE;
    assert_int_equal(placed, listed);
    check_sources(m, c);
}

/* Parts of one device between which no path leads through a third. */
static uint32_t joinable_pairs(const struct place *p, const struct module *m, const struct parts *c)
{
    static uint8_t edge[MAX_PARTS][MAX_PARTS], reach[MAX_PARTS][MAX_PARTS];
    uint32_t n = c->nparts, found = 0;
    assert_true(n <= MAX_PARTS);
    memset(edge, 0, sizeof edge);
    for (uint32_t e = 0; e < p->nnet; e++) {
        nid def = m->value[p->net_value[e]].def;
        for (uint32_t i = p->net_pin.at[e]; def && i < p->net_pin.at[e + 1]; i++)
            edge[c->part_of[def]][c->part_of[p->net_pin.to[i]]] = 1;
    }
    memcpy(reach, edge, sizeof edge);
    for (uint32_t u = 0; u < n; u++)
        reach[u][u] = 0;
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t u = 0; u < n; u++)
            for (uint32_t v = 0; reach[u][k] && v < n; v++)
                reach[u][v] |= reach[k][v];
    for (uint32_t u = 0; u < n; u++)
        for (uint32_t v = u + 1; v < n; v++) {
            bool through = false;
            assert_false(reach[v][u]);
            for (uint32_t k = u + 1; k < v; k++)
                through |= reach[u][k] && reach[k][v];
            found += c->part[u].dev == c->part[v].dev && !through;
        }
    return found;
}

/* The fewest parts there can be, for up to 64 placed nodes: parts in a legal order are stays on devices, and
 * a stay may as well take every node that it can.  Breadth first over what is done after each stay. */
static uint32_t least_parts(const struct module *m, const struct place *p, const int32_t *dev,
                            uint32_t ndev)
{
    enum { MOST = 4096 };
    static uint64_t set[MOST];
    uint64_t need[64] = {0}, all = 0;
    uint32_t id[256], n = 0, from = 0, to = 1;
    nid node[64];
    const struct graph *g = &m->graph[1];
    for (nid v = g->first; v < g->first + g->count; v++)
        if (p->kind[v] == PLACE_NODE) {
            assert_true(n < 64);
            node[n] = v;
            id[v] = n++;
        }
    for (uint32_t e = 0; e < p->nnet; e++) {
        nid def = m->value[p->net_value[e]].def;
        for (uint32_t i = p->net_pin.at[e]; def && i < p->net_pin.at[e + 1]; i++)
            if (p->net_pin.to[i] != def)
                need[id[p->net_pin.to[i]]] |= UINT64_C(1) << id[def];
    }
    all = n == 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
    set[0] = 0;
    for (uint32_t stays = 0;; stays++) {
        uint32_t end = to;
        for (uint32_t i = from; i < end; i++)
            if (set[i] == all)
                return stays;
        for (; from < end; from++)
            for (uint32_t d = 0; d < ndev; d++) {
                uint64_t done = set[from];
                uint32_t k = 0;
                for (uint32_t v = 0; v < n; v++) /* numbered topologically */
                    if (dev[node[v]] == (int32_t)d && !(need[v] & ~done))
                        done |= UINT64_C(1) << v;
                while (k < to && set[k] != done)
                    k++;
                if (k < to)
                    continue;
                if (to == MOST)
                    return 0; /* too many to know */
                set[to++] = done;
            }
    }
}

/* ---- cases ---------------------------------------------------------------------------------- */

/* a -> b -> c -> d, b and c on device 0, a and d on device 1: a cycle of devices. */
static void test_return_to_device(void **state)
{
    struct maker k;
    (void)state;
    start(&k);
    vid v = add_input(&k);
    for (int i = 0; i < 4; i++)
        v = unary(&k, "Relu", v);
    add_output(&k, v);
    struct place *p = finish(&k);
    struct cluster cl = devices(2);
    int32_t dev[] = {-1, 1, 0, 0, 1};
    struct parts *c =
        parts_build(&(struct scene){.m = k.m, .place = p, .cluster = &cl}, dev, k.m->mem);
    check_parts(k.m, p, c, dev);
    assert_int_equal(c->nparts, 3);
    assert_int_equal(c->part[1].nnode, 2);
    assert_int_equal(c->ncross, 2);
    assert_string_equal(part_file(c, 2, k.m->mem), "part2.onnx");
    int32_t contiguous[] = {-1, 1, 1, 0, 0};
    c = parts_build(&(struct scene){.m = k.m, .place = p, .cluster = &cl}, contiguous, k.m->mem);
    check_parts(k.m, p, c, contiguous);
    assert_int_equal(c->nparts, 2);
    assert_int_equal(c->part[0].dev, 1);
    int32_t nowhere[] = {-1, 1, 2, 0, 0};
    assert_null(
        parts_build(&(struct scene){.m = k.m, .place = p, .cluster = &cl}, nowhere, k.m->mem));
    c->nparts = 11;
    assert_string_equal(part_file(c, 3, k.m->mem), "part03.onnx");
    c->nparts = 101;
    assert_string_equal(part_file(c, 3, k.m->mem), "part003.onnx");
    arena_free(k.m->mem);
}

/* Two chains, each given by the devices of its nodes: the fewest parts are the length of the shortest sequence
 * of devices that goes through both. */
static void test_two_branches(void **state)
{
    static const struct {
        const char *p, *q; /* devices */
        uint32_t parts;
    } t[] = {
        {"000", "111", 2},   {"001", "011", 2}, /* contiguous */
        {"010", "000", 3},   {"010", "111", 3}, /* q wholly before, beside or after */
        {"010", "101", 4},                      /* interleaved: no device can be one part */
        {"0110", "0011", 3}, {"01010", "10101", 6}, {"012", "210", 5}, {"0120", "2012", 5},
    };
    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct maker k;
        int32_t dev[32] = {-1};
        uint32_t n = 1;
        start(&k);
        vid x = add_input(&k), v = x, w = x;
        for (const char *c = t[i].p; *c; c++, n++) {
            v = unary(&k, "Relu", v);
            dev[n] = *c - '0';
        }
        for (const char *c = t[i].q; *c; c++, n++) {
            w = unary(&k, "Exp", w);
            dev[n] = *c - '0';
        }
        add_output(&k, v);
        add_output(&k, w);
        struct place *p = finish(&k);
        struct cluster cl = devices(3);
        struct parts *c =
            parts_build(&(struct scene){.m = k.m, .place = p, .cluster = &cl}, dev, k.m->mem);
        check_parts(k.m, p, c, dev);
        assert_int_equal(c->nparts, t[i].parts);
        assert_int_equal(least_parts(k.m, p, dev, 3), t[i].parts);
        arena_free(k.m->mem);
    }
}

/* Outputs that are an input, an initializer, results of copies; first with, then without nodes. */
static void test_odd_outputs(void **state)
{
    struct cluster cl = devices(2);
    (void)state;
    for (int nodes = 1; nodes >= 0; nodes--) {
        struct maker k;
        start(&k);
        vid x = add_input(&k), w = add_init(&k);
        vid a = nodes ? unary(&k, "Relu", x) : x, b = nodes ? unary(&k, "Exp", a) : x;
        vid size = add_node(&k, "Shape", k.i64, 1, &b);
        vid twice = add_node(&k, "Add", k.i64, 2, (vid[]){size, size});
        vid constant = add_node(&k, "Constant", k.f32, 0, NULL);
        add_output(&k, x);
        add_output(&k, w);
        add_output(&k, twice);
        add_output(&k, constant);
        struct place *p = finish(&k);
        int32_t dev[] = {-1, 0, 1, 1, -1, -1};
        struct parts *c =
            parts_build(&(struct scene){.m = k.m, .place = p, .cluster = &cl}, dev, k.m->mem);
        check_parts(k.m, p, c, dev);
        assert_int_equal(c->nparts, nodes ? 2 : 1);
        assert_int_equal(c->out_from[0], PART_OF_INPUT);
        assert_int_equal(c->out_from[1], 0);
        assert_int_equal(c->out_from[2], nodes ? 1 : 0);
        assert_int_equal(c->out_from[3], 0);
        arena_free(k.m->mem);
    }
    struct maker k;
    start(&k);
    add_output(&k, add_input(&k));
    add_output(&k, add_init(&k));
    struct place *p = finish(&k);
    struct parts *c = parts_build(&(struct scene){.m = k.m, .place = p, .cluster = &cl},
                                  (int32_t[]){-1}, k.m->mem);
    check_parts(k.m, p, c, (int32_t[]){-1});
    assert_int_equal(c->nparts, 0);
    assert_int_equal(c->out_from[1], PART_OF_WEIGHTS);
    arena_free(k.m->mem);
}

/* ---- random modules ------------------------------------------------------------------------- */

static uint32_t rnd(uint64_t *s, uint32_t n)
{
    *s = *s * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*s >> 33) % n;
}

static struct place *random_module(struct maker *k, uint64_t *s, uint32_t nodes)
{
    vid wide[256], small[256];
    uint32_t nw = 0, ns = 0;
    start(k);
    for (uint32_t i = 0; i < 1 + rnd(s, 3); i++)
        wide[nw++] = add_input(k);
    for (uint32_t i = 0; i < rnd(s, 4); i++)
        wide[nw++] = add_init(k);
    for (uint32_t i = 0; i < nodes; i++) {
        uint32_t what = rnd(s, 10), far = 1 + rnd(s, 4) * 3;
        vid near = wide[nw - 1 - rnd(s, nw < far ? nw : far)], any = wide[rnd(s, nw)];
        vid size = ns ? small[rnd(s, ns)] : 0, other = ns ? small[rnd(s, ns)] : 0;
        if (what == 0)
            wide[nw++] = add_node(k, "Constant", k->f32, 0, NULL);
        else if (what == 1)
            small[ns++] = add_node(k, "Shape", k->i64, 1, &near);
        else if (what == 2 && ns)
            small[ns++] = add_node(k, "Mul", k->i64, 2, (vid[]){size, other});
        else if (what == 3 && ns)
            wide[nw++] = add_node(k, "Reshape", k->f32, 2, (vid[]){near, size});
        else if (what < 7)
            wide[nw++] = add_node(k, "Add", k->f32, 2, (vid[]){near, any});
        else
            wide[nw++] = unary(k, "Relu", near);
    }
    add_output(k, wide[nw - 1]);
    for (uint32_t i = 0; i < 3; i++) {
        vid v = rnd(s, 2) && ns ? small[rnd(s, ns)] : wide[rnd(s, nw)];
        if (!(k->m->value[v].flags & VALUE_OUTPUT))
            add_output(k, v);
    }
    return finish(k);
}

/* Pieces (device, G) by the definition. */
static uint32_t level_pieces(const struct maker *k, const struct place *p, const int32_t *dev)
{
    static uint8_t there[8][256];
    uint32_t level[256] = {0}, n = 0;
    const struct graph *g = &k->m->graph[1];
    memset(there, 0, sizeof there);
    for (nid v = g->first; v < g->first + g->count; v++) {
        if (p->kind[v] != PLACE_NODE)
            continue;
        for (uint32_t e = 0; e < p->nnet; e++) {
            nid u = k->m->value[p->net_value[e]].def;
            if (!u || u == v ||
                !has(p->net_pin.to + p->net_pin.at[e], p->net_pin.at[e + 1] - p->net_pin.at[e], v))
                continue;
            uint32_t l = level[u] + (dev[u] != dev[v]);
            level[v] = l > level[v] ? l : level[v];
        }
        n += !there[dev[v]][level[v]];
        there[dev[v]][level[v]] = 1;
    }
    return n;
}

static void test_random(void **state)
{
    uint32_t split_devices = 0, joined = 0, known = 0, more = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        struct maker k;
        uint64_t s = seed * 7919;
        struct place *p = random_module(&k, &s, 1 + rnd(&s, seed % 10 ? 40 : 150));
        uint32_t used = 0, ndev = 2 + rnd(&s, 4), stay = 1 + rnd(&s, 8), d = 0;
        int32_t dev[256];
        uint8_t seen[8] = {0};
        struct cluster cl = devices(ndev);
        memset(dev, 0xff, sizeof dev);
        for (nid n = 1; n < k.m->nnode; n++) {
            d = rnd(&s, stay) ? d : rnd(&s, ndev);
            if (p->kind[n] == PLACE_NODE) {
                dev[n] = (int32_t)d;
                used += !seen[d];
                seen[d] = 1;
            }
        }
        struct parts *c =
            parts_build(&(struct scene){.m = k.m, .place = p, .cluster = &cl}, dev, k.m->mem);
        assert_non_null(c);
        check_parts(k.m, p, c, dev);
        if (used) {
            uint32_t pieces = level_pieces(&k, p, dev);
            assert_true(c->nparts >= used);
            if (c->nparts > used) {
                split_devices++;
                assert_true(c->nparts <= pieces);
                joined += pieces - c->nparts;
                assert_int_equal(joinable_pairs(p, k.m, c), 0);
            }
            uint32_t least = used && k.m->nnode <= 60 ? least_parts(k.m, p, dev, ndev) : 0;
            if (least) {
                assert_true(least <= c->nparts && c->nparts <= least + 2);
                known++;
                more += c->nparts > least;
                assert_true(c->nparts == used || least > used);
            }
        }
        arena_free(k.m->mem);
    }
    assert_true(split_devices > 500);
    assert_true(known > 1000 && more < known / 20);
    assert_true(joined > 500);
}

/* A chain that changes device at every node, and many independent ones: cost stays near linear. */
static void test_large(void **state)
{
    enum { N = 60000 };
    static int32_t dev[N + 1];
    struct cluster cl = devices(3);
    (void)state;
    for (int chains = 0; chains < 2; chains++) {
        struct maker k;
        start(&k);
        vid x = add_input(&k), v = x;
        dev[0] = -1;
        for (int i = 0; i < N; i++) {
            v = unary(&k, "Relu", chains && i % 100 == 0 ? x : v);
            dev[i + 1] = (i * 7 + i / 5) % 3;
            if (chains && i % 100 == 99 && k.nout < 64)
                add_output(&k, v);
        }
        if (!chains)
            add_output(&k, v);
        struct place *p = finish(&k);
        struct parts *c =
            parts_build(&(struct scene){.m = k.m, .place = p, .cluster = &cl}, dev, k.m->mem);
        assert_non_null(c);
        assert_true(c->nparts > 3);
        if (chains)
            assert_true(c->nparts < 300);
        arena_free(k.m->mem);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_return_to_device),
        cmocka_unit_test(test_two_branches),
        cmocka_unit_test(test_odd_outputs),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
