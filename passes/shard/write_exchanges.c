/* Exchanges of values between devices (shard.h), written as nodes: a Concat joins pieces, a Slice cuts, a Sum adds
 * up terms, Split and Sum add them up in pieces, Split and Concat bring pieces from one cut to another.  Where pieces
 * have several blocks, a Reshape makes an axis of blocks first, and another Reshape removes it afterwards.  All devices
 * add up terms in the order of the devices, so all of them have the same bits. O(N) nodes for each exchange on each
 * device. */
#include "passes/shard/write.h"

#include "ir/base/numbers.h"
#include "ir/model/dim.h"

#include <string.h>

/* How far a sum of floats, added up device by device, may be from the sum in one go, in millionths of the output's
 * largest value: for types of 32 bits and more, and of 16 bits. */
enum { TOLERANCE = 10, TOLERANCE_NARROW = 10000 };

/* ---- making nodes ------------------------------------------------------------------------------- */

void shard_put(struct shard_writer *x, nid k, uint32_t i)
{
    x->placed = vec_grow(x->a, x->placed, &x->capplaced, x->nplaced + 1, sizeof *x->placed);
    x->placed[x->nplaced++] = (struct shard_placed){k, i};
}

vid shard_add_node(struct shard_writer *x, const struct shard_making *k, nid *node)
{
    nid n = x->at != 0 ? edit_before(x->e, x->at, k->op) : edit_add(x->e, 1, k->op);
    edit_operands(x->e, n, k->in, k->nin);
    edit_name_node(x->e, n, k->name);
    vid out = edit_result(x->e, n, k->name, 0);
    edit_set_type(
        x->e, out,
        module_add_tensor_type(x->m, (enum elem)k->shape->elem, k->shape->rank, k->shape->d));
    shard_put(x, n, k->dev);
    if (node != NULL)
        *node = n;
    return out;
}

uint32_t shard_copies(struct shard_writer *x, vid v, uint32_t bit)
{
    uint64_t key = map_key(v, bit + 1);
    uint32_t at = map_get(&x->made, key);
    if (at != 0)
        return at;
    at = x->npool;
    x->pool = vec_grow(x->a, x->pool, &x->cappool, x->npool + x->s->ndev, sizeof *x->pool);
    memset(x->pool + at, 0, x->s->ndev * sizeof *x->pool);
    x->npool += x->s->ndev;
    map_set(&x->made, x->a, key, at);
    return at;
}

/* ---- exchanges ---------------------------------------------------------------------------------- */

/* Returns v, a value on device i, reshaped to *to by a Reshape; the shape of v is the same before axis `axis`. */
static vid reshaped(struct shard_writer *x, vid v, int axis, const struct shape *to, uint32_t i,
                    const char *name)
{
    int64_t sizes[SHAPE_RANK + 1];
    for (int k = 0; k < to->rank; k++)
        sizes[k] = k < axis ? 0 : to->d[k].sym != 0 ? -1 : to->d[k].value;
    vid in[2] = {v,
                 edit_ints(x->e, 1, arena_fmt(x->a, "%s.shape", name), sizes, (uint32_t)to->rank)};
    return shard_add_node(x, &(struct shard_making){"Reshape", name, i, in, 2, to}, NULL);
}

/* Writes to *to the shape *of with axis k divided into two: the number of blocks, and `run` positions in each. */
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

/* Notes in x->w that v is exchanged, in the way `how`, on the devices. */
static void note_exchange(struct shard_writer *x, vid v, enum shard_how how)
{
    struct shard_written *w = x->w;
    int64_t bytes = x->m->cost->bytes[v];
    uint32_t *const counts[] = {[SHARD_JOINED] = &w->joined.count,
                                [SHARD_CUT] = &w->sliced.count,
                                [SHARD_ADDED] = &w->sums.count,
                                [SHARD_TURNED] = &w->turned.count};
    int64_t *const sums[] = {[SHARD_JOINED] = &w->joined.bytes,
                             [SHARD_CUT] = &w->sliced.bytes,
                             [SHARD_ADDED] = &w->sums.bytes,
                             [SHARD_TURNED] = &w->turned.bytes};
    ++*counts[how];
    *sums[how] = sat_add(*sums[how], bytes);
    w->exchange =
        vec_grow(x->a, w->exchange, &w->capexchange, w->nexchange + 1, sizeof *w->exchange);
    w->exchange[w->nexchange++] = (struct shard_exchanged){x->at, bytes, how};
}

/* Whether no device has v in state st yet: then the exchange is noted, once for all devices. */
static bool is_first(struct shard_writer *x, vid v, struct shard_state st)
{
    uint32_t at = shard_copies(x, v, (uint32_t)shard_bit(x->s, v, st)), i = 0;
    while (i < x->s->ndev && x->pool[at + i] == 0)
        i++;
    return i == x->s->ndev;
}

/* Returns v, whole, on device i: joins its pieces in state st. */
static vid gather(struct shard_writer *x, vid v, struct shard_state st, uint32_t i)
{
    struct shape whole, part, parted, joined;
    const char *name = arena_fmt(x->a, "%s@%u.gather", value_name(x->m, v), i);
    vid *in = arena_array(x->a, x->ways, sizeof *in), out;
    bool blocks = shard_blocks(x->s, v, st) != 1;
    shape_of(x->s->f, v, &whole);
    shard_piece(x->s, v, st, i, &part);
    /* shapes for Reshapes; only pieces of several blocks, which are all equal, need these */
    part_axis(x->m, &part, st.axis, st.run, &parted);
    part_axis(x->m, &whole, st.axis, st.run * x->ways, &joined);
    for (uint32_t k = 0; k < x->ways; k++) {
        in[k] = shard_held(x, v, st, k);
        if (blocks)
            in[k] = reshaped(x, in[k], st.axis, &parted, i, arena_fmt(x->a, "%s.from%u", name, k));
    }
    nid n;
    out = shard_add_node(x,
                         &(struct shard_making){"Concat",
                                                blocks ? arena_fmt(x->a, "%s.blocks", name) : name,
                                                i, in, x->ways, blocks ? &joined : &whole},
                         &n);
    edit_set_int(x->e, n, "axis", st.axis + blocks);
    if (is_first(x, v, (struct shard_state){0}))
        note_exchange(x, v, SHARD_JOINED);
    return blocks ? reshaped(x, out, st.axis, &whole, i, name) : out;
}

/* Returns run number i of v along the axis of st: the result, of shape *to, of a Slice on device i. */
static vid slice_of(struct shard_writer *x, vid v, struct shard_state st, const struct shape *to,
                    uint32_t i, const char *name)
{
    const struct dim size = to->d[st.axis];
    /* a run is as long as the result along this axis; where the last run may be shorter, that size is a number */
    int64_t axis = st.axis, from = st.run * i, end = from + (size.sym == 0 ? size.value : st.run);
    vid in[4] = {v}, out;
    nid n;
    bool attrs = x->s->f->opset < 10; /* starts, ends and axes are attributes, not operands */
    if (!attrs) {
        in[1] = edit_ints(x->e, 1, arena_fmt(x->a, "%s.starts", name), &from, 1);
        in[2] = edit_ints(x->e, 1, arena_fmt(x->a, "%s.ends", name), &end, 1);
        in[3] = edit_ints(x->e, 1, arena_fmt(x->a, "%s.axes", name), &axis, 1);
    }
    out = shard_add_node(x, &(struct shard_making){"Slice", name, i, in, attrs ? 1 : 4, to}, &n);
    if (attrs) {
        edit_set_ints(x->e, n, "starts", &from, 1);
        edit_set_ints(x->e, n, "ends", &end, 1);
        edit_set_ints(x->e, n, "axes", &axis, 1);
    }
    return out;
}

/* Returns piece i of v in state st, on device i, where `whole` is the whole value. */
static vid cut(struct shard_writer *x, vid v, vid whole, struct shard_state st, uint32_t i)
{
    struct shape all, part, parted, to;
    const char *name = arena_fmt(x->a, "%s@%u.slice%u", value_name(x->m, v), i, st.axis);
    shape_of(x->s->f, v, &all);
    shard_piece(x->s, v, st, i, &part);
    if (is_first(x, v, st))
        note_exchange(x, v, SHARD_CUT);
    if (shard_blocks(x->s, v, st) == 1)
        return slice_of(x, whole, st, &part, i, name);
    part_axis(x->m, &all, st.axis, st.run * x->ways, &parted);
    part_axis(x->m, &part, st.axis, st.run, &to);
    vid blocks = reshaped(x, whole, st.axis, &parted, i, arena_fmt(x->a, "%s.blocks", name));
    vid mine = slice_of(x, blocks, (struct shard_state){(uint8_t)(st.axis + 1), st.run}, &to, i,
                        arena_fmt(x->a, "%s.mine", name));
    return reshaped(x, mine, st.axis, &part, i, name);
}

/* ---- terms -------------------------------------------------------------------------------------- */

void shard_note_sum(struct shard_writer *x, vid v)
{
    struct sharded_sums *k = &x->w->sums;
    struct shape shape;
    shape_of(x->s->f, v, &shape);
    bool rounds = !elem_is_integer((enum elem)shape.elem),
         narrow = elem_bits((enum elem)shape.elem) < 32;
    note_exchange(x, v, SHARD_ADDED);
    k->tolerance = larger(k->tolerance, !rounds ? 0 : narrow ? TOLERANCE_NARROW : TOLERANCE);
}

/* Returns the sum of the n values in[], of shape *shape, on device i; they are added in their order. */
static vid total(struct shard_writer *x, const vid *in, uint32_t n, const struct shape *shape,
                 uint32_t i, const char *name)
{
    if (!shard_adds_pairs(x->s, (enum elem)shape->elem))
        return shard_add_node(x, &(struct shard_making){"Sum", name, i, in, n, shape}, NULL);
    vid sum = in[0];
    for (uint32_t k = 1; k < n; k++) {
        vid both[2] = {sum, in[k]};
        const char *as = k + 1 == n ? name : arena_fmt(x->a, "%s.to%u", name, k);
        sum = shard_add_node(x, &(struct shard_making){"Add", as, i, both, 2, shape}, NULL);
    }
    return sum;
}

/* Returns the terms of v that the devices have, an array of `ways`. */
static vid *all_terms(struct shard_writer *x, vid v)
{
    vid *in = arena_array(x->a, x->ways, sizeof *in);
    for (uint32_t k = 0; k < x->ways; k++)
        in[k] = shard_held(x, v, (struct shard_state){.run = SHARD_TERMS}, k);
    return in;
}

/* Returns v, whole, on device i: adds up its terms. */
static vid add_up(struct shard_writer *x, vid v, uint32_t i)
{
    struct shape shape;
    shape_of(x->s->f, v, &shape);
    if (is_first(x, v, (struct shard_state){0}))
        shard_note_sum(x, v);
    return total(x, all_terms(x, v), x->ways, &shape, i,
                 arena_fmt(x->a, "%s@%u.sum", value_name(x->m, v), i));
}

/* Makes a Split of operand of->in, along an axis, into pieces of the shapes shape[ways], of which only the last one may
 * be smaller; writes its results to out[ways], and completes *of. */
static void split(struct shard_writer *x, struct shard_making *of, int axis,
                  const struct shape *shape, vid *out)
{
    const uint32_t ways = x->ways;
    const bool equal = dim_same(shape[0].d[axis], shape[ways - 1].d[axis]);
    int64_t size[SHARD_WAYS];
    vid in[2] = {of->in[0]};
    nid n;
    for (uint32_t i = 0; i < ways; i++)
        size[i] = shape[i].d[axis].value;
    if (!equal && x->s->f->opset >= 13)
        in[of->nin++] = edit_ints(x->e, 1, arena_fmt(x->a, "%s.sizes", of->name), size, ways);
    of->in = in;
    of->shape = &shape[0];
    out[0] = shard_add_node(x, of, &n);
    edit_set_int(x->e, n, "axis", axis);
    if (equal && x->s->f->opset >= 18)
        edit_set_int(x->e, n, "num_outputs", ways);
    else if (!equal && x->s->f->opset < 13)
        edit_set_ints(x->e, n, "split", size, ways);
    for (uint32_t i = 1; i < ways; i++) {
        out[i] = edit_result(x->e, n, arena_fmt(x->a, "%s.%u", of->name, i), 0);
        edit_set_type(
            x->e, out[i],
            module_add_tensor_type(x->m, (enum elem)shape[i].elem, shape[i].rank, shape[i].d));
    }
}

/* Makes the pieces of v in state st on all devices: each device adds up its piece of all terms. */
static void scatter(struct shard_writer *x, vid v, struct shard_state st)
{
    struct shape all, part, parted;
    const uint32_t ways = x->ways;
    const char *name = value_name(x->m, v);
    vid *term = all_terms(x, v), *out = arena_array(x->a, (size_t)ways * ways, sizeof *out),
        *in = arena_array(x->a, ways, sizeof *in);
    /* [device] the shape of what the device adds up */
    struct shape *cut = arena_array(x->a, ways, sizeof *cut);
    bool blocks = shard_blocks(x->s, v, st) != 1;
    shape_of(x->s->f, v, &all);
    part_axis(x->m, &all, st.axis, st.run * ways, &parted);
    for (uint32_t i = 0; i < ways; i++) {
        shard_piece(x->s, v, st, i, &part);
        cut[i] = part;
        if (blocks)
            part_axis(x->m, &part, st.axis, st.run, &cut[i]);
    }
    shard_note_sum(x, v);
    for (uint32_t k = 0; k < ways; k++) {
        const char *as = arena_fmt(x->a, "%s@%u.scatter%u", name, k, st.axis);
        vid from = blocks
                       ? reshaped(x, term[k], st.axis, &parted, k, arena_fmt(x->a, "%s.blocks", as))
                       : term[k];
        split(x, &(struct shard_making){"Split", as, k, &from, 1, NULL}, st.axis + blocks, cut,
              out + (size_t)k * ways);
    }
    for (uint32_t i = 0; i < ways; i++) {
        const char *as = arena_fmt(x->a, "%s@%u.sum%u", name, i, st.axis);
        uint32_t at = shard_copies(x, v, (uint32_t)shard_bit(x->s, v, st));
        if (x->pool[at + i] != 0)
            continue;
        for (uint32_t k = 0; k < ways; k++)
            in[k] = out[(size_t)k * ways + i];
        vid sum = total(x, in, ways, &cut[i], i, blocks ? arena_fmt(x->a, "%s.mine", as) : as);
        /* `part`, as the last device left it, serves for all: pieces of several blocks are equal */
        sum = blocks ? reshaped(x, sum, st.axis, &part, i, as) : sum;
        x->pool[at + i] = sum;
    }
}

/* Makes the pieces of v in state st on all devices from the pieces in state `from`: each device splits its piece along
 * st.axis, one part for each device; device i joins part i of all devices along from.axis. */
static void turn(struct shard_writer *x, vid v, struct shard_state from, struct shard_state st)
{
    const uint32_t ways = x->ways, at = shard_copies(x, v, (uint32_t)shard_bit(x->s, v, st));
    const char *name = value_name(x->m, v);
    vid *out = arena_array(x->a, (size_t)ways * ways, sizeof *out),
        *in = arena_array(x->a, ways, sizeof *in);
    /* cut: [device] the shape of what it gets from each piece; part: the shape of its piece in state st */
    struct shape *cut = arena_array(x->a, ways, sizeof *cut), part;
    shard_piece(x->s, v, st, 0, &part);
    for (uint32_t i = 0; i < ways; i++) {
        shard_piece(x->s, v, from, 0, &cut[i]);
        cut[i].d[st.axis] = part.d[st.axis];
    }
    note_exchange(x, v, SHARD_TURNED);
    for (uint32_t k = 0; k < ways; k++) {
        vid piece = shard_held(x, v, from, k);
        split(x,
              &(struct shard_making){"Split", arena_fmt(x->a, "%s@%u.turn%u", name, k, st.axis), k,
                                     &piece, 1, NULL},
              st.axis, cut, out + (size_t)k * ways);
    }
    for (uint32_t i = 0; i < ways; i++) {
        nid n;
        if (x->pool[at + i] != 0)
            continue;
        for (uint32_t k = 0; k < ways; k++)
            in[k] = out[(size_t)k * ways + i];
        vid w = shard_add_node(
            x,
            &(struct shard_making){"Concat", arena_fmt(x->a, "%s@%u.to%u", name, i, st.axis), i, in,
                                   ways, &part},
            &n);
        edit_set_int(x->e, n, "axis", from.axis);
        x->pool[at + i] = w;
    }
}

void shard_absorb(struct shard_writer *x, nid k, uint32_t operand, vid v, uint32_t i)
{
    struct shape shape;
    const uint32_t old = edit_nin(x->e, k), ways = x->ways;
    vid *term = all_terms(x, v), *in = arena_array(x->a, old + ways, sizeof *in);
    shape_of(x->s->f, v, &shape);
    if (i == 0)
        shard_note_sum(x, v);
    if (shard_adds_pairs(x->s, (enum elem)shape.elem)) {
        const char *name = arena_fmt(x->a, "%s@%u.sum", value_name(x->m, v), i);
        edit_set_operand(x->e, k, operand, total(x, term, ways, &shape, i, name));
        return;
    }
    for (uint32_t j = 0, to = 0; j < old; j++) {
        if (j != operand) {
            in[to++] = edit_in(x->e, k, j);
            continue;
        }
        memcpy(in + to, term, ways * sizeof *in);
        to += ways;
    }
    edit_set_operator(x->e, k, "Sum", NULL, 0);
    edit_operands(x->e, k, in, old + ways - 1);
}

/* Writes the number n, from 1 to SHARD_WAYS, as an element of float type e to out; returns its bytes. */
static size_t float_bytes(uint32_t n, enum elem e, unsigned char out[8])
{
    double wide = n;
    float single = (float)n;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    /* f16: the exponent, less the difference 127 - 15 of the biases, and the upper 10 bits of the mantissa; bf16: the
     * upper half of the bits.  What is cut off is 0 for numbers so small. */
    uint16_t half = (uint16_t)(((bits >> 23) - 112) << 10 | (bits >> 13 & 0x3ff)),
             brain = (uint16_t)(bits >> 16);
    size_t size = elem_bits(e) / 8;
    const void *from = e == ELEM_F64    ? (const void *)&wide
                       : e == ELEM_F16  ? (const void *)&half
                       : e == ELEM_BF16 ? (const void *)&brain
                                        : (const void *)&single;
    memcpy(out, from, size);
    return size;
}

vid shard_mean(struct shard_writer *x, vid v, vid mean, uint32_t i)
{
    struct shape shape;
    unsigned char bytes[8];
    const char *name = arena_fmt(x->a, "%s@%u.share", value_name(x->m, v), i);
    shape_of(x->s->f, v, &shape);
    size_t size = float_bytes(x->ways, (enum elem)shape.elem, bytes);
    vid in[2] = {mean, edit_weight(x->e, 1, arena_fmt(x->a, "%s.ways", name),
                                   edit_tensor(x->e, (enum elem)shape.elem, NULL, 0, bytes, size))};
    return shard_add_node(x, &(struct shard_making){"Div", name, i, in, 2, &shape}, NULL);
}

/* ---- conversions -------------------------------------------------------------------------------- */

vid shard_convert(struct shard_writer *x, vid v, struct shard_state from, struct shard_state st,
                  uint32_t i)
{
    if (st.run == 0)
        return shard_is_terms(from) ? add_up(x, v, i) : gather(x, v, from, i);
    if (from.run == 0)
        return cut(x, v, shard_held(x, v, from, i), st, i);
    if (shard_is_terms(from))
        scatter(x, v, st);
    else
        turn(x, v, from, st);
    return x->pool[shard_copies(x, v, (uint32_t)shard_bit(x->s, v, st)) + i];
}
