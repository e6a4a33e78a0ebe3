/* Shape inference: shapes of values, and merging an inferred shape with the shape in the file.
 *
 * The file's shape comes first.  The inferred shape fills in what the file leaves open.  An inferred rank replaces
 * an unknown rank.  Of dimensions, a number replaces a name, a name replaces an unknown dimension, and a name from
 * the model's inputs replaces a name that only a value inside the model has (exporters make up such names).  If two
 * numbers differ, that is a conflict: a warning, and the file's number stays.  In a bound run only numbers of the
 * file stay; the values of its names are replaced by what follows from the inputs.  O(rank) for each merge. */
#include "passes/shapes/infer.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

struct shape shape_unknown(enum elem e)
{
    return (struct shape){.elem = (uint8_t)e, .rank = -1};
}

struct shape shape_scalar(enum elem e)
{
    return (struct shape){.elem = (uint8_t)e, .rank = 0};
}

struct shape shape_vector(enum elem e, struct dim d)
{
    struct shape s = {.elem = (uint8_t)e, .rank = 1};
    s.d[0] = d;
    return s;
}

struct dim shape_dim(const struct shape *s, int i)
{
    assert(s->rank <= SHAPE_RANK);
    i = i < 0 ? i + s->rank : i;
    return i >= 0 && i < s->rank ? s->d[i] : dim_unknown();
}

void shape_swap_last(struct shape *s)
{
    if (s->rank < 2)
        return;
    struct dim d = s->d[s->rank - 1];
    s->d[s->rank - 1] = s->d[s->rank - 2];
    s->d[s->rank - 2] = d;
}

/* Writes the shape of tensor t to *s. */
static void tensor_shape(const struct infer *f, const struct tensor *t, struct shape *s)
{
    s->elem = t->elem;
    s->rank = t->rank <= SHAPE_RANK ? (int)t->rank : -1;
    for (int i = 0; i < s->rank; i++)
        s->d[i] = dim_num(f->m->ints[t->dim + (uint32_t)i]);
}

bool shape_of(const struct infer *f, vid v, struct shape *s)
{
    assert(v < f->m->nval);
    const struct module *m = f->m;
    s->elem = 0;
    s->rank = -1;
    if (v == 0)
        return false;
    const struct type *t = &m->type[f->type[v]];
    if (t->kind == TYPE_NONE && m->value[v].tensor != 0) {
        tensor_shape(f, &m->tensor[m->value[v].tensor], s);
        return true;
    }
    if (t->kind != TYPE_TENSOR)
        return false;
    s->elem = t->elem;
    s->rank = t->rank <= SHAPE_RANK ? t->rank : -1;
    for (int i = 0; i < s->rank; i++)
        s->d[i] = m->dim[t->dim + (uint32_t)i];
    return true;
}

bool shape_in(const struct infer *f, nid n, uint32_t i, struct shape *s)
{
    return shape_of(f, node_in(f->m, n, i), s);
}

struct shape operand_shape(const struct infer *f, nid n, uint32_t i)
{
    struct shape s;
    shape_in(f, n, i, &s);
    return s;
}

enum elem elem_in(const struct infer *f, nid n, uint32_t i)
{
    return operand_shape(f, n, i).elem;
}

/* --- merging --- */

/* What check_name() finds out about the names in a dimension. */
struct name_search {
    const struct infer *f;
    bool all; /* all names so far are names of dimensions of the model's inputs */
};

/* For dim_names(): looks for a name among those of the model's inputs. */
static void check_name(void *user, const char *name)
{
    struct name_search *k = user;
    sid s = str_id(k->f->m, name);
    uint32_t n = k->f->ninput_names, at = count_below(k->f->input_names, n, s);
    k->all = k->all && at < n && k->f->input_names[at] == s;
}

/* Whether all names in d are names of dimensions of the model's inputs. */
static bool is_from_inputs(const struct infer *f, struct dim d)
{
    struct name_search k = {f, true};
    dim_names(f->m, d, check_name, &k);
    return k.all;
}

/* Merges the inferred dimension `found` into *old, what is known of the dimension so far; declared: what the file says
 * of the dimension.  Returns 1 if *old changed, -1 for a conflict, else 0. */
static int merge_dim(struct infer *f, struct dim *old, struct dim declared, struct dim found)
{
    if (!dim_known(found) || dim_same(*old, found))
        return 0;
    if (dim_known(*old)) {
        if (f->bound && declared.sym == 0) /* the file has a number */
            return 0;
        /* *old is a number: it stays, except that in pure mode a name replaces it */
        if (!f->bound && old->sym == 0 && (!f->pure || found.sym == 0))
            return found.sym == 0 ? -1 : 0;
        /* a number replaces an expression of names; an expression replaces another one only if it has names of the
         * model's inputs alone and *old has other names, or in pure mode */
        bool input = !f->bound && old->sym != 0 && is_from_inputs(f, *old);
        f->hides = f->hides || (input && found.sym != 0);
        if (!f->bound && !f->pure && found.sym != 0 && (input || !is_from_inputs(f, found)))
            return 0;
    }
    *old = found;
    return 1;
}

/* Prints *s into buf[size], such as "[1,batch,?]"; text that does not fit is left out. */
static void print_shape(const struct infer *f, const struct shape *s, char *buf, size_t size)
{
    size_t at = 0;
    int n = snprintf(buf, size, "[");
    for (int i = 0; i < s->rank && n >= 0 && at + (size_t)n < size; i++) {
        at += (size_t)n;
        if (s->d[i].value >= 0)
            n = snprintf(buf + at, size - at, "%s%lld", i > 0 ? "," : "", (long long)s->d[i].value);
        else
            n = snprintf(buf + at, size - at, "%s%s", i > 0 ? "," : "",
                         s->d[i].sym != 0 ? module_str(f->m, s->d[i].sym) : "?");
    }
    at += n > 0 ? (size_t)n : 0;
    if (at + 1 < size)
        snprintf(buf + at, size - at, "]");
}

/* Counts a conflict: value v of node n has shape *file in the file, but *found is inferred.  Warns of the first
 * CONFLICTS_SHOWN conflicts.  Does nothing in a bound run, or where conflicts are not reported. */
static void report_conflict(struct infer *f, nid n, vid v, const struct shape *file,
                            const struct shape *found)
{
    char a[256], b[256];
    if (f->diag == NULL || f->bound || f->conflicts++ >= CONFLICTS_SHOWN)
        return;
    print_shape(f, file, a, sizeof a);
    print_shape(f, found, b, sizeof b);
    diag_warning(f->diag, WARN_SHAPE_CONFLICT,
                 "node '%s' (%s): value '%s' has shape %s in the file, but %s follows from "
                 "the operands; keeping the file's",
                 node_name(f->m, n), node_op(f->m, n), value_name(f->m, v), a, b);
}

/* Adds the tensor type with shape *s to the module and returns its index. */
static uint32_t add_type(struct infer *f, const struct shape *s)
{
    return module_add_tensor_type(f->m, s->elem, s->rank, s->d);
}

/* Returns dimension i of v as the file gives it; unknown if it does not. */
static struct dim declared_dim(const struct infer *f, vid v, uint32_t i)
{
    const struct type *t = &f->m->type[f->m->value[v].type];
    if (t->kind != TYPE_TENSOR || t->rank < 0 || i >= (uint32_t)t->rank)
        return dim_unknown();
    return f->m->dim[t->dim + i];
}

void shape_merge(struct infer *f, nid n, vid v, const struct shape *s)
{
    assert(s->rank >= -1 && s->rank <= SHAPE_RANK);
    struct shape r;
    if (v == 0 || (s->rank < 0 && s->elem == 0))
        return;
    if (f->m->type[f->type[v]].kind == TYPE_NONE) {
        f->type[v] = add_type(f, s);
        return;
    }
    if (!shape_of(f, v, &r) || f->m->type[f->type[v]].rank > SHAPE_RANK)
        return;
    bool changed = false, conflict = false;
    if (r.elem == 0 && s->elem != 0) {
        r.elem = s->elem;
        changed = true;
    }
    struct shape file = r;
    if (s->rank >= 0 && r.rank < 0) {
        r.rank = s->rank;
        memcpy(r.d, s->d, (size_t)s->rank * sizeof s->d[0]);
        changed = true;
    } else if (s->rank >= 0 && r.rank != s->rank) {
        conflict = true;
    } else if (s->rank >= 0) {
        for (int i = 0; i < r.rank; i++) {
            int c = merge_dim(f, &r.d[i], declared_dim(f, v, (uint32_t)i), s->d[i]);
            changed = changed || c > 0;
            conflict = conflict || c < 0;
        }
    }
    if (conflict)
        report_conflict(f, n, v, &file, s);
    if (changed)
        f->type[v] = add_type(f, &r);
}

void shape_set(struct infer *f, nid n, uint32_t i, const struct shape *s)
{
    shape_merge(f, n, node_out(f->m, n, i), s);
}

void shape_set_like(struct infer *f, nid n, uint32_t i, vid v, enum elem e)
{
    vid out = node_out(f->m, n, i);
    if (out == 0 || v == 0)
        return;
    const struct type *from = &f->m->type[f->type[v]], *to = &f->m->type[f->type[out]];
    bool same_elem = e == ELEM_NONE || e == from->elem;
    if (to->kind == TYPE_NONE && from->kind != TYPE_NONE && same_elem) {
        f->type[out] = f->type[v]; /* the result gets the same type, the most frequent case */
        return;
    }
    struct shape s;
    if (!shape_of(f, v, &s) && e == ELEM_NONE)
        return;
    s.elem = e != ELEM_NONE ? (uint8_t)e : s.elem;
    shape_merge(f, n, out, &s);
}

/* --- dimensions --- */

struct dim broadcast_dim(const struct infer *f, struct dim a, struct dim b)
{
    if (dim_same(a, b))
        return a;
    if (a.sym == 0 && a.value == 1)
        return b;
    if (b.sym == 0 && b.value == 1)
        return a;
    /* these numbers do not fit together; a bound run goes on with the larger one, as an estimate */
    if (a.value >= 0 && b.value >= 0)
        return f->bound ? (a.value > b.value ? a : b) : dim_unknown();
    if (a.value >= 0)
        return a;
    if (b.value >= 0)
        return b;
    /* a and Min(a, c) only fit together if the Min is a or 1 */
    if (dim_is_min_of(f->m, b, a))
        return a;
    if (dim_is_min_of(f->m, a, b))
        return b;
    /* in pure mode: of past + sequence and a single name such as total, the sum, which says more */
    bool sum = !dim_is_symbol(f->m, a), other = !dim_is_symbol(f->m, b);
    bool pick = f->pure && dim_known(a) && dim_known(b) && sum != other;
    return pick ? (sum ? a : b) : dim_unknown();
}

void shape_broadcast(const struct infer *f, struct shape *acc, const struct shape *s)
{
    assert(acc->rank <= SHAPE_RANK && s->rank <= SHAPE_RANK);
    if (acc->rank < 0 || s->rank < 0) {
        acc->rank = -1;
        return;
    }
    int rank = acc->rank > s->rank ? acc->rank : s->rank;
    for (int i = 0; i < rank; i++) { /* from the last dimension on */
        int at = rank - 1 - i, ia = acc->rank - 1 - i, is = s->rank - 1 - i;
        acc->d[at] = ia < 0   ? s->d[is]
                     : is < 0 ? acc->d[ia]
                              : broadcast_dim(f, acc->d[ia], s->d[is]);
    }
    acc->rank = rank;
}

struct dim dim_product(struct module *m, const struct dim *d, int from, int to)
{
    assert(from >= 0 && to <= SHAPE_RANK);
    struct dim p = dim_num(1);
    for (int i = from; i < to; i++)
        p = dim_mul(m, p, d[i]);
    return p;
}

struct dim dim_shift(struct module *m, struct dim d, int64_t c)
{
    if (c == INT64_MIN)
        return dim_unknown();
    return c < 0 ? dim_sub(m, d, dim_num(-c)) : dim_add(m, d, dim_num(c));
}

bool dim_nonneg(const struct module *m, struct dim d)
{
    if (d.sym == 0)
        return d.value >= 0;
    /* names are at least 1, so only an expression with a minus sign may be negative; of an expression with a remainder,
     * and of text in quotes, which is no expression, this is not known */
    const char *text = module_str(m, d.sym);
    return strpbrk(text, "-%'") == NULL;
}

/* --- attributes --- */

int axis_of(int64_t axis, int rank)
{
    if (rank < 1)
        return -1;
    if (axis < 0)
        axis += rank;
    return axis < 0 || axis >= rank ? -1 : (int)axis;
}

int attr_ints(const struct infer *f, nid n, const char *name, int64_t *out, int max)
{
    assert(max >= 0);
    const struct attr *a = node_attr(f->m, n, name);
    if (a == NULL)
        return -1;
    if (a->kind == ATTR_INT && max > 0) {
        out[0] = a->u.i;
        return 1;
    }
    if (a->kind != ATTR_INTS || a->u.list.n > (uint32_t)max)
        return -1;
    for (uint32_t i = 0; i < a->u.list.n; i++)
        out[i] = f->m->ints[a->u.list.at + i];
    return (int)a->u.list.n;
}
