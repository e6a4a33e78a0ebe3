/* Computing operators (compute.h): the table of operators, access to attributes and operands, and making results.
 *
 * The function of an operator gets its attributes and operands through take_...() and take_operand(), which note
 * errors in c->failed, so that one check at the end suffices.  It makes its results with compute_make(), which
 * refuses results that are too large before memory is allocated.  Elements of a tensor are read only when a function
 * asks for them, so the Shape of a large weight reads nothing. */
#include "ir/model/compute_state.h"

#include <assert.h>
#include <string.h>

enum { ANY = UINT8_MAX }; /* row.most: any number of operands */

/* An operator that pcc can compute. */
struct row {
    const char *op;
    compute_fn *fn;
    int arg;             /* argument of fn: an enum math; functions without operations ignore it */
    uint8_t least, most; /* smallest and largest number of operands */
};

/* Sorted by operator, for row_of(). */
static const struct row table[] = {
    {"Abs", compute_elementwise, MATH_ABS, 1, 1},
    {"Add", compute_elementwise, MATH_ADD, 2, 2},
    {"And", compute_elementwise, MATH_AND, 2, 2},
    {"Cast", compute_cast, 0, 1, 1},
    {"CastLike", compute_cast, 0, 2, 2},
    {"Ceil", compute_elementwise, MATH_CEIL, 1, 1},
    {"Concat", compute_concat, 0, 1, ANY},
    {"Constant", compute_constant, 0, 0, 0},
    {"ConstantOfShape", compute_constant_of_shape, 0, 1, 1},
    {"Div", compute_elementwise, MATH_DIV, 2, 2},
    {"Equal", compute_elementwise, MATH_EQUAL, 2, 2},
    {"Expand", compute_expand, 0, 2, 2},
    {"Flatten", compute_flatten, 0, 1, 1},
    {"Floor", compute_elementwise, MATH_FLOOR, 1, 1},
    {"Gather", compute_gather, 0, 2, 2},
    {"Greater", compute_elementwise, MATH_GREATER, 2, 2},
    {"GreaterOrEqual", compute_elementwise, MATH_GREATER_EQUAL, 2, 2},
    {"Identity", compute_identity, 0, 1, 1},
    {"Less", compute_elementwise, MATH_LESS, 2, 2},
    {"LessOrEqual", compute_elementwise, MATH_LESS_EQUAL, 2, 2},
    {"Max", compute_elementwise, MATH_MAX, 1, ANY},
    {"Min", compute_elementwise, MATH_MIN, 1, ANY},
    {"Mod", compute_elementwise, MATH_MOD, 2, 2},
    {"Mul", compute_elementwise, MATH_MUL, 2, 2},
    {"Neg", compute_elementwise, MATH_NEG, 1, 1},
    {"Not", compute_elementwise, MATH_NOT, 1, 1},
    {"Or", compute_elementwise, MATH_OR, 2, 2},
    {"Pow", compute_elementwise, MATH_POW, 2, 2},
    {"Range", compute_range, 0, 3, 3},
    {"Reciprocal", compute_elementwise, MATH_RECIPROCAL, 1, 1},
    {"ReduceMax", compute_reduce, MATH_MAX, 1, 2},
    {"ReduceMin", compute_reduce, MATH_MIN, 1, 2},
    {"ReduceProd", compute_reduce, MATH_MUL, 1, 2},
    {"ReduceSum", compute_reduce, MATH_ADD, 1, 2},
    {"Reshape", compute_reshape, 0, 1, 2},
    {"Round", compute_elementwise, MATH_ROUND, 1, 1},
    {"ScatterND", compute_scatter_nd, 0, 3, 3},
    {"Shape", compute_shape, 0, 1, 1},
    {"Sign", compute_elementwise, MATH_SIGN, 1, 1},
    {"Size", compute_size, 0, 1, 1},
    {"Slice", compute_slice, 0, 1, 5},
    {"Split", compute_split, 0, 1, 2},
    {"Sqrt", compute_elementwise, MATH_SQRT, 1, 1},
    {"Squeeze", compute_squeeze, 0, 1, 2},
    {"Sub", compute_elementwise, MATH_SUB, 2, 2},
    {"Tile", compute_tile, 0, 2, 2},
    {"Transpose", compute_transpose, 0, 1, 1},
    {"Unsqueeze", compute_unsqueeze, 0, 1, 2},
    {"Where", compute_where, 0, 3, 3},
    {"Xor", compute_elementwise, MATH_XOR, 2, 2},
};

/* Returns the table's row for an operator, found by binary search; NULL: there is none. */
static const struct row *row_of(const char *op)
{
    uint32_t lo = 0, hi = sizeof table / sizeof *table;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        int c = strcmp(table[mid].op, op);
        if (c == 0)
            return &table[mid];
        if (c < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return NULL;
}

bool compute_offers(const char *op)
{
    return row_of(op) != NULL;
}

/* Whether k may be an operand of an operator that needs elements: they are in memory or in a tensor, or k is a short
 * tensor of integers, whose elements may all be unknown. */
static bool has_elements(const struct known *k)
{
    bool integers = k->elem == ELEM_I64 || k->elem == ELEM_I32;
    return k->data != NULL || k->tensor != 0 || (integers && k->n >= 0 && k->n <= COMPUTE_PART);
}

/* Whether the computation has as many operands as the operator takes, and each operand has the elements that the
 * operator needs.  Shape and Size need no elements, CastLike needs no elements of operand 1. */
static bool has_operands(const struct computation *c, const struct row *r)
{
    bool all = c->nin >= r->least && (r->most == ANY || c->nin <= r->most);
    if (r->fn == compute_shape || r->fn == compute_size)
        return all;
    for (uint32_t i = 0; i < c->nin && all; i++)
        all = c->in[i] == NULL || has_elements(c->in[i]) || (i == 1 && r->fn == compute_cast);
    return all;
}

/* Removes the mask of a result if it marks every element as known. */
static void drop_full_mask(struct known *k)
{
    if (k->mask != NULL && memchr(k->mask, 0, (size_t)k->n) == NULL)
        k->mask = NULL;
}

bool compute_run(struct computation *c)
{
    const struct row *r = row_of(c->op);
    if (r == NULL || !has_operands(c, r) || c->nout == 0 ||
        (c->nout != 1 && r->fn != compute_split))
        return false;
    if (c->opset < 0)
        c->opset = INT64_MAX;
    c->failed = c->partial = false;
    if (!r->fn(c, r->arg) || c->failed)
        return false;
    for (uint32_t i = 0; i < c->nout; i++)
        drop_full_mask(&c->out[i]);
    return true;
}

/* ---- what is known ------------------------------------------------------------------------------ */

bool known_whole(const struct known *k)
{
    return k->n >= 0 && k->data != NULL && k->mask == NULL;
}

bool known_of_tensor(const struct module *m, tid t, struct known *k, struct arena *a)
{
    const struct tensor *x = &m->tensor[t];
    if (x->rank > COMPUTE_RANK)
        return false;
    int64_t *dim = arena_array(a, (size_t)x->rank + 1, sizeof *dim);
    for (uint32_t i = 0; i < x->rank; i++)
        dim[i] = m->ints[x->dim + i];
    *k = (struct known){.elem = x->elem, .rank = x->rank, .dim = dim, .n = tensor_elems(m, t)};
    k->tensor = tensor_has_bytes(x) ? t : 0;
    return true;
}

bool known_of_type(const struct module *m, uint32_t type, struct known *k, struct arena *a)
{
    const struct type *t = &m->type[type];
    if (t->kind != TYPE_TENSOR || t->rank < 0 || t->rank > COMPUTE_RANK)
        return false;
    uint32_t rank = (uint32_t)t->rank;
    int64_t *dim = arena_array(a, (size_t)rank + 1, sizeof *dim);
    for (uint32_t i = 0; i < rank; i++)
        dim[i] = m->dim[t->dim + i].value;
    *k = (struct known){.elem = t->elem, .rank = rank, .dim = dim, .n = type_elems(m, type)};
    return true;
}

/* ---- attributes --------------------------------------------------------------------------------- */

const struct attr *take_attr(struct computation *c, const char *name, enum attr_kind kind)
{
    const struct module *m = c->m;
    for (uint32_t i = 0; i < c->attr.n; i++) {
        const struct attr *a = &m->attr[c->attr.at + i];
        if (strcmp(module_str(m, a->name), name) != 0)
            continue;
        if (a->kind != kind || a->ref != 0)
            c->failed = true;
        return c->failed ? NULL : a;
    }
    return NULL;
}

int64_t take_int(struct computation *c, const char *name, int64_t absent)
{
    const struct attr *a = take_attr(c, name, ATTR_INT);
    return a != NULL ? a->u.i : absent;
}

struct list take_ints(struct computation *c, const char *name)
{
    const struct attr *a = take_attr(c, name, ATTR_INTS);
    return a != NULL ? (struct list){c->m->ints + a->u.list.at, a->u.list.n, true}
                     : (struct list){0};
}

/* ---- operands ----------------------------------------------------------------------------------- */

struct known *take_operand(struct computation *c, uint32_t i)
{
    struct known *k = i < c->nin ? c->in[i] : NULL;
    if (k == NULL)
        c->failed = true;
    return k;
}

/* Whether the bytes of tensor t can be read: its file is open, or they are in memory. */
static bool has_bytes(const struct module *m, tid t)
{
    while (m->tensor[t].where == TENSOR_SLICE)
        t = m->tensor[t].of[0];
    const struct tensor *x = &m->tensor[t];
    return x->where == TENSOR_FILE ? m->file[x->file].fd >= 0 : x->data != NULL || x->len == 0;
}

/* Fills k->data from the tensor of k.  If k has no tensor (a short tensor of integers), makes elements that are all
 * marked as unknown.  Returns false if the elements cannot be read or exceed c->most_read. */
static bool read_elements(struct computation *c, struct known *k)
{
    const struct module *m = c->m;
    if (k->n < 0 || !has_elements(k) || elem_bits(k->elem) % 8 != 0 || size_of(k->elem) == 0)
        return false;
    uint64_t bytes = (uint64_t)elem_bytes(k->elem, k->n);
    if (k->tensor != 0 && (bytes > (uint64_t)c->most_read || bytes != m->tensor[k->tensor].len ||
                           !has_bytes(m, k->tensor)))
        return false;
    unsigned char *data = arena_alloc(c->a, bytes + 1);
    if (k->tensor != 0 && tensor_read(m, k->tensor, 0, data, bytes) != 0)
        return false;
    k->mask = k->tensor == 0 && k->n > 0 ? arena_alloc(c->a, (size_t)k->n) : NULL;
    k->data = data;
    return true;
}

struct known *take_elements(struct computation *c, uint32_t i)
{
    struct known *k = take_operand(c, i);
    if (k == NULL || (k->data == NULL && !read_elements(c, k))) {
        c->failed = true;
        return NULL;
    }
    c->partial = c->partial || k->mask != NULL;
    c->spent += elem_bytes(k->elem, k->n);
    return k;
}

bool take_tensor(struct computation *c, tid t, struct known *k)
{
    bool good = known_of_tensor(c->m, t, k, c->a) && k->tensor != 0 && read_elements(c, k);
    if (good)
        c->spent += elem_bytes(k->elem, k->n);
    return good;
}

struct list take_list(struct computation *c, uint32_t i)
{
    struct list none = {0};
    if (i >= c->nin || c->in[i] == NULL)
        return none;
    /* take_elements() may set c->partial; that is undone, since a list with unknown elements is refused below */
    bool partial = c->partial;
    const struct known *k = take_elements(c, i);
    c->partial = partial;
    if (k == NULL || !known_whole(k) || k->rank > 1 || k->n > UINT32_MAX ||
        (k->elem != ELEM_I64 && k->elem != ELEM_I32)) {
        c->failed = true;
        return none;
    }
    int64_t *at = arena_array(c->a, (size_t)k->n + 1, sizeof *at);
    for (int64_t j = 0; j < k->n; j++) {
        union number x = {0};
        get_number(k, j, &x);
        at[j] = x.i;
    }
    return (struct list){at, (uint32_t)k->n, true};
}

struct list take_either(struct computation *c, const char *name, uint32_t i, int64_t since)
{
    if (c->opset >= since)
        return take_list(c, i);
    if (i < c->nin && c->in[i] != NULL)
        c->failed = true;
    return take_ints(c, name);
}

uint32_t take_axis(struct computation *c, int64_t axis, uint32_t rank)
{
    if (axis >= -(int64_t)rank && axis < (int64_t)rank)
        return (uint32_t)(axis < 0 ? axis + rank : axis);
    c->failed = true;
    return 0;
}

uint32_t take_axes(struct computation *c, struct list axes, uint32_t rank)
{
    uint32_t set = 0;
    for (uint32_t i = 0; i < axes.n && !c->failed; i++) {
        uint32_t bit = UINT32_C(1) << take_axis(c, axes.at[i], rank);
        if ((set & bit) != 0)
            c->failed = true;
        set |= bit;
    }
    return set;
}

/* ---- results ------------------------------------------------------------------------------------ */

/* Whether a result of that type and shape can be computed: its size is known, its elements are whole bytes, and it
 * has at most c->most bytes.  If not, sets c->failed. */
static bool can_make(struct computation *c, enum elem elem, uint32_t rank, const int64_t *dim)
{
    int64_t n = rank <= COMPUTE_RANK ? shape_elems(dim, rank) : -1;
    if (n < 0 || elem_bits(elem) % 8 != 0 || size_of(elem) == 0 || elem_bytes(elem, n) > c->most)
        c->failed = true;
    return !c->failed;
}

/* Returns a copy of dim[rank] in the computation's memory. */
static const int64_t *copy_dims(struct computation *c, uint32_t rank, const int64_t *dim)
{
    int64_t *own = arena_array(c->a, (size_t)rank + 1, sizeof *own);
    for (uint32_t i = 0; i < rank; i++)
        own[i] = dim[i];
    return own;
}

/* Gives k a type, a shape and zeroed elements; if c->partial, marks all elements as unknown. */
static void init_result(struct computation *c, struct known *k, enum elem elem, uint32_t rank,
                        const int64_t *dim)
{
    int64_t n = shape_elems(dim, rank), bytes = elem_bytes(elem, n);
    *k = (struct known){.elem = elem, .rank = rank, .dim = copy_dims(c, rank, dim), .n = n};
    k->data = arena_alloc(c->a, (size_t)bytes + 1);
    k->mask = c->partial ? arena_alloc(c->a, (size_t)n + 1) : NULL;
    c->spent += bytes;
}

struct known *compute_make(struct computation *c, uint32_t i, enum elem elem, uint32_t rank,
                           const int64_t *dim)
{
    assert(i < c->nout);
    if (!can_make(c, elem, rank, dim))
        return NULL;
    init_result(c, &c->out[i], elem, rank, dim);
    return &c->out[i];
}

struct known *make_intermediate(struct computation *c, enum elem elem, uint32_t rank,
                                const int64_t *dim)
{
    if (!can_make(c, elem, rank, dim))
        return NULL;
    struct known *k = arena_alloc(c->a, sizeof *k);
    init_result(c, k, elem, rank, dim);
    return k;
}

bool make_reshaped(struct computation *c, const struct known *x, uint32_t rank, const int64_t *dim)
{
    if (!can_make(c, x->elem, rank, dim) || shape_elems(dim, rank) != x->n)
        return false;
    c->out[0] = *x;
    c->out[0].rank = rank;
    c->out[0].dim = copy_dims(c, rank, dim);
    c->out[0].tensor = 0;
    return true;
}

void broadcast_shape(struct computation *c, const struct known *x, uint32_t *rank, int64_t *dim)
{
    uint32_t most = x->rank > *rank ? x->rank : *rank;
    int64_t now[COMPUTE_RANK];
    for (uint32_t i = 0; i < most; i++) { /* i counts dimensions from the last one */
        int64_t p = i < *rank ? dim[*rank - 1 - i] : 1;
        int64_t q = i < x->rank ? x->dim[x->rank - 1 - i] : 1;
        if (p < 0 || q < 0 || (p != q && p != 1 && q != 1))
            c->failed = true;
        now[most - 1 - i] = p == 1 ? q : p;
    }
    memcpy(dim, now, most * sizeof *dim);
    *rank = most;
}

struct known *broadcast_to(struct computation *c, struct known *x, uint32_t rank,
                           const int64_t *dim)
{
    if (x->rank == rank && memcmp(x->dim, dim, rank * sizeof *dim) == 0)
        return x;
    struct known *k = make_intermediate(c, x->elem, rank, dim);
    if (k == NULL || k->n == 0)
        return k;
    int64_t step[COMPUTE_RANK];
    struct box b = {.rank = rank};
    set_steps(x->dim, x->rank, step);
    set_steps(dim, rank, b.to.step);
    for (uint32_t i = 0; i < rank; i++) {
        /* wraps around, to a huge number, if x lacks the dimension */
        uint32_t own = i - (rank - x->rank);
        b.dim[i] = dim[i];
        b.from.step[i] = own < x->rank && x->dim[own] != 1 ? step[own] : 0;
    }
    copy_box(k, x, &b);
    return k;
}

/* ---- elements ----------------------------------------------------------------------------------- */

void set_steps(const int64_t *dim, uint32_t rank, int64_t *step)
{
    int64_t n = 1;
    for (uint32_t i = rank; i-- > 0;) {
        step[i] = n;
        n *= dim[i];
    }
}

struct box rows_box(int64_t rows, int64_t n, int64_t to, int64_t from)
{
    struct box b = {.rank = 2, .dim = {rows, n}};
    b.to.step[0] = to;
    b.from.step[0] = from;
    b.to.step[1] = b.from.step[1] = 1;
    return b;
}

/* Copies the elements along the last dimension of the walk b: the first is element f of `from`, and becomes element t
 * of `to`. */
static void copy_row(struct known *to, const struct known *from, const struct box *b, int64_t t,
                     int64_t f)
{
    const uint32_t last = b->rank - 1, size = size_of(to->elem);
    const int64_t n = b->dim[last], dt = b->to.step[last], df = b->from.step[last];
    const bool adjacent = dt == 1 && df == 1;
    if (adjacent)
        memcpy(to->data + t * size, from->data + f * size, (size_t)n * size);
    for (int64_t i = 0; i < n && !adjacent; i++)
        memcpy(to->data + (t + i * dt) * size, from->data + (f + i * df) * size, size);
    for (int64_t i = 0; i < n && to->mask != NULL; i++)
        to->mask[t + i * dt] = is_known(from, f + i * df);
}

void copy_box(struct known *to, const struct known *from, const struct box *b)
{
    int64_t position[2 * COMPUTE_RANK] = {0}, t = b->to.at, f = b->from.at;
    assert(to->elem == from->elem && b->rank > 0);
    for (uint32_t i = 0; i < b->rank; i++)
        if (b->dim[i] == 0)
            return;
    /* after the inner loop, i < b->rank means that there is a next position */
    for (uint32_t i = 0; i < b->rank;) {
        copy_row(to, from, b, t, f);
        /* moves to the next position in the dimensions before the last one, of which the last changes fastest */
        for (i = 1; i < b->rank; i++) {
            uint32_t k = b->rank - 1 - i;
            t += b->to.step[k];
            f += b->from.step[k];
            if (++position[k] < b->dim[k])
                break;
            t -= b->dim[k] * b->to.step[k];
            f -= b->dim[k] * b->from.step[k];
            position[k] = 0;
        }
    }
}
