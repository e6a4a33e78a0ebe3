/* Rewriting a module for several devices by a choice of options (shard.h).
 *
 * Node n becomes n@0, n@1, ...: one for each device, side by side, each with its piece of operands and results, or,
 * if it stays whole, one for each device that needs its results.  A value that a device needs in another state is
 * converted before its first reader there: pieces are joined by a Concat, a whole value is cut by a Slice; pieces
 * with several blocks get an axis of blocks by a Reshape first, and lose it by another one.  Pieces of weights are
 * ranges of the weight's bytes.  Nodes that are computed of weights or of sizes of inputs alone stay as they are: each
 * part has its own copy.  O(N * (nodes + operands)) expected. */
#include "passes/shard/shard.h"

#include "ir/model/dim.h"
#include "ir/model/edit.h"

#include <string.h>

/* A node that was made, and its device. */
struct placed {
    nid node;     /* its number during the edit */
    uint32_t dev; /* 0 .. ways - 1 */
};

struct shard_writer {
    struct shard *s;
    struct module *m;
    struct arena *a;
    struct edit *e;
    uint32_t ways;
    const uint32_t *option; /* [node] its option; 0: whole */
    uint8_t *need;          /* [value] 0: nowhere, 1: on the first device, 2: on all */
    /* values on devices: (value, state's bit) -> index in pool of `ways` values, 0: not made yet */
    struct map made;
    vid *pool;
    uint32_t npool, cappool;
    struct placed *placed;
    uint32_t nplaced, capplaced;
    nid at; /* new nodes come before this one; 0: at the end */
    struct shard_written *w;
};

/* ---- making nodes ------------------------------------------------------------------------------- */

/* Notes that node k runs on device i. */
static void put(struct shard_writer *x, nid k, uint32_t i)
{
    x->placed = vec_grow(x->a, x->placed, &x->capplaced, x->nplaced + 1, sizeof *x->placed);
    x->placed[x->nplaced++] = (struct placed){k, i};
}

/* A node with one result that is to be made. */
struct making {
    const char *op, *name; /* operator; name of the node and, similarly, of its result */
    uint32_t dev;          /* its device, 0 .. ways - 1 */
    const vid *in;         /* [nin] its operands */
    uint32_t nin;
    const struct shape *shape; /* of its result */
};

/* Makes a node and returns its result; *node, if not NULL: the node. */
static vid add_node(struct shard_writer *x, const struct making *k, nid *node)
{
    nid n = x->at != 0 ? edit_before(x->e, x->at, k->op) : edit_add(x->e, 1, k->op);
    edit_operands(x->e, n, k->in, k->nin);
    edit_name_node(x->e, n, k->name);
    vid out = edit_result(x->e, n, k->name, 0);
    edit_set_type(
        x->e, out,
        module_add_tensor_type(x->m, (enum elem)k->shape->elem, k->shape->rank, k->shape->d));
    put(x, n, k->dev);
    if (node != NULL)
        *node = n;
    return out;
}

/* Returns the index in x->pool of the values that the devices have of v in the state with this bit. */
static uint32_t copies(struct shard_writer *x, vid v, uint32_t bit)
{
    uint64_t key = map_key(v, bit + 1);
    uint32_t at = map_get(&x->made, key);
    if (at != 0)
        return at;
    at = x->npool;
    x->pool = vec_grow(x->a, x->pool, &x->cappool, x->npool + x->ways, sizeof *x->pool);
    memset(x->pool + at, 0, x->ways * sizeof *x->pool);
    x->npool += x->ways;
    map_set(&x->made, x->a, key, at);
    return at;
}

/* Returns the state in which the chosen option of its maker makes v. */
static struct shard_state made_in(const struct shard_writer *x, vid v)
{
    const struct value *p = &x->m->value[v];
    uint32_t o = p->def != 0 ? x->option[p->def] : 0;
    if (p->def == 0)
        return x->s->kept[v];
    return o != 0 ? x->s->opt[o].out[p->outno] : (struct shard_state){0};
}

/* Whether v itself is there, whole, wherever it is read: an input, a weight, or the result of a node that stays. */
static bool stays(const struct shard_writer *x, vid v)
{
    nid n = x->m->value[v].def;
    return n == 0 ? x->s->kept[v].run == 0 : x->s->kind[n] != SHARD_NODE;
}

/* ---- pieces of weights and constants ------------------------------------------------------------ */

/* Returns piece i of weight v, whose tensor is t. */
static vid weight_piece(struct shard_writer *x, vid v, tid t, struct shard_state st, uint32_t i)
{
    const struct tensor *k = &x->m->tensor[t];
    int64_t size = x->m->ints[k->dim + st.axis], step = st.run * x->ways;
    uint32_t n = (uint32_t)(size / step);
    int64_t *range = arena_array(x->a, 2 * (size_t)n, sizeof *range);
    for (uint32_t b = 0; b < n; b++) {
        range[2 * b] = b * step + i * st.run;
        range[2 * b + 1] = range[2 * b] + st.run;
    }
    const char *name =
        arena_fmt(x->a, "%s@%u.%lld.%u", value_name(x->m, v), st.axis, (long long)st.run, i);
    return edit_weight(x->e, 1, name, edit_slice(x->e, t, st.axis, range, n));
}

static vid piece(struct shard_writer *x, vid v, struct shard_state st, uint32_t i);

/* Returns piece i of constant v, which a node computes: a copy of that node, of pieces of its operands.  Such chains
 * are short (strands.c). */
static vid constant_piece(struct shard_writer *x, vid v, struct shard_state st, uint32_t i)
{
    const struct module *m = x->m;
    nid n = m->value[v].def;
    uint32_t o = x->s->first_opt[n];
    while (x->s->opt[o].gone || !shard_same(x->s->opt[o].out[m->value[v].outno], st))
        o = x->s->opt[o].next;
    const uint32_t nin = m->node[n].nformal;
    vid *in = arena_array(x->a, nin + 1, sizeof *in);
    for (uint32_t k = 0; k < nin; k++)
        in[k] = piece(x, node_in(m, n, k), x->s->opt[o].in[k], i);
    nid copy = edit_copy(x->e, n);
    edit_operands(x->e, copy, in, nin);
    edit_name_node(x->e, copy, arena_fmt(x->a, "%s@%u", node_name(m, n), i));
    vid w = node_out(m, copy, m->value[v].outno);
    struct shape shape;
    shard_piece(x->s, v, st, &shape);
    edit_set_type(x->e, w,
                  module_add_tensor_type(x->m, (enum elem)shape.elem, shape.rank, shape.d));
    return w;
}

/* ---- exchanges ---------------------------------------------------------------------------------- */

/* Returns a Reshape's result on device i of v, which has the shape *to; that of v differs from axis `axis` on. */
static vid reshaped(struct shard_writer *x, vid v, int axis, const struct shape *to, uint32_t i,
                    const char *name)
{
    int64_t sizes[SHAPE_RANK + 1];
    for (int k = 0; k < to->rank; k++)
        sizes[k] = k < axis ? 0 : to->d[k].sym != 0 ? -1 : to->d[k].value;
    vid in[2] = {v,
                 edit_ints(x->e, 1, arena_fmt(x->a, "%s.shape", name), sizes, (uint32_t)to->rank)};
    return add_node(x, &(struct making){"Reshape", name, i, in, 2, to}, NULL);
}

/* Writes to *to the shape *of with axis k parted into blocks of `run` positions each. */
static void part_axis(struct module *m, const struct shape *of, int k, int64_t run,
                      struct shape *to)
{
    *to = *of;
    to->rank = of->rank + 1;
    for (int i = of->rank; i > k + 1; i--)
        to->d[i] = of->d[i - 1];
    to->d[k] = dim_div(m, of->d[k], dim_num(run));
    to->d[k + 1] = dim_num(run);
}

/* Returns v, whole, on device i: its pieces joined. */
static vid gather(struct shard_writer *x, vid v, struct shard_state st, uint32_t i)
{
    struct shape whole, part, parted, joined;
    const char *name = arena_fmt(x->a, "%s@%u.gather", value_name(x->m, v), i);
    uint32_t from = copies(x, v, (uint32_t)shard_bit(x->s, v, st));
    vid *in = arena_array(x->a, x->ways, sizeof *in), out;
    bool blocks = shard_blocks(x->s, v, st) != 1;
    shape_of(x->s->f, v, &whole);
    shard_piece(x->s, v, st, &part);
    part_axis(x->m, &part, st.axis, st.run, &parted);
    part_axis(x->m, &whole, st.axis, st.run * x->ways, &joined);
    for (uint32_t k = 0; k < x->ways; k++)
        in[k] = !blocks ? x->pool[from + k]
                        : reshaped(x, x->pool[from + k], st.axis, &parted, i,
                                   arena_fmt(x->a, "%s.from%u", name, k));
    nid n;
    out = add_node(x,
                   &(struct making){"Concat", blocks ? arena_fmt(x->a, "%s.blocks", name) : name, i,
                                    in, x->ways, blocks ? &joined : &whole},
                   &n);
    edit_set_int(x->e, n, "axis", st.axis + blocks);
    if (i == 0) {
        x->w->gathers++;
        x->w->gathered += x->m->cost->bytes[v];
    }
    return blocks ? reshaped(x, out, st.axis, &whole, i, name) : out;
}

/* Returns run number i of v along the axis of st, by a Slice on device i whose result has the shape *to. */
static vid slice_of(struct shard_writer *x, vid v, struct shard_state st, const struct shape *to,
                    uint32_t i, const char *name)
{
    int64_t axis = st.axis, from = st.run * i, end = from + st.run;
    vid in[4] = {v}, out;
    nid n;
    bool attrs = x->s->f->opset < 10;
    if (!attrs) {
        in[1] = edit_ints(x->e, 1, arena_fmt(x->a, "%s.starts", name), &from, 1);
        in[2] = edit_ints(x->e, 1, arena_fmt(x->a, "%s.ends", name), &end, 1);
        in[3] = edit_ints(x->e, 1, arena_fmt(x->a, "%s.axes", name), &axis, 1);
    }
    out = add_node(x, &(struct making){"Slice", name, i, in, attrs ? 1 : 4, to}, &n);
    if (attrs) {
        edit_set_ints(x->e, n, "starts", &from, 1);
        edit_set_ints(x->e, n, "ends", &end, 1);
        edit_set_ints(x->e, n, "axes", &axis, 1);
    }
    return out;
}

/* Returns piece i, on device i, of `v`, whose value there is `whole`. */
static vid cut(struct shard_writer *x, vid v, vid whole, struct shard_state st, uint32_t i)
{
    struct shape all, part, parted, to;
    const char *name = arena_fmt(x->a, "%s@%u.slice%u", value_name(x->m, v), i, st.axis);
    shape_of(x->s->f, v, &all);
    shard_piece(x->s, v, st, &part);
    x->w->slices += i == 0;
    if (shard_blocks(x->s, v, st) == 1)
        return slice_of(x, whole, st, &part, i, name);
    part_axis(x->m, &all, st.axis, st.run * x->ways, &parted);
    part_axis(x->m, &part, st.axis, st.run, &to);
    vid blocks = reshaped(x, whole, st.axis, &parted, i, arena_fmt(x->a, "%s.blocks", name));
    vid mine = slice_of(x, blocks, (struct shard_state){(uint8_t)(st.axis + 1), st.run}, &to, i,
                        arena_fmt(x->a, "%s.mine", name));
    return reshaped(x, mine, st.axis, &part, i, name);
}

/* Returns what device i has of v in state st; converts it there first, if need be. */
static vid piece(struct shard_writer *x, vid v, struct shard_state st, uint32_t i)
{
    if (v == 0 || (st.run == 0 && stays(x, v)))
        return v;
    uint32_t at = copies(x, v, (uint32_t)shard_bit(x->s, v, st));
    if (x->pool[at + i] != 0)
        return x->pool[at + i];
    tid t = shard_weight(x->m, v);
    vid w;
    if (t != 0)
        w = weight_piece(x, v, t, st, i);
    else if (stays(x, v) && shard_is_constant(x->s, v))
        w = constant_piece(x, v, st, i);
    else if (st.run == 0)
        w = gather(x, v, made_in(x, v), i);
    else
        w = cut(x, v, piece(x, v, (struct shard_state){0}, i), st, i);
    x->pool[at + i] = w; /* `at` stays: pool may have moved */
    return w;
}

/* ---- nodes -------------------------------------------------------------------------------------- */

/* Sets need[] of all values: where they must be, whole or in pieces. */
static void find_needs(struct shard_writer *x)
{
    const struct module *m = x->m;
    const struct graph *g = &m->graph[1];
    for (uint32_t i = 0; i < g->out.n; i++)
        x->need[m->arg[g->out.at + i]] = x->s->kept[m->arg[g->out.at + i]].run != 0 ? 2 : 1;
    for (nid n = g->first + g->count; n-- > g->first;) {
        uint8_t where = 1;
        if (x->s->kind[n] != SHARD_NODE && x->s->kind[n] != SHARD_ONCE)
            continue;
        for (uint32_t i = 0; i < m->node[n].out.n && x->s->kind[n] == SHARD_NODE; i++)
            where = x->need[node_out(m, n, i)] > where ? 2 : where;
        where = x->option[n] != 0 ? 2 : where;
        for (uint32_t i = 0; i < m->node[n].in.n; i++) {
            vid v = node_in(m, n, i);
            x->need[v] = where > x->need[v] ? where : x->need[v];
        }
    }
    x->need[0] = 0;
}

/* Replaces operand c->operand of node k, on device i, by sizes of pieces. */
static void change_sizes(struct shard_writer *x, const struct shard_change *c, nid n, nid k,
                         uint32_t i)
{
    vid v = edit_in(x->e, k, c->operand);
    const struct nums *num = nums_of(x->s->f, node_in(x->m, n, c->operand));
    uint32_t count = num->n;
    int64_t *list = arena_array(x->a, count + 1, sizeof *list);
    const char *name = arena_fmt(x->a, "%s.sizes", node_name(x->m, n));
    for (uint32_t j = 0; j < count; j++) {
        bool divide = (c->divide >> j & 1) != 0;
        list[j] = !c->known ? (divide ? x->ways : 1) : divide ? c->value[j] / x->ways : c->value[j];
    }
    vid sizes = edit_ints(x->e, 1, name, list, count);
    if (!c->known) {
        struct shape shape = shape_vector(ELEM_I64, dim_num(count));
        vid in[2] = {v, sizes};
        sizes = add_node(
            x, &(struct making){"Div", arena_fmt(x->a, "%s@%u", name, i), i, in, 2, &shape}, NULL);
    }
    edit_set_operand(x->e, k, c->operand, sizes);
}

/* Makes change c in node k, piece i of node n. */
static void change(struct shard_writer *x, const struct shard_change *c, nid n, nid k, uint32_t i)
{
    int64_t list[SHAPE_VALUES];
    if (c->kind == SHARD_ATTR) {
        edit_set_int(x->e, k, c->attr, node_attr_int(x->m, n, c->attr, 0) / x->ways);
    } else if (c->kind == SHARD_ATTR_LIST) {
        int count = attr_ints(x->s->f, n, c->attr, list, SHAPE_VALUES);
        for (int j = 0; j < count; j++)
            list[j] /= (c->divide >> j & 1) != 0 ? x->ways : 1;
        edit_set_ints(x->e, k, c->attr, list, count > 0 ? (uint32_t)count : 0);
    } else if (c->kind == SHARD_SIZES) {
        change_sizes(x, c, n, k, i);
    }
}

/* Returns the sizes of a whole value from v, the result on device i of node n, which measured a piece in state st. */
static vid whole_sizes(struct shard_writer *x, nid n, vid v, struct shard_state st, uint32_t i)
{
    struct shape of, shape;
    vid in[2] = {v};
    const char *name = arena_fmt(x->a, "%s@%u", value_name(x->m, node_out(x->m, n, 0)), i);
    shape_of(x->s->f, node_in(x->m, n, 0), &of);
    shape_of(x->s->f, node_out(x->m, n, 0), &shape);
    if (node_is(x->m, n, "Size")) {
        int64_t ways = x->ways;
        in[1] = edit_weight(x->e, 1, arena_fmt(x->a, "%s.ways", name),
                            edit_tensor(x->e, ELEM_I64, NULL, 0, &ways, sizeof ways));
    } else {
        int64_t from = node_attr_int(x->m, n, "start", 0),
                to = node_attr_int(x->m, n, "end", of.rank), list[SHAPE_RANK];
        from += from < 0 ? of.rank : 0;
        to += to < 0 ? of.rank : 0;
        from = from < 0 ? 0 : from;
        to = to > of.rank ? of.rank : to;
        if (st.axis < from || st.axis >= to)
            return v;
        for (int64_t j = from; j < to; j++)
            list[j - from] = j == st.axis ? x->ways : 1;
        in[1] = edit_ints(x->e, 1, arena_fmt(x->a, "%s.ways", name), list, (uint32_t)(to - from));
    }
    shape.elem = ELEM_I64;
    return add_node(x, &(struct making){"Mul", name, i, in, 2, &shape}, NULL);
}

/* Adds the copy of node n for device i.  in: its operands there; p: its option; NULL: whole. */
static nid copy_node(struct shard_writer *x, nid n, uint32_t i, const vid *in,
                     const struct shard_option *p)
{
    struct module *m = x->m;
    bool kept = false; /* a result may get the name of a piece of state later */
    for (uint32_t j = 0; j < m->node[n].out.n; j++)
        kept = kept || x->s->kept[node_out(m, n, j)].run != 0;
    nid k = edit_copy_named(x->e, n, kept ? NULL : arena_fmt(x->a, "@%u", i));
    edit_operands(x->e, k, in, m->node[n].nformal);
    edit_name_node(x->e, k, arena_fmt(x->a, "%s@%u", node_name(m, n), i));
    put(x, k, i);
    for (uint32_t j = 0; j < m->node[n].out.n; j++) {
        vid v = node_out(m, n, j), w = node_out(m, k, j);
        struct shard_state st = p != NULL ? p->out[j] : (struct shard_state){0};
        struct shape shape;
        if (v == 0 || m->value[v].name == 0)
            continue;
        /* the name of a piece of state is for what the device keeps */
        bool other = x->s->kept[v].run != 0 && !shard_same(st, x->s->kept[v]);
        edit_name_value(x->e, w,
                        arena_fmt(x->a, "%s@%u%s", value_name(m, v), i, other ? ".made" : ""));
        if (st.run != 0) {
            shard_piece(x->s, v, st, &shape);
            edit_set_type(x->e, w,
                          module_add_tensor_type(m, (enum elem)shape.elem, shape.rank, shape.d));
        }
        uint32_t at = copies(x, v, (uint32_t)shard_bit(x->s, v, st));
        x->pool[at + i] = w;
    }
    for (uint32_t c = 0; p != NULL && c < SHARD_CHANGES; c++)
        change(x, &p->change[c], n, k, i);
    return k;
}

/* Replaces node n by its copies. */
static void write_node(struct shard_writer *x, nid n)
{
    const struct module *m = x->m;
    const struct node k = m->node[n];
    const struct shard_option *p = x->option[n] != 0 ? &x->s->opt[x->option[n]] : NULL;
    uint32_t count = p != NULL ? x->ways : 1;
    vid *in = arena_array(x->a, (size_t)x->ways * (k.nformal + 1), sizeof *in);
    for (uint32_t j = 0; j < k.out.n; j++)
        count = x->need[node_out(m, n, j)] > 1 ? x->ways : count;
    struct shard_state seen =
        node_tells_sizes(m, n) ? made_in(x, node_in(m, n, 0)) : (struct shard_state){0};
    x->at = n;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < k.nformal; j++)
            in[i * k.nformal + j] = piece(x, node_in(m, n, j), p != NULL ? p->in[j] : seen, i);
    for (uint32_t i = count; i-- > 0;)
        copy_node(x, n, i, in + (size_t)i * k.nformal, p);
    for (uint32_t i = 0; i < count && seen.run != 0; i++) {
        uint32_t at = copies(x, node_out(m, n, 0), 0) + i;
        vid sizes = whole_sizes(x, n, x->pool[at], seen, i);
        x->pool[at] = sizes;
    }
    edit_drop(x->e, n);
    x->w->cut += p != NULL;
    x->w->whole += p == NULL;
}

/* Returns the name of piece i of a value. */
static const char *piece_name(struct shard_writer *x, const char *name, uint32_t i)
{
    return arena_fmt(x->s->x->use.mem, "%s@%u", name, i);
}

/* Adds an input for each piece of each state that the devices keep in pieces. */
static void keep_inputs(struct shard_writer *x)
{
    const struct place *p = x->s->place;
    for (uint32_t k = 0; k < p->nstate; k++) {
        vid in = p->state_in[k];
        struct shape shape;
        if (x->s->kept[in].run == 0)
            continue;
        uint32_t at = copies(x, in, (uint32_t)shard_bit(x->s, in, x->s->kept[in]));
        shard_piece(x->s, in, x->s->kept[in], &shape);
        uint32_t type = module_add_tensor_type(x->m, (enum elem)shape.elem, shape.rank, shape.d);
        for (uint32_t i = 0; i < x->ways; i++)
            x->pool[at + i] = edit_input(x->e, 1, piece_name(x, value_name(x->m, in), i), type);
    }
}

/* Makes the pieces of states outputs, in place of the states; notes them in x->w. */
static void keep_outputs(struct shard_writer *x)
{
    const struct place *p = x->s->place;
    struct arena *mem = x->s->x->use.mem;
    x->w->pair = arena_array(mem, (size_t)p->nstate + 1, sizeof *x->w->pair);
    for (uint32_t k = 0; k < p->nstate; k++) {
        vid in = p->state_in[k], out = p->state_out[k];
        struct shard_state st = x->s->kept[out];
        const char *name = value_name(x->m, out);
        if (st.run == 0)
            continue;
        x->w->pair[x->w->npair++] =
            (struct sharded_pair){value_name(x->m, in), name, st.axis, st.run};
        for (uint32_t i = 0; i < x->ways; i++) {
            vid w = piece(x, out, st, i);
            if (strcmp(value_name(x->m, w), piece_name(x, name, i)) != 0)
                edit_name_value(x->e, w, piece_name(x, name, i));
            edit_output(x->e, 1, w);
        }
        edit_withdraw(x->e, in);
        edit_withdraw(x->e, out);
    }
}

/* Lets the readers that stay, and the outputs, read what the first device has. */
static void replace_reads(struct shard_writer *x, vid most)
{
    const struct graph g = x->m->graph[1];
    x->at = 0;
    for (uint32_t i = 0; i < g.out.n; i++)
        if (x->s->kept[x->m->arg[g.out.at + i]].run == 0)
            piece(x, x->m->arg[g.out.at + i], (struct shard_state){0}, 0);
    keep_outputs(x);
    for (vid v = 1; v < most; v++) {
        uint32_t at = map_get(&x->made, map_key(v, 1));
        if (at != 0 && x->pool[at] != 0)
            edit_replace(x->e, v, x->pool[at]);
    }
}

/* Sets module.device_ann.  now: new numbers of the nodes. */
static void annotate(struct shard_writer *x, const nid *now)
{
    struct module *m = x->m;
    sid *name = arena_array(x->a, x->ways, sizeof *name);
    m->device_ann = arena_array(m->mem, m->nnode, sizeof *m->device_ann);
    for (uint32_t i = 0; i < x->ways; i++)
        name[i] = str_id(m, cluster_device_name(x->s->x->scene.cluster, x->a, x->s->dev[i]));
    for (uint32_t i = 0; i < x->nplaced; i++)
        m->device_ann[now[x->placed[i].node]] = name[x->placed[i].dev];
    m->device_ann[0] = 0;
}

struct shard_written shard_write(struct shard *s, const struct shard_choice *c)
{
    struct shard_written w = {0};
    struct shard_writer x = {
        .s = s, .m = s->m, .a = s->a, .ways = s->ways, .option = c->option, .npool = 1, .w = &w};
    const struct graph g = s->m->graph[1];
    const vid most = s->m->nval;
    x.need = arena_alloc(s->a, most);
    find_needs(&x);
    x.e = edit_begin(s->m, s->a);
    keep_inputs(&x);
    for (nid n = g.first; n < g.first + g.count; n++) {
        if (s->kind[n] == SHARD_NODE) {
            write_node(&x, n);
        } else if (s->kind[n] == SHARD_ONCE) {
            x.at = n;
            for (uint32_t i = 0; i < s->m->node[n].in.n; i++)
                piece(&x, node_in(s->m, n, i), (struct shard_state){0}, 0);
            put(&x, n, 0);
            w.once++;
        } else if (s->kind[n] == SHARD_DEAD) {
            edit_drop(x.e, n);
        }
    }
    replace_reads(&x, most);
    edit_sweep(x.e);
    annotate(&x, edit_end(x.e));
    w.made = s->m->graph[1].count;
    return w;
}
