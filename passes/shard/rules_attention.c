/* Rules for sharding of attention and of rotary embeddings (shard.h): by heads, or along the batch.
 *
 * Heads stand in an axis of their own, or side by side in the last axis.  A device that has some heads of the keys
 * also has the heads of the queries that look these keys up: with grouped queries, several times as many.  Where all
 * queries share one head of keys, each device has that head.  O(operands * rank) each. */
#include "passes/shard/shard.h"

#include "ir/model/dim.h"

#include <string.h>

/* The form of an operator of attention: which axes of its operands and results are heads, and which are the batch. */
struct form {
    /* attributes with the number of heads of the queries, and of the keys; NULL: as many as of the queries */
    const char *count, *key_count;
    /* A character for each operand, ':', and one for each result.  q: has heads of queries; k: has heads of keys;
     * both in axis 2 of a tensor with 3 or 5 axes, in axis 1 of a tensor with 4 axes.  s: has three times the heads
     * side by side in its last axis; if it has one entry, this is for all heads.  p: has heads in axis 2, and the
     * batch in axis 1.  v: has a number for each head of queries.  m: is a mask: its last axes are batch, heads of
     * queries, rows and columns, as far as it has so many.  i: has the batch in axis 0, and no heads.  b: like i, if
     * its axis 0 is as long as the batch; else it is for all.  c: like i, if it has three axes; else for all.  '-':
     * is for all heads and samples.  x: must be omitted. */
    const char *text;
};

/* [enum shard_attention] the forms of the operators */
static const struct form forms[] = {
    [SHARD_HEADS_ONNX] = {"q_num_heads", "kv_num_heads", "qkkmkkb:qkkq"},
    [SHARD_HEADS_MULTI] = {"num_heads", NULL, "qkksbmkk-x:qkkq"},
    [SHARD_HEADS_GROUPED] = {"num_heads", "kv_num_heads", "qkkkkb---bmvxx:qkkq"},
    [SHARD_HEADS_PACKED] = {"num_heads", NULL, "issbpm-:qp"},
    [SHARD_HEADS_QUANTISED] = {"num_heads", NULL, "iss-sb-sp:qp"},
    [SHARD_HEADS_ROTARY] = {"num_heads", NULL, "qccb:q"},
    [SHARD_HEADS_ROTARY_MS] = {"num_heads", NULL, "qb--:q"},
};

/* q, k: number of heads of queries, of keys; run_q, run_k: how many of these heads in a row each device has; run_k 0:
 * each device has all heads of keys. */
struct head_counts {
    int64_t q, k, run_q, run_k;
};

/* Returns the character of operand or result i; 'x' if it has none. */
static char code_of(const struct form *f, bool result, uint32_t i)
{
    size_t before = strcspn(f->text, ":"), all = strlen(f->text);
    size_t at = result ? before + 1 + i : i;
    return at < (result ? all : before) ? f->text[at] : 'x';
}

/* Writes the shape of operand or result i to *k.  Returns false if it is omitted, or its rank is not known. */
static bool shape_at(const struct shard_ask *q, bool result, uint32_t i, struct shape *k)
{
    return result ? shard_out_shape(q, i, k) : shard_in_shape(q, i, k);
}

/* Returns the number of heads in attribute `attr`; without it the size of axis 1 of operand i, if the operand has
 * four axes; 0: not known. */
static int64_t count_of(const struct shard_ask *q, const char *attr, uint32_t i)
{
    struct shape k;
    int64_t n = node_attr_int(q->s->m, q->n, attr, 0);
    if (n > 0 || !shard_in_shape(q, i, &k) || k.rank != 4)
        return n;
    return k.d[1].value;
}

/* Writes the numbers of heads to *h.  Returns false if they are not known. */
static bool count_heads(const struct shard_ask *q, const struct form *f, struct head_counts *h)
{
    struct shape x, table;
    h->q = count_of(q, f->count, 0);
    /* a row of a table of rotations has an entry for two positions of a head */
    if (h->q == 0 && f == &forms[SHARD_HEADS_ROTARY_MS] && shard_in_shape(q, 0, &x) &&
        shard_in_shape(q, 2, &table) && x.rank == 3 && table.rank == 2 && table.d[1].value > 0 &&
        x.d[2].value > 0)
        h->q = x.d[2].value / (2 * table.d[1].value);
    h->k = f->key_count != NULL ? count_of(q, f->key_count, 1) : h->q;
    return h->q > 0 && h->k > 0 && h->q % h->k == 0;
}

/* Finds in a tensor of shape *k the axis with the heads, and the number of positions of a head along this axis (*unit):
 * 1 in an axis of heads, more where heads stand side by side.  Returns false if the tensor has no such axis, or its
 * size is not known or not as expected. */
static bool head_axis(char code, const struct shape *k, const struct head_counts *h, int *axis,
                      int64_t *unit)
{
    int64_t heads = code == 'k' ? h->k : code == 's' ? 3 * h->q : h->q;
    /* whether heads have an axis of their own */
    bool apart = code == 'p' || k->rank == 4 || k->rank == 5;
    if (code == 's')
        *axis = k->rank - 1;
    else if (code == 'v')
        *axis = 0;
    else if (code == 'm')
        *axis = k->rank - 3;
    else
        *axis = k->rank == 4 && code != 'p' ? 1 : 2;
    if (*axis < 0 || *axis >= k->rank || strchr("qkspvm", code) == NULL)
        return false;
    int64_t size = k->d[*axis].value;
    *unit = size > 0 && size % heads == 0 ? size / heads : 0;
    /* whether heads stand side by side on the axis */
    bool beside = code == 's' || (code != 'v' && code != 'm' && !apart);
    return *unit == 1 || (*unit > 1 && beside);
}

/* Whether a tensor with this character and shape is for all heads, so that it is the same however the heads are cut. */
static bool is_for_all(char code, const struct shape *k)
{
    bool one = code == 'm' && (k->rank < 3 || shard_is_one(k->d[k->rank - 3]));
    return one || strchr("ibc-", code) != NULL ||
           (code == 's' && (k->rank == 0 || (k->rank == 1 && shard_is_one(k->d[0]))));
}

/* Sets the state of operand or result i. */
static void set_state(struct shard_ask *q, bool result, uint32_t i, int axis, int64_t run)
{
    struct shard_state *st = result ? &q->out[i] : &q->in[i];
    *st = (struct shard_state){(uint8_t)axis, run};
}

/* Sets the state of operand or result i: cut by heads, or whole if it is for all heads.  Returns false if it cannot be
 * cut so. */
static bool cut_heads(struct shard_ask *q, const struct form *f, const struct head_counts *h,
                      bool result, uint32_t i)
{
    char code = code_of(f, result, i);
    struct shape k;
    int axis;
    int64_t unit, run = code == 'k' ? h->run_k : h->run_q;
    if ((result ? node_out(q->s->m, q->n, i) : node_in(q->s->m, q->n, i)) == 0)
        return true;
    if (!shape_at(q, result, i, &k))
        return false;
    if (is_for_all(code, &k) || run == 0)
        return true;
    if (!head_axis(code, &k, h, &axis, &unit) || run > INT64_MAX / unit)
        return false;
    set_state(q, result, i, axis, run * unit);
    return true;
}

/* Sets h->run_q and h->run_k, the numbers of heads that each device has in a row, by the given state.  Returns false if
 * that state is no cut between heads, or would part heads of queries that look up the same head of keys. */
static bool find_runs(const struct shard_ask *q, const struct form *f, struct head_counts *h)
{
    char code = code_of(f, q->result, q->at);
    struct shape k;
    int axis;
    int64_t unit, each = h->q / h->k; /* number of heads of queries for each head of keys */
    if (!shape_at(q, q->result, q->at, &k) || is_for_all(code, &k) ||
        !head_axis(code, &k, h, &axis, &unit) || axis != q->given.axis || q->given.run % unit != 0)
        return false;
    int64_t run = q->given.run / unit;
    /* the only head of keys is on each device, and cannot be cut: so the heads of queries may be cut anywhere */
    bool shares = h->k == 1 && h->q > 1;
    if (shares)
        each = 1;
    if (code == 'k' ? shares || run > INT64_MAX / each : run % each != 0)
        return false;
    h->run_q = code == 'k' ? run * each : run;
    h->run_k = shares ? 0 : h->run_q / each;
    return true;
}

/* Fills the answer with the cut of the node by heads to which the given state belongs, and divides the attributes with
 * numbers of heads by N.  Returns false if there is no such cut. */
static bool by_heads(struct shard_ask *q, const struct form *f)
{
    const struct module *m = q->s->m;
    const struct node *n = &m->node[q->n];
    struct head_counts h;
    bool good = count_heads(q, f, &h) && find_runs(q, f, &h);
    for (uint32_t i = 0; i < n->nformal && good; i++)
        good = cut_heads(q, f, &h, /*result=*/false, i);
    for (uint32_t i = 0; i < n->out.n && good; i++)
        good = cut_heads(q, f, &h, /*result=*/true, i);
    if (node_attr_int(m, q->n, f->count, 0) > 0)
        q->change[0] = (struct shard_change){.kind = SHARD_ATTR, .attr = f->count};
    if (good && h.run_k > 0 && f->key_count != NULL && node_attr_int(m, q->n, f->key_count, 0) > 0)
        q->change[1] = (struct shard_change){.kind = SHARD_ATTR, .attr = f->key_count};
    return good;
}

/* Returns the axis of the batch in a tensor of shape *k; -1: it has none.  size: size of the batch. */
static int batch_axis(char code, const struct shape *k, struct dim size)
{
    int axis = code == 'p' ? 1 : code == 'm' ? k->rank - 4 : 0;
    if (strchr("sv-", code) != NULL || axis < 0 || (code == 'c' && k->rank != 3))
        return -1;
    if ((code == 'm' || code == 'b') && shard_is_one(k->d[axis]) && !shard_is_one(size))
        return -1;
    return axis;
}

/* Fills the answer with the cut of the batch in all operands and results that have it, if the given state is a cut of
 * the batch.  Returns false if it is not, or an operand or result has another size there. */
static bool by_batch(struct shard_ask *q, const struct form *f)
{
    const struct node *n = &q->s->m->node[q->n];
    struct shape x, k;
    const struct shard_state given = q->given;
    if (!shape_at(q, /*result=*/false, 0, &x) || !shape_at(q, q->result, q->at, &k) ||
        given.axis != batch_axis(code_of(f, q->result, q->at), &k, x.d[0]))
        return false;
    for (uint32_t i = 0; i < n->nformal + n->out.n; i++) {
        bool result = i >= n->nformal;
        uint32_t at = result ? i - n->nformal : i;
        if ((result ? node_out(q->s->m, q->n, at) : node_in(q->s->m, q->n, at)) == 0)
            continue;
        if (!shape_at(q, result, at, &k))
            return false;
        int axis = k.rank == 0 ? -1 : batch_axis(code_of(f, result, at), &k, x.d[0]);
        if (axis >= 0 && !dim_same(k.d[axis], x.d[0]))
            return false;
        if (axis >= 0)
            set_state(q, result, at, axis, given.run);
    }
    return true;
}

/* Rule for attention and rotary embeddings: they can be cut along the batch, or by heads.  r->arg: enum
 * shard_attention. */
bool rule_shard_attention(struct shard_ask *q, const struct shard_row *r)
{
    const struct form *f = &forms[r->arg];
    const struct node *n = &q->s->m->node[q->n];
    struct shape x, k;
    for (uint32_t i = 0; i < n->nformal; i++)
        if (node_in(q->s->m, q->n, i) != 0 && code_of(f, /*result=*/false, i) == 'x')
            return false;
    if (node_attr(q->s->m, q->n, "qkv_hidden_sizes") != NULL || !shard_in_shape(q, 0, &x) ||
        x.rank < 3)
        return false;
    /* without operand 1, operand 0 has queries, keys and values side by side, which are parts of different lengths */
    if (r->arg == SHARD_HEADS_GROUPED && !shard_in_shape(q, 1, &k))
        return false;
    /* the parts of a bias for queries, keys and values are alike if the heads of values are as large as the other
     * heads */
    if (r->arg == SHARD_HEADS_MULTI && shard_in_shape(q, 3, &k) && x.rank == 3 &&
        (k.rank != 1 || k.d[0].value != 3 * x.d[2].value))
        return false;
    if (by_batch(q, f))
        return true;
    memset(q->in, 0, n->nformal * sizeof *q->in);
    memset(q->out, 0, n->out.n * sizeof *q->out);
    return by_heads(q, f);
}
