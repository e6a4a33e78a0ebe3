/* Functions for the rules of the batch (batch_rules.h): states of operands and results, lists in operands,
 * broadcasting, and texts of reasons.  O(operands * rank) each. */
#include "passes/rewrite/batch_rules.h"

#include "ir/model/dim.h"

const char *batch_say(struct batch_search *x, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const char *text = arena_vfmt(x->a, fmt, ap);
    va_end(ap);
    return text;
}

void batch_see(struct batch_search *x, uint32_t i)
{
    if (i < 64)
        x->seen |= UINT64_C(1) << i;
}

struct batch batch_in(struct batch_search *x, uint32_t i)
{
    batch_see(x, i);
    return x->of[node_in(x->m, x->n, i)];
}

int batch_shape(const struct batch_search *x, uint32_t i, struct shape *s)
{
    shape_in(x->f, x->n, i, s);
    return s->rank;
}

void batch_set(struct batch_search *x, uint32_t i, struct batch s)
{
    vid v = node_out(x->m, x->n, i);
    if (v != 0)
        x->of[v] = s;
    if (i < 64)
        x->set |= UINT64_C(1) << i;
}

struct batch batch_at(struct batch s, int axis)
{
    s.axis = (uint8_t)axis;
    return s;
}

struct batch batch_computed(struct batch s)
{
    s.how = s.how == BATCH_CUT ? BATCH_CUT : BATCH_SHAPE;
    return s;
}

bool batch_has_axis(struct batch s)
{
    return s.how != BATCH_WHOLE && s.how != BATCH_SIZES;
}

const char *batch_name_in(const struct batch_search *x, uint32_t i)
{
    return value_name(x->m, node_in(x->m, x->n, i));
}

/* Returns the reason why a node cannot use operand i, whose elements hold a size of the batch, or number the
 * samples. */
static const char *say_counts_samples(struct batch_search *x, uint32_t i)
{
    struct batch s = batch_in(x, i);
    if (s.how == BATCH_SIZES)
        return batch_say(x, "it computes with '%s', which holds a size of the batch",
                         batch_name_in(x, i));
    return batch_say(x, "it reads '%s', whose elements depend on how '%s' (%s) numbers the samples",
                     batch_name_in(x, i), node_name(x->m, s.from), node_op(x->m, s.from));
}

const char *batch_want_whole(struct batch_search *x, uint32_t i)
{
    struct batch s = batch_in(x, i);
    if (s.how == BATCH_WHOLE)
        return NULL;
    if (s.how != BATCH_CUT)
        return say_counts_samples(x, i);
    return batch_say(x, "its operand %u, '%s', depends on the batch", i, batch_name_in(x, i));
}

const char *batch_want_cut(struct batch_search *x, uint32_t i)
{
    struct batch s = batch_in(x, i);
    if (s.how == BATCH_CUT)
        return NULL;
    if (s.how != BATCH_WHOLE)
        return say_counts_samples(x, i);
    return batch_say(x, "its operand %u, '%s', does not depend on the batch, but another one does",
                     i, batch_name_in(x, i));
}

const char *batch_want_whole_from(struct batch_search *x, uint32_t i)
{
    const char *why = NULL;
    for (; i < x->m->node[x->n].nformal && why == NULL; i++)
        why = batch_want_whole(x, i);
    return why;
}

int batch_only_bit(uint64_t bits)
{
    return bits != 0 && (bits & (bits - 1)) == 0 ? __builtin_ctzll(bits) : -1;
}

bool batch_divides(const struct batch_search *x, struct dim d)
{
    if (d.sym == 0)
        return d.value >= 0 && d.value % x->ways == 0;
    /* a dimension with names must be a multiple of the batch, or of N */
    struct dim ways = dim_num(x->ways);
    return (x->size.sym != 0 && dim_same(dim_mul(x->m, dim_div(x->m, d, x->size), x->size), d)) ||
           dim_same(dim_mul(x->m, dim_div(x->m, d, ways), ways), d);
}

/* Adds c, a change of node x->n. */
static void add_change(struct batch_search *x, struct batch_change c)
{
    x->change = vec_grow(x->a, x->change, &x->capchange, x->nchange + 1, sizeof *x->change);
    c.node = x->n;
    x->change[x->nchange++] = c;
}

const char *batch_cut(struct batch_search *x, uint32_t i, int axis)
{
    struct shape s;
    int rank = batch_shape(x, i, &s);
    if (axis < 0 || rank <= axis || s.d[axis].value < 0 || !batch_divides(x, s.d[axis]))
        return batch_say(
            x,
            "its operand %u, '%s', does not depend on the batch, and has no size at axis %d that "
            "%lld divides",
            i, batch_name_in(x, i), axis, (long long)x->ways);
    add_change(x, (struct batch_change){.kind = CHANGE_CUT, .operand = i, .at = (uint32_t)axis});
    return NULL;
}

const char *batch_divide_entry(struct batch_search *x, uint32_t i, uint32_t at)
{
    /* the copies will read one new weight, an i64 list (split_batch.c): so all entries must be known integers and
     * equal for all samples, and the type must be i64 */
    struct batch_list k = batch_list_of(x, NULL, i);
    struct num e = k.num != NULL && at < k.num->n ? k.num->at[at] : (struct num){0};
    bool whole = batch_in(x, i).how == BATCH_WHOLE, known = e.kind == NUM_INT && e.v > 0;
    for (uint32_t j = 0; known && k.num != NULL && j < k.num->n; j++)
        known = k.num->at[j].kind == NUM_INT;
    if (!whole || !known || e.v % x->ways != 0 || elem_in(x->f, x->n, i) != ELEM_I64)
        return batch_say(x, "entry %u of '%s' is no known size that %lld divides", at,
                         batch_name_in(x, i), (long long)x->ways);
    add_change(x, (struct batch_change){.kind = CHANGE_ENTRY, .operand = i, .at = at});
    return NULL;
}

int batch_axis(const struct batch_search *x, const char *attr, int64_t absent, int rank)
{
    return axis_of(node_attr_int(x->m, x->n, attr, absent), rank);
}

struct batch_list batch_list_of(struct batch_search *x, const char *attr, uint32_t i)
{
    struct batch in = batch_in(x, i);
    struct shape s;
    struct batch_list k = {.n = -1, .scaled = in.how == BATCH_SIZES ? in.scaled : 0};
    if (attr != NULL && node_attr(x->m, x->n, attr) != NULL) {
        k.num = nums_attr_or_input(x->f, x->n, attr, UINT32_MAX);
        k.n = k.num != NULL ? (int)k.num->n : -1;
        return k;
    }
    int rank = batch_shape(x, i, &s);
    k.num = nums_of(x->f, node_in(x->m, x->n, i));
    int64_t n = rank == 0 ? 1 : rank == 1 ? s.d[0].value : -1;
    k.n = k.num != NULL ? (int)k.num->n : n >= 0 && n <= SHAPE_VALUES ? (int)n : -1;
    return k;
}

bool batch_entry_is(const struct batch_list *k, int j, int64_t v)
{
    return k->num != NULL && j >= 0 && (uint32_t)j < k->num->n && (k->scaled >> j & 1) == 0 &&
           k->num->at[j].kind == NUM_INT && k->num->at[j].v == v;
}

bool batch_axes(struct batch_search *x, uint32_t i, int rank, uint32_t *axes, bool *absent)
{
    int64_t list[SHAPE_RANK];
    int n = attr_or_input(x->f, x->n, "axes", i, list, SHAPE_RANK);
    if (batch_in(x, i).how != BATCH_WHOLE) /* copies may have other axes */
        n = -2;
    *axes = 0;
    *absent = n == -1 || n == 0;
    for (int k = 0; k < n; k++) {
        int axis = axis_of(list[k], rank);
        if (axis < 0)
            return false;
        *axes |= UINT32_C(1) << axis;
    }
    return n != -2;
}

const char *batch_broadcast(struct batch_search *x, const uint32_t *k, uint32_t count,
                            struct batch *out)
{
    struct shape s;
    /* behind: number of axes from the batch to the last axis, both counted; it must be equal for all operands that
     * have the batch; -1: no operand has it; most: rank of the result */
    int behind = -1, most = 0;
    *out = (struct batch){0};
    for (uint32_t j = 0; j < count; j++) {
        uint32_t i = k != NULL ? k[j] : j;
        struct batch in = batch_in(x, i);
        int rank = batch_shape(x, i, &s);
        if (in.how == BATCH_SIZES)
            return say_counts_samples(x, i);
        if (rank < 0 && node_in(x->m, x->n, i) != 0)
            return batch_say(x, "the rank of its operand %u, '%s', is not known", i,
                             batch_name_in(x, i));
        most = rank > most ? rank : most;
        if (!batch_has_axis(in))
            continue;
        if (behind >= 0 && behind != rank - in.axis)
            return batch_say(x, "its operands have the batch at different axes");
        behind = rank - in.axis;
        bool first = !batch_has_axis(*out);
        /* the result takes the first operand's state; if that is CUT and a later operand with the batch is not, the
         * result is SHAPE */
        if (first)
            *out = in;
        else if (out->how == BATCH_CUT)
            *out = batch_computed(in);
    }
    /* a WHOLE operand that has an axis where other operands have the batch is cut at that axis, unless its size
     * there is 1 */
    for (uint32_t j = 0; j < count; j++) {
        uint32_t i = k != NULL ? k[j] : j;
        int rank = batch_shape(x, i, &s);
        bool meets = behind >= 0 && batch_in(x, i).how == BATCH_WHOLE && rank >= behind;
        const char *why =
            meets && s.d[rank - behind].value != 1 ? batch_cut(x, i, rank - behind) : NULL;
        if (why != NULL)
            return why;
    }
    *out = batch_at(count > 1 ? batch_computed(*out) : *out, most - behind);
    return NULL;
}
