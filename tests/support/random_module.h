/* Seeded random modules, for property tests (their equality: module_equal.h).
 *
 * random_module(seed) has everything that a module can hold: all kinds of attributes and types, all
 * element types, tensors inline and in files, omitted operands and results, lost values, odd names,
 * bodies up to three deep with captures and names that hide outer ones, costs, colors and layers.
 * It passes module_verify. */
#ifndef PCC_TESTS_RANDOM_MODULE_H
#define PCC_TESTS_RANDOM_MODULE_H

#include "ir/ir.h"
#include "ir/base/strings.h"

#include <stdio.h>
#include <string.h>

struct rng {
    uint64_t s;
};

static inline uint64_t rng_bits(struct rng *r)
{
    r->s ^= r->s << 13; /* xorshift64 */
    r->s ^= r->s >> 7;
    r->s ^= r->s << 17;
    return r->s * UINT64_C(0x2545f4914f6cdd1d);
}

/* In [0, n), n > 0. */
static inline uint32_t rng_below(struct rng *r, uint32_t n)
{
    return (uint32_t)((rng_bits(r) >> 32) % n);
}

static inline bool rng_one_in(struct rng *r, uint32_t n)
{
    return rng_below(r, n) == 0;
}

static inline struct rng rng_seed(uint64_t seed)
{
    struct rng r = {seed * UINT64_C(0x9e3779b97f4a7c15) + 88172645463325252u};

    for (int i = 0; i < 8; i++) {
        rng_bits(&r);
    }
    return r;
}

struct random_module {
    struct rng r;
    struct module *m;
    uint32_t serial;
    uint32_t depth[4096]; /* [graph] */
    vid see[4096];        /* what the graph in hand can read */
    uint32_t nsee;
};

/* A byte count, time or the like: small, round, or anything. */
static inline int64_t random_amount(struct rng *r)
{
    switch (rng_below(r, 6)) {
    case 0:
        return 0;
    case 1:
        return rng_below(r, 100);
    case 2:
        return (int64_t)rng_below(r, 5000) * 1000000;
    case 3:
        return (int64_t)rng_below(r, 5000) << (10 * rng_below(r, 4));
    case 4:
        return rng_one_in(r, 4) ? INT64_MAX : INT64_MAX - rng_below(r, 9);
    default:
        return (int64_t)(rng_bits(r) >> (1 + rng_below(r, 60)));
    }
}

/* A name that no other has: plain, with dots and slashes, a keyword, or of any bytes but NUL. */
static inline sid random_name(struct random_module *x)
{
    static const char *const form[] = {"x%u",        "/layer.%u/Conv_output_0",
                                       "scope:%u",   "~%u",
                                       "%u",         "in%u",
                                       "a b%u",      "a\"\\%u\n\t",
                                       "\xc3\xbc%u", "colon:x%u",
                                       "-%u",        "_%u",
                                       "x@y%u",      "#%u",
                                       "a%u:"};
    char buf[64];
    uint32_t k = rng_below(&x->r, 16), n;

    x->serial++;
    if (k < 15) {
        snprintf(buf, sizeof buf, form[k], x->serial);
        return str_id(x->m, buf);
    }
    n = (uint32_t)snprintf(buf, sizeof buf, "%u.", x->serial);
    for (uint32_t i = rng_below(&x->r, 9); i > 0; i--) {
        buf[n++] = (char)(1 + rng_below(&x->r, 255));
    }
    return str_id_n(x->m, buf, n);
}

/* Any bytes. */
static inline sid random_string(struct random_module *x)
{
    char buf[16];
    uint32_t n = rng_below(&x->r, sizeof buf);

    if (rng_one_in(&x->r, 2)) {
        return random_name(x);
    }
    for (uint32_t i = 0; i < n; i++) {
        buf[i] = (char)rng_below(&x->r, 256);
    }
    return str_id_n(x->m, buf, n);
}

static inline float random_float(struct rng *r)
{
    static const float some[] = {
        0, -0.0f, 1, -1, 0.1f, 1e-5f, 16777216, 1e10f, 3.4028235e38f, 1e-45f, 1.17549435e-38f};
    uint32_t bits = (uint32_t)rng_bits(r);
    float f;

    if (rng_one_in(r, 3)) {
        return some[rng_below(r, sizeof some / sizeof *some)];
    }
    if (rng_one_in(r, 4)) { /* infinities and nans */
        bits |= UINT32_C(0x7f800000);
        bits &= rng_one_in(r, 2) ? UINT32_C(0xff800000) : UINT32_MAX;
    }
    memcpy(&f, &bits, sizeof f);
    return f;
}

static inline struct dim random_dim(struct random_module *x)
{
    static const char *const expr[] = {"batch",  "seq",           "2*seq + 1", "past + seq",
                                       "seq//2", "batch*seq",     "a - b",     "Min(a, b)",
                                       "-a + 2", "not a name",    "x]y",       "((((",
                                       "a.b",    "(a + b)*(c+1)", "1/0"};
    uint32_t k = rng_below(&x->r, 12);

    if (k < 5) {
        return dim_num(rng_below(&x->r, 9));
    }
    if (k == 5) {
        return dim_num((int64_t)(rng_bits(&x->r) >> 1));
    }
    if (k < 10) {
        return dim_parse(x->m, expr[rng_below(&x->r, sizeof expr / sizeof *expr)]);
    }
    if (k == 10) { /* not canonical */
        return (struct dim){-1, random_name(x)};
    }
    return dim_unknown();
}

static inline uint32_t random_type(struct random_module *x, int depth)
{
    struct module *m = x->m;
    struct type t = {0};
    uint32_t k = rng_below(&x->r, 16);

    if (k == 0) {
        return 0;
    }
    if (k == 1) {
        t.kind = TYPE_OPAQUE;
        return module_add_type(m, t);
    }
    if (k <= 4 && depth < 4) {
        t.kind = (uint8_t)(k == 2 ? TYPE_SEQ : k == 3 ? TYPE_OPT : TYPE_MAP);
        t.elem = t.kind == TYPE_MAP ? (uint8_t)(1 + rng_below(&x->r, ELEM_COUNT - 1)) : 0;
        t.inner = random_type(x, depth + 1);
        return module_add_type(m, t);
    }
    t.kind = k == 5 ? TYPE_SPARSE : TYPE_TENSOR;
    t.elem = (uint8_t)rng_below(&x->r, ELEM_COUNT);
    t.rank = (int16_t)(rng_one_in(&x->r, 6) ? -1 : (int)rng_below(&x->r, 5));
    struct dim d[4];
    for (int i = 0; i < t.rank; i++) {
        d[i] = random_dim(x);
    }
    if (t.rank > 0) {
        t.dim = module_add_dims(m, d, (uint32_t)t.rank).at;
    }
    return module_add_type(m, t);
}

static inline void random_payload(struct random_module *x, struct tensor *t, int64_t elems)
{
    struct module *m = x->m;

    t->len = (uint64_t)elem_bytes((enum elem)t->elem, elems);
    if (t->where == TENSOR_FILE) {
        t->file = 1 + rng_below(&x->r, m->nfile - 1);
        t->off = rng_below(&x->r, 100000);
    } else if (t->where == TENSOR_INLINE) {
        unsigned char *b = arena_alloc(m->mem, (size_t)t->len + 1);
        uint32_t top = t->elem == ELEM_BOOL && !rng_one_in(&x->r, 3) ? 2 : 256;
        for (uint64_t i = 0; i < t->len; i++) {
            b[i] = (unsigned char)rng_below(&x->r, top);
        }
        for (uint64_t i = 0; t->elem == ELEM_F32 && i + 4 <= t->len; i += 4) {
            float f = random_float(&x->r);
            memcpy(b + i, &f, sizeof f);
        }
        t->data = b;
    } else if (t->where == TENSOR_STRINGS) {
        t->len = (uint64_t)elems;
        t->off = m->nsids;
        for (int64_t i = 0; i < elems; i++) {
            sid s = random_string(x);
            module_add_sids(m, &s, 1);
        }
    } else {
        t->len = 0;
    }
}

/* Documentation, metadata and bytes of ONNX alone, each now and then. */
static inline uint32_t random_about(struct random_module *x)
{
    struct module *m = x->m;
    struct about a = {0};
    unsigned char bytes[3] = {(unsigned char)rng_bits(&x->r), 0, (unsigned char)rng_bits(&x->r)};

    if (!rng_one_in(&x->r, 4)) {
        return 0;
    }
    a.doc = rng_one_in(&x->r, 2) ? random_name(x) : 0;
    for (uint32_t n = rng_below(&x->r, 3); n > 0; n--) {
        sid pair[2] = {random_name(x), random_name(x)};
        struct slice s = module_add_sids(m, pair, 2);
        a.meta.at = a.meta.n == 0 ? s.at : a.meta.at;
        a.meta.n += 2;
    }
    a.rest = rng_one_in(&x->r, 2) ? str_id_n(m, (const char *)bytes, 1 + rng_below(&x->r, 3)) : 0;
    return a.doc != 0 || a.meta.n > 0 || a.rest != 0 ? module_add_about(m, a) : 0;
}

static inline tid random_tensor(struct random_module *x, sid name);

/* A tensor of two others: its values and where they are. */
static inline tid random_sparse(struct random_module *x, sid name)
{
    struct module *m = x->m;
    struct tensor t = {.name = name, .where = TENSOR_SPARSE, .elem = ELEM_F32, .rank = 1};
    int64_t d = 7;

    for (int k = 0; k < 2; k++) {
        tid of = rng_one_in(&x->r, 4) ? 0 : random_tensor(x, 0);
        t.of[k] = m->tensor[of].where == TENSOR_SPARSE ? 0 : of;
    }
    t.dim = module_add_ints(m, &d, 1).at;
    t.about = random_about(x);
    tid id = module_add_tensor(m);
    m->tensor[id] = t;
    return id;
}

/* Ranges of another tensor along an axis; 0 if that is none that has ranges. */
static inline tid random_slice(struct random_module *x, sid name)
{
    struct module *m = x->m;
    tid of = random_tensor(x, 0), depth = of;
    struct tensor t = m->tensor[of];
    uint32_t deep = 0;

    for (; m->tensor[depth].where == TENSOR_SLICE; deep++) {
        depth = m->tensor[depth].of[0];
    }
    if (!tensor_has_bytes(&t) || t.rank == 0 || elem_bits((enum elem)t.elem) < 8 ||
        deep == TENSOR_DEPTH) {
        return 0;
    }
    t = (struct tensor){.name = name, .where = TENSOR_SLICE, .elem = t.elem, .rank = t.rank};
    t.of[0] = of;
    t.axis = rng_below(&x->r, t.rank);
    int64_t n = m->ints[m->tensor[of].dim + t.axis], sum = 0, range[4];
    for (uint32_t i = 0; i < 2; i++) {
        range[2 * i] = rng_below(&x->r, (uint32_t)n + 1);
        range[2 * i + 1] = range[2 * i] + rng_below(&x->r, (uint32_t)(n - range[2 * i]) + 1);
        sum += range[2 * i + 1] - range[2 * i];
    }
    t.range = module_add_ints(m, range, 4);
    t.dim = module_add_ints(m, m->ints + m->tensor[of].dim, t.rank).at;
    m->ints[t.dim + t.axis] = sum;
    t.len = (uint64_t)elem_bytes((enum elem)t.elem, dims_elems(m, t.dim, t.rank));
    t.about = random_about(x);
    tid id = module_add_tensor(m);
    m->tensor[id] = t;
    return id;
}

static inline tid random_tensor(struct random_module *x, sid name)
{
    struct module *m = x->m;
    struct tensor t = {.name = name};
    int64_t elems = 1, d[3];

    if (rng_one_in(&x->r, 12)) {
        return random_sparse(x, name);
    }
    tid slice = rng_one_in(&x->r, 8) ? random_slice(x, name) : 0;
    if (slice != 0) {
        return slice;
    }

    t.elem = (uint8_t)rng_below(&x->r, ELEM_COUNT);
    t.rank = rng_below(&x->r, 4);
    for (uint32_t i = 0; i < t.rank; i++) {
        d[i] = rng_below(&x->r, rng_one_in(&x->r, 8) ? 9 : 4);
        elems *= d[i];
    }
    t.dim = t.rank > 0 ? module_add_ints(m, d, t.rank).at : 0;
    t.where = (uint8_t)(rng_one_in(&x->r, 8)   ? TENSOR_OPAQUE
                        : t.elem == ELEM_STR   ? TENSOR_STRINGS
                        : rng_one_in(&x->r, 3) ? TENSOR_FILE
                                               : TENSOR_INLINE);
    random_payload(x, &t, elems);
    t.typed = (t.where == TENSOR_INLINE || t.where == TENSOR_FILE) && rng_one_in(&x->r, 4);
    t.about = random_about(x);
    tid id = module_add_tensor(m);
    m->tensor[id] = t;
    return id;
}

/* An initializer of value v, whose type mostly says what the tensor says. */
static inline void random_init(struct random_module *x, vid v)
{
    struct module *m = x->m;
    sid name = rng_one_in(&x->r, 8) ? random_name(x) : m->value[v].name;
    tid t = random_tensor(x, name);
    struct dim d[3];

    m->value[v].tensor = t;
    m->value[v].flags |= VALUE_INIT;
    if (rng_one_in(&x->r, 4)) {
        return;
    }
    for (uint32_t i = 0; i < m->tensor[t].rank; i++) {
        d[i] = dim_num(m->ints[m->tensor[t].dim + i]);
    }
    m->value[v].type =
        module_add_tensor_type(m, (enum elem)m->tensor[t].elem, (int)m->tensor[t].rank, d);
}

/* A value of graph g: now and then lost, now and then with the name of an outer value. */
static inline vid random_value(struct random_module *x, gid g, bool may_lose)
{
    struct module *m = x->m;
    vid v = module_add_value(m);
    sid name = random_name(x);

    m->value[v].graph = g;
    if (may_lose && rng_one_in(&x->r, 8)) {
        name = 0;
        m->value[v].flags |= VALUE_LOST;
    } else if (g > 1 && rng_one_in(&x->r, 4)) {
        sid outer = m->value[1 + rng_below(&x->r, v)].name;
        bool taken = outer == 0;
        for (vid w = 1; w < m->nval && !taken; w++) {
            taken = m->value[w].graph == g && m->value[w].name == outer;
        }
        name = taken ? name : outer;
    }
    m->value[v].name = name;
    m->value[v].type = random_type(x, 0);
    if (name != 0 && x->nsee < sizeof x->see / sizeof *x->see) {
        x->see[x->nsee++] = v;
    }
    return v;
}

static inline gid random_body(struct random_module *x, nid owner)
{
    gid g = module_add_graph(x->m);

    x->m->graph[g].owner = owner;
    x->depth[g] = x->depth[x->m->node[owner].graph] + 1;
    return g;
}

static inline bool random_may_nest(const struct random_module *x, nid n)
{
    return x->depth[x->m->node[n].graph] < 3 && x->m->ngraph < 24;
}

static inline void random_list(struct random_module *x, nid n, struct attr *a)
{
    struct module *m = x->m;
    uint32_t count = rng_below(&x->r, 4);

    for (uint32_t i = 0; i < count; i++) {
        struct slice s;
        if (a->kind == ATTR_FLOATS) {
            float f = random_float(&x->r);
            s = module_add_floats(m, &f, 1);
        } else if (a->kind == ATTR_INTS) {
            int64_t v = (int64_t)rng_bits(&x->r) >> rng_below(&x->r, 64);
            s = module_add_ints(m, &v, 1);
        } else if (a->kind == ATTR_STRINGS) {
            sid t = random_string(x);
            s = module_add_sids(m, &t, 1);
        } else {
            uint32_t ref = a->kind == ATTR_GRAPHS  ? random_body(x, n)
                           : a->kind == ATTR_TYPES ? random_type(x, 0)
                                                   : random_tensor(x, 0);
            s = module_add_refs(m, &ref, 1);
        }
        a->u.list.at = i == 0 ? s.at : a->u.list.at;
        a->u.list.n++;
    }
}

static inline struct attr random_attr(struct random_module *x, nid n)
{
    struct attr a;

    memset(&a, 0, sizeof a);
    a.name = random_name(x);
    a.kind = (uint8_t)rng_below(&x->r, ATTR_TYPES + 1);
    a.about = random_about(x);
    if (rng_one_in(&x->r, 12)) {
        a.ref = random_name(x);
        return a;
    }
    if ((a.kind == ATTR_GRAPH || a.kind == ATTR_GRAPHS) && !random_may_nest(x, n)) {
        a.kind = ATTR_NONE;
    }
    a.untyped = a.kind == ATTR_NONE || rng_one_in(&x->r, 8);
    a.unset = rng_one_in(&x->r, 8);
    switch (a.kind) {
    case ATTR_FLOAT:
        a.u.f = random_float(&x->r);
        break;
    case ATTR_INT:
        a.u.i = (int64_t)rng_bits(&x->r) >> rng_below(&x->r, 64);
        break;
    case ATTR_STRING:
        a.u.s = random_string(x);
        break;
    case ATTR_TENSOR:
    case ATTR_SPARSE:
        a.u.t = random_tensor(x, rng_one_in(&x->r, 2) ? random_name(x) : 0);
        break;
    case ATTR_GRAPH:
        a.u.g = random_body(x, n);
        break;
    case ATTR_TYPE:
        a.u.type = random_type(x, 0);
        break;
    case ATTR_NONE:
        break;
    default:
        random_list(x, n, &a);
    }
    return a;
}

static inline struct slice random_operands(struct random_module *x, uint32_t n, bool none)
{
    struct slice s = {x->m->narg, 0};

    for (; s.n < n && x->nsee > 0; s.n++) {
        vid v = none && rng_one_in(&x->r, 6) ? 0 : x->see[rng_below(&x->r, x->nsee)];
        module_add_args(x->m, &v, 1);
    }
    return s;
}

static inline void random_node(struct random_module *x, gid g)
{
    static const char *const op[] = {"Add", "If", "odd op", "in", "Loop", "1x", ""};
    static const char *const domain[] = {"", "", "", "com.microsoft", "ai.onnx", "odd domain"};
    struct module *m = x->m;
    nid n = module_add_node(m);
    struct attr a[4];
    uint32_t na = rng_below(&x->r, 5), nout = rng_below(&x->r, 4);
    gid before = m->ngraph;

    m->node[n].graph = g;
    m->node[n].op = str_id(m, op[rng_below(&x->r, 7)]);
    m->node[n].domain = str_id(m, domain[rng_below(&x->r, 6)]);
    m->node[n].overload = rng_one_in(&x->r, 10) ? random_name(x) : 0;
    m->node[n].about = random_about(x);
    m->node[n].made_from = rng_one_in(&x->r, 10) ? random_name(x) : 0;
    for (uint32_t k = 0; k < 3; k++) {
        m->node[n].flags |= rng_one_in(&x->r, 5) ? 1u << k : 0;
    }
    for (uint32_t i = 0; i < na; i++) {
        a[i] = random_attr(x, n);
    }
    m->node[n].attr = module_add_attrs(m, a, na);
    struct slice in = random_operands(x, rng_below(&x->r, 5), true);
    m->node[n].nformal = in.n;
    if (m->ngraph > before) {
        in.n += random_operands(x, rng_below(&x->r, 4), false).n;
    }
    m->node[n].in = in;
    vid out[4] = {0};
    for (uint32_t i = 0; i < nout; i++) {
        if (!rng_one_in(&x->r, 6)) {
            out[i] = random_value(x, g, true);
            m->value[out[i]].def = n;
            m->value[out[i]].outno = i;
        }
    }
    m->node[n].out = module_add_args(m, out, nout);
    m->node[n].name = random_name(x);
    if (nout > 0 && m->value[out[0]].name != 0 && rng_one_in(&x->r, 2)) { /* the default */
        const char *value = value_name(m, out[0]);
        const char *name = module_str(m, m->graph[g].name);
        m->node[n].name = str_id(m, g == 1 ? value : arena_fmt(m->mem, "%s.%s", name, value));
    }
}

static inline void random_graph(struct random_module *x, gid g, uint32_t nodes)
{
    struct module *m = x->m;
    nid owner = m->graph[g].owner;
    vid in[4] = {0}, init[5] = {0}, out[3] = {0};
    uint32_t nin = rng_below(&x->r, 4), ninit = 0, nout = 0;

    x->nsee = 0;
    for (uint32_t i = 0; owner != 0 && i < m->node[owner].in.n; i++) {
        vid v = node_in(m, owner, i);
        if (v != 0) {
            x->see[x->nsee++] = v;
        }
    }
    m->graph[g].about = random_about(x);
    m->graph[g].name = g == 1 && rng_one_in(&x->r, 2) ? str_id(m, "main") : random_name(x);
    for (uint32_t i = 0; i < nin; i++) {
        in[i] = random_value(x, g, false);
        m->value[in[i]].flags |= VALUE_INPUT;
    }
    for (uint32_t i = rng_below(&x->r, 3); i > 0; i--) {
        init[ninit++] = random_value(x, g, rng_one_in(&x->r, 4));
    }
    if (nin > 0 && rng_one_in(&x->r, 3)) {
        init[ninit++] = in[rng_below(&x->r, nin)];
    }
    for (uint32_t i = 0; i < ninit; i++) {
        random_init(x, init[i]);
    }
    m->graph[g].first = m->nnode;
    for (uint32_t i = 0; i < nodes; i++) {
        random_node(x, g);
    }
    m->graph[g].count = nodes;
    for (; nout < 3 && x->nsee > 0 && !rng_one_in(&x->r, 4); nout++) {
        out[nout] = x->see[rng_below(&x->r, x->nsee)];
        m->value[out[nout]].flags |= m->value[out[nout]].graph == g ? VALUE_OUTPUT : 0;
    }
    m->graph[g].in = module_add_args(m, in, nin);
    m->graph[g].init = module_add_args(m, init, ninit);
    m->graph[g].out = module_add_args(m, out, nout);
}

static inline int64_t random_time(struct rng *r)
{
    return rng_one_in(r, 6) ? COST_NEVER : random_amount(r);
}

static inline void random_costs(struct random_module *x, uint32_t ncls)
{
    struct module *m = x->m;
    struct costs *k = arena_alloc(m->mem, sizeof *k);

    m->cost = k;
    k->nclass = ncls;
    k->time = arena_array(m->mem, ncls, sizeof *k->time);
    for (uint32_t c = 0; c < ncls; c++) {
        k->time[c] = arena_array(m->mem, m->nnode, sizeof(int64_t));
    }
    k->flops = arena_array(m->mem, m->nnode, sizeof(int64_t));
    k->traffic = arena_array(m->mem, m->nnode, sizeof(int64_t));
    k->own = arena_array(m->mem, m->nnode, sizeof(int64_t));
    if (rng_one_in(&x->r, 3))
        k->params = arena_array(m->mem, m->nnode, sizeof(int64_t));
    k->bytes = arena_array(m->mem, m->nval, sizeof(int64_t));
    k->elems = arena_array(m->mem, m->nval, sizeof(int64_t));
    k->xfer = arena_array(m->mem, m->nval, sizeof(int64_t));
    k->elems[0] = k->xfer[0] = -1;
    for (nid n = 1; n < m->nnode; n++) {
        int64_t same = random_time(&x->r);
        bool uniform = rng_one_in(&x->r, 3);
        for (uint32_t c = 0; c < ncls; c++) {
            k->time[c][n] = uniform ? same : random_time(&x->r);
        }
        k->flops[n] = random_amount(&x->r);
        k->traffic[n] = random_amount(&x->r);
        k->own[n] = random_amount(&x->r);
        if (k->params)
            k->params[n] = random_amount(&x->r);
    }
    for (vid v = 1; v < m->nval; v++) {
        k->bytes[v] = random_amount(&x->r);
        k->elems[v] = rng_one_in(&x->r, 3) ? -1 : random_amount(&x->r);
        k->xfer[v] = rng_one_in(&x->r, 3) ? -1 : random_time(&x->r);
    }
}

static inline void random_facts(struct random_module *x)
{
    struct module *m = x->m;

    m->color = rng_one_in(&x->r, 2) ? arena_array(m->mem, m->nnode, sizeof *m->color) : NULL;
    m->layer = rng_one_in(&x->r, 2) ? arena_array(m->mem, m->nnode, sizeof *m->layer) : NULL;
    m->backward = rng_one_in(&x->r, 2) ? arena_array(m->mem, m->nnode, 1) : NULL;
    m->device_ann = rng_one_in(&x->r, 2) ? arena_array(m->mem, m->nnode, sizeof(sid)) : NULL;
    m->slot_ann = rng_one_in(&x->r, 2) ? arena_array(m->mem, m->nnode, sizeof *m->slot_ann) : NULL;
    for (nid n = 1; n < m->nnode; n++) {
        if (m->device_ann != NULL && rng_one_in(&x->r, 2)) {
            m->device_ann[n] = str_id(m, rng_one_in(&x->r, 3) ? "a \"device\"\n" : "acc0");
        }
        if (m->slot_ann != NULL) {
            m->slot_ann[n] = rng_below(&x->r, 3);
        }
        if (m->color != NULL) {
            m->color[n] = rng_below(&x->r, 4);
        }
        if (m->layer != NULL) {
            m->layer[n] = rng_below(&x->r, 9);
        }
        if (m->backward != NULL) {
            m->backward[n] = (uint8_t)rng_below(&x->r, 2);
        }
    }
}

/* A module of about `nodes` nodes in the main graph; costs of ncls classes (0: none). */
static inline struct module *random_module(uint64_t seed, uint32_t nodes, uint32_t ncls,
                                           struct diag *d)
{
    struct random_module x = {.r = rng_seed(seed), .m = module_new(NULL, d)};
    struct module *m = x.m;

    m->path = random_string(&x);
    m->path = strlen(module_str(m, m->path)) == strings_size(m->str, m->path) ? m->path : 0;
    m->ir_version = rng_below(&x.r, 15);
    for (uint32_t i = rng_below(&x.r, 4); i > 0; i--) {
        module_add_opset(m, rng_one_in(&x.r, 2) ? 0 : random_name(&x), rng_below(&x.r, 30));
    }
    for (uint32_t i = 1 + rng_below(&x.r, 3); i > 0; i--) {
        uint32_t f = module_add_file(m);
        m->file[f].path = random_name(&x);
        m->file[f].location = f == 1 ? 0 : random_name(&x);
        m->file[f].size = rng_one_in(&x.r, 2) ? 0 : (rng_bits(&x.r) >> 1) + 1000000;
    }
    module_add_graph(m);
    for (gid g = 1; g < m->ngraph; g++) {
        random_graph(&x, g, g == 1 ? nodes : rng_below(&x.r, 4));
    }
    if (ncls > 0) {
        random_costs(&x, ncls);
    }
    random_facts(&x);
    return m;
}

static inline struct exec_model random_model(uint64_t seed)
{
    struct rng r = rng_seed(seed + 2);
    struct exec_model e = {0};

    e.io_free = rng_one_in(&r, 2);
    e.sync_bandwidth = rng_one_in(&r, 2) ? 0 : 1 + rng_below(&r, 1000000);
    e.replicate = rng_one_in(&r, 3);
    e.overlap = (enum overlap)rng_below(&r, OVERLAPS);
    e.part_cost = rng_one_in(&r, 2) ? 0 : random_amount(&r) % (PS_PER_S + 1);
    e.training.schedule = rng_one_in(&r, 2) ? TRAINING_GPIPE : TRAINING_DAPPLE;
    e.efficiency = rng_one_in(&r, 2) ? 1000000 : 1 + rng_below(&r, 999999);
    e.optimizer = rng_below(&r, 5);
    return e;
}

/* Links between some of the accelerators. */
static inline void random_links(struct rng *r, struct cluster *c, struct arena *a)
{
    for (uint32_t i = rng_below(r, 9); i > 0; i--) {
        const char *name[] = {cluster_device_name(c, a, rng_below(r, c->ndev)),
                              cluster_device_name(c, a, rng_below(r, c->ndev))};
        struct device_link l = {.oneway = rng_one_in(r, 2),
                                .latency = random_amount(r),
                                .bandwidth = 1 + random_amount(r) % (PS_PER_S * 1000)};
        cluster_add_link(c, a, l, name); /* or not, if it is none */
    }
}

static inline struct cluster *random_cluster(uint64_t seed, struct arena *a)
{
    static const char *const name[] = {"a100", "npu", "odd \"class\"", "cpu", ""};
    struct rng r = rng_seed(seed + 1);
    struct cluster *c = arena_alloc(a, sizeof *c);

    c->ncls = 1 + rng_below(&r, 4);
    for (uint32_t i = 0; i < c->ncls; i++) {
        struct device_class *k = &c->cls[i];
        k->name = name[rng_below(&r, 5)];
        k->host = rng_one_in(&r, 3);
        k->count = 1 + rng_below(&r, 9);
        c->ndev += k->count;
        k->memory = rng_one_in(&r, 3) ? -1 : random_amount(&r);
        k->bandwidth = random_amount(&r);
        k->overhead = random_amount(&r);
        k->link_latency = random_amount(&r);
        k->link_bandwidth = random_amount(&r);
        k->group = k->host || rng_one_in(&r, 2) ? 0 : rng_one_in(&r, 2) ? k->count : 1;
        k->inner_bandwidth = rng_one_in(&r, 2) ? 0 : random_amount(&r);
        k->inner_latency = rng_one_in(&r, 2) ? 0 : random_amount(&r);
        k->inner_share = rng_one_in(&r, 2) ? 0 : 1 + rng_below(&r, 1000000);
        for (unsigned e = 1; e < ELEM_COUNT; e++)
            k->peak[e] = rng_one_in(&r, 5) ? random_amount(&r) : 0;
        k->tf32 = rng_one_in(&r, 2) ? 0 : random_amount(&r);
        k->precision = (enum precision)rng_below(&r, PRECISIONS);
    }
    random_links(&r, c, a);
    return c;
}

static inline struct plan *random_plan(uint64_t seed, const struct module *m,
                                       const struct cluster *c)
{
    struct rng r = rng_seed(seed + 2);
    struct plan *p = arena_alloc(m->mem, sizeof *p);

    p->planner = "dp-place";
    p->claim.argument = rng_one_in(&r, 3) ? "" : "all \"1428\" ideals\nsearched";
    p->claim.value = rng_one_in(&r, 4) ? -1 : random_time(&r);
    p->claim.bound = rng_one_in(&r, 3) ? -1 : random_amount(&r);
    p->claim.bound_all = rng_one_in(&r, 3) ? -1 : random_amount(&r);
    p->claim.scope = (enum plan_scope)rng_below(&r, SCOPES);
    p->claim.status = (enum plan_status)rng_below(&r, PLAN_INFEASIBLE + 1);
    p->states = rng_bits(&r) >> rng_below(&r, 64);
    p->dev = arena_array(m->mem, m->nnode, sizeof *p->dev);
    for (nid n = 0; n < m->nnode; n++) {
        p->dev[n] = n == 0 || rng_one_in(&r, 3) ? -1 : (int32_t)rng_below(&r, c->ndev);
    }
    return p;
}

#endif
