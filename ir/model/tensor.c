/* Element types, sizes of types and tensors, and reading payloads (module.h).
 *
 * Sizes are counted in bits, so packed types of 4 and 2 bits need no special cases.  Payloads are read on demand,
 * from memory or with pread(), and never mapped: most bytes of a model stay on disk.  O(bytes read). */
#include "ir/model/module.h"

#include "ir/base/units.h"
#include "ir/model/slice.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Whether a type is an integer.  UNSIGNED is for bool, too. */
enum integer { NO_INTEGER, UNSIGNED, SIGNED };

/* An element type. */
struct elem_info {
    const char *name;
    uint8_t bits;    /* bits of an element; 0: no fixed size */
    uint8_t integer; /* enum integer */
};

static const struct elem_info info[ELEM_COUNT] = {
    [ELEM_NONE] = {"none", 0, NO_INTEGER},
    [ELEM_F32] = {"f32", 32, NO_INTEGER},
    [ELEM_U8] = {"u8", 8, UNSIGNED},
    [ELEM_I8] = {"i8", 8, SIGNED},
    [ELEM_U16] = {"u16", 16, UNSIGNED},
    [ELEM_I16] = {"i16", 16, SIGNED},
    [ELEM_I32] = {"i32", 32, SIGNED},
    [ELEM_I64] = {"i64", 64, SIGNED},
    [ELEM_STR] = {"str", 0, NO_INTEGER},
    [ELEM_BOOL] = {"bool", 8, UNSIGNED},
    [ELEM_F16] = {"f16", 16, NO_INTEGER},
    [ELEM_F64] = {"f64", 64, NO_INTEGER},
    [ELEM_U32] = {"u32", 32, UNSIGNED},
    [ELEM_U64] = {"u64", 64, UNSIGNED},
    [ELEM_C64] = {"c64", 64, NO_INTEGER},
    [ELEM_C128] = {"c128", 128, NO_INTEGER},
    [ELEM_BF16] = {"bf16", 16, NO_INTEGER},
    [ELEM_F8E4M3FN] = {"f8e4m3fn", 8, NO_INTEGER},
    [ELEM_F8E4M3FNUZ] = {"f8e4m3fnuz", 8, NO_INTEGER},
    [ELEM_F8E5M2] = {"f8e5m2", 8, NO_INTEGER},
    [ELEM_F8E5M2FNUZ] = {"f8e5m2fnuz", 8, NO_INTEGER},
    [ELEM_U4] = {"u4", 4, UNSIGNED},
    [ELEM_I4] = {"i4", 4, SIGNED},
    [ELEM_F4E2M1] = {"f4e2m1", 4, NO_INTEGER},
    [ELEM_F8E8M0] = {"f8e8m0", 8, NO_INTEGER},
    [ELEM_U2] = {"u2", 2, UNSIGNED},
    [ELEM_I2] = {"i2", 2, SIGNED},
};

const char *elem_name(enum elem e)
{
    return (unsigned)e < ELEM_COUNT ? info[e].name : "none";
}

enum elem elem_of_name(const char *s, size_t n)
{
    for (unsigned e = ELEM_NONE + 1; e < ELEM_COUNT; e++)
        if (strlen(info[e].name) == n && memcmp(info[e].name, s, n) == 0)
            return (enum elem)e;
    return ELEM_NONE;
}

uint32_t elem_bits(enum elem e)
{
    return (unsigned)e < ELEM_COUNT ? info[e].bits : 0;
}

bool elem_is_integer(enum elem e)
{
    return (unsigned)e < ELEM_COUNT && info[e].integer != NO_INTEGER;
}

bool elem_is_float(enum elem e)
{
    return e != ELEM_NONE && e != ELEM_STR && !elem_is_integer(e);
}

int64_t elem_bytes(enum elem e, int64_t n)
{
    return mul_div_ceil(n, (int64_t)elem_bits(e), 8);
}

bool type_is_declarable(const struct module *m, uint32_t type)
{
    for (;; type = m->type[type].inner) {
        const struct type *t = &m->type[type];
        if (t->kind == TYPE_TENSOR || t->kind == TYPE_SPARSE)
            return t->elem != ELEM_NONE;
        if (t->kind == TYPE_NONE || t->kind == TYPE_OPAQUE ||
            (t->kind == TYPE_MAP && t->elem == ELEM_NONE))
            return false;
    }
}

/* A product of sizes that is being computed.  After an overflow a later size of 0 still makes the product 0. */
struct product {
    int64_t n;
    bool large; /* the product has overflowed */
};

/* Multiplies the product by the size v. */
static void multiply(struct product *p, int64_t v)
{
    if (v == 0) {
        p->n = 0;
    } else if (__builtin_mul_overflow(p->n, v, &p->n)) {
        p->large = true;
        p->n = 1;
    }
}

/* Returns the product; -1: the product exceeds INT64_MAX. */
static int64_t product_of(const struct product *p)
{
    return p->n != 0 && p->large ? -1 : p->n;
}

int64_t type_elems(const struct module *m, uint32_t type)
{
    struct product p = {1, false};

    if (type == 0 || type >= m->ntype)
        return -1;
    const struct type *t = &m->type[type];
    if (t->kind != TYPE_TENSOR || t->rank < 0)
        return -1;
    for (uint32_t i = 0; i < (uint32_t)t->rank; i++) {
        int64_t v = m->dim[t->dim + i].value;
        if (v < 0)
            return -1;
        multiply(&p, v);
    }
    return product_of(&p);
}

bool types_same(const struct module *m, uint32_t a, uint32_t b)
{
    for (;; a = m->type[a].inner, b = m->type[b].inner) {
        const struct type *x = &m->type[a], *y = &m->type[b];
        bool shaped = x->kind == TYPE_TENSOR || x->kind == TYPE_SPARSE;
        if (a == b)
            return true;
        if (x->kind != y->kind || x->elem != y->elem || (shaped && x->rank != y->rank))
            return false;
        for (int i = 0; shaped && i < x->rank; i++) {
            struct dim p = m->dim[x->dim + (uint32_t)i], q = m->dim[y->dim + (uint32_t)i];
            if (p.value != q.value || p.sym != q.sym)
                return false;
        }
        if (x->kind != TYPE_SEQ && x->kind != TYPE_OPT && x->kind != TYPE_MAP)
            return true;
    }
}

int64_t shape_elems(const int64_t *dim, uint32_t rank)
{
    struct product p = {1, false};

    for (uint32_t i = 0; i < rank; i++) {
        if (dim[i] < 0)
            return -1;
        multiply(&p, dim[i]);
    }
    return product_of(&p);
}

int64_t dims_elems(const struct module *m, uint32_t dim, uint32_t rank)
{
    return rank == 0 ? 1 : shape_elems(m->ints + dim, rank);
}

int64_t tensor_elems(const struct module *m, tid t)
{
    return t == 0 || t >= m->ntensor ? -1 : dims_elems(m, m->tensor[t].dim, m->tensor[t].rank);
}

/* Copies n bytes of the payload of t, a tensor in a file, from its byte off on, into buf.  Returns 0, or -1 with an
 * error reported. */
static int read_file(const struct module *m, const struct tensor *t, uint64_t off, void *buf,
                     size_t n)
{
    const char *name = module_str(m, t->name);

    if (t->file == 0 || t->file >= m->nfile)
        return diag_error(m->diag, "%s: tensor '%s' names no file", module_str(m, m->path), name);
    const struct file *f = &m->file[t->file];
    if (f->fd < 0) {
        return diag_error(m->diag, "%s: tensor '%s' needs the file '%s', which %s",
                          module_str(m, m->path), name, module_str(m, f->path),
                          f->barred ? f->barred : "is not there");
    }
    unsigned char *p = buf;
    while (n > 0) {
        uint64_t at = t->off + off;
        if (at > (uint64_t)INT64_MAX) {
            return diag_error(m->diag, "%s: tensor '%s' starts past the end of '%s'",
                              module_str(m, m->path), name, module_str(m, f->path));
        }
        ssize_t got = pread(f->fd, p, n, (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            return diag_error(m->diag, "%s: cannot read tensor '%s' at byte %llu: %s",
                              module_str(m, f->path), name, (unsigned long long)at,
                              got < 0 ? strerror(errno) : "the file ends before");
        }
        p += got;
        off += (uint64_t)got;
        n -= (size_t)got;
    }
    return 0;
}

int tensor_read(const struct module *m, tid t, uint64_t off, void *buf, size_t n)
{
    if (t == 0 || t >= m->ntensor)
        return diag_error(m->diag, "%s: there is no tensor %u", module_str(m, m->path), t);
    const struct tensor *x = &m->tensor[t];
    if (!tensor_has_bytes(x)) {
        return diag_error(m->diag, "%s: tensor '%s' has no bytes to read (strings or sparse)",
                          module_str(m, m->path), module_str(m, x->name));
    }
    if (off > x->len || n > x->len - off) {
        return diag_error(m->diag, "%s: tensor '%s' has %llu bytes, %llu at %llu were wanted",
                          module_str(m, m->path), module_str(m, x->name),
                          (unsigned long long)x->len, (unsigned long long)n,
                          (unsigned long long)off);
    }
    if (n == 0)
        return 0;
    if (x->where == TENSOR_FILE)
        return read_file(m, x, off, buf, n);
    if (x->where == TENSOR_SLICE)
        return slice_read(m, t, off, buf, n);
    if (x->data == NULL) {
        return diag_error(m->diag, "%s: the bytes of tensor '%s' are not here",
                          module_str(m, m->path), module_str(m, x->name));
    }
    memcpy(buf, (const unsigned char *)x->data + off, n);
    return 0;
}

/* Returns the element of `bits` bits that begins at bit `shift` of the little-endian bytes p. */
static uint64_t read_element(const unsigned char *p, uint32_t bits, uint32_t shift)
{
    assert(bits > 0 && bits <= 64 && shift < 8);
    uint64_t v = 0;

    for (uint32_t i = 0; i < (bits + 7) / 8; i++)
        v |= (uint64_t)p[i] << (8 * i);
    v >>= shift;
    return bits == 64 ? v : v & ((UINT64_C(1) << bits) - 1);
}

int tensor_ints(const struct module *m, tid t, int64_t *out, uint32_t max)
{
    unsigned char buf[1024];
    const int64_t n = tensor_elems(m, t);

    if (n < 0 || n > (int64_t)max || n > INT32_MAX ||
        !elem_is_integer((enum elem)m->tensor[t].elem))
        return -1;
    const struct tensor *x = &m->tensor[t];
    const uint32_t bits = info[x->elem].bits;
    const bool is_signed = info[x->elem].integer == SIGNED;
    const int64_t per = (int64_t)sizeof buf * 8 / bits; /* elements in a block of whole bytes */
    if (!tensor_has_bytes(x))
        return -1;
    for (int64_t at = 0; at < n; at += per) {
        int64_t k = smaller(n - at, per);
        uint64_t off = (uint64_t)at * bits / 8;
        if (tensor_read(m, t, off, buf, ((size_t)k * bits + 7) / 8) != 0)
            return -1;
        for (int64_t i = 0; i < k; i++) {
            uint64_t bit = (uint64_t)i * bits;
            uint64_t v = read_element(buf + bit / 8, bits, (uint32_t)(bit % 8));
            if (is_signed && bits < 64 && (v >> (bits - 1)) != 0)
                v |= ~UINT64_C(0) << bits;
            if (!is_signed && v > (uint64_t)INT64_MAX)
                return -1;
            /* the number whose two's complement is v, without converting a number above INT64_MAX */
            out[at + i] = v > (uint64_t)INT64_MAX ? -(int64_t)~v - 1 : (int64_t)v;
        }
    }
    return (int)n;
}
