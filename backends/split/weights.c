/* Decides where a split has its weights (enum weights_mode), writes weights.data, and makes the messages of tensors.
 *
 * shared: weights.data has each initializer of 1 KiB or more once, at a multiple of 4096; the files of the split refer
 * to it by offset and length.  Strings and smaller tensors stay inline, in the message of the tensor.  Among them are
 * integer tensors of up to 64 elements (at most 512 bytes), because runtimes refuse external data for operands that are
 * shapes.  Tensors inside nodes stay inline, too, unless the source has them in another file than the model.
 *
 * parts: beside each part lies a file with the weights that the part reads, in the same form (part_data.c).
 *
 * inline: each file of the split has its weights inside.  In the messages, bytes of another file are represented by an
 * address that must not be read (infile_addresses); the writer (pack.h) then copies them from file to file.
 *
 * original: tensors that lie in a file of the source, and slices of these tensors whose bytes lie in a row, stay in
 * that file, and the split refers to it; weights.data has the rest.  A raw_data field in the model's own file
 * counts as such a tensor. But if that file would have to be copied for the split, and weights.data has some of its
 * slices anyway, then weights.data has everything that the split needs of the file.  Beside the source, the split
 * may also refer to a missing file; then to all tensors in it, whatever their size.
 *
 * link: like original, but the files get hard links (sources.c).  For tensors in bodies runtimes refuse a file with
 * several links; so a file with such tensors is not linked, and weights.data has its tensors.
 *
 * Bytes are copied from descriptor to descriptor, not through memory: writing gigabytes takes little memory.
 * O(tensors log tensors) + the copying. */
#include "backends/onnx/make.h"
#include "backends/onnx/pack.h"
#include "backends/split/split.h"
#include "ir/base/infile.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MIN_BYTES = 1024,    /* smaller tensors stay inline */
    ALIGN = 4096,        /* offsets in weights.data are multiples of it */
    MOST_HELD = 64 << 20 /* most bytes of a tensor that are read into memory for its message */
};

/* For qsort() and bsearch(): orders origins by the address of their message. */
static int compare_origins(const void *x, const void *y)
{
    uintptr_t a = (uintptr_t)((const struct origin *)x)->src;
    uintptr_t b = (uintptr_t)((const struct origin *)y)->src;
    return (a > b) - (a < b);
}

void origins_sort(struct origin *list, uint32_t n)
{
    qsort(list, n, sizeof *list, compare_origins);
}

uint32_t origin_id(const struct origin *list, uint32_t n, const void *src)
{
    struct origin want = {.src = src};
    const struct origin *o = bsearch(&want, list, n, sizeof want, compare_origins);
    return o ? o->id : 0;
}

uint32_t weights_index(const struct split *s, const void *src)
{
    return origin_id(s->weights.origin, s->weights.norigin, src);
}

/* Whether the message of a tensor refers to another file (external data). */
static bool is_external(const Onnx__TensorProto *t)
{
    return t && t->has_data_location &&
           t->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
}

/* Reports that the bytes of tensor `name` lie in another file, in a form that the split cannot refer to.  Sets
 * s->failed; returns -1. */
static int refuse_external(struct split *s, const char *name)
{
    s->failed = true;
    return diag_error(s->diag,
                      "%s: tensor '%s' lies in another file in a form that cannot be carried along",
                      module_str(s->m, s->m->path), name ? name : "");
}

/* Returns the tensor of entry h of s->weights.list. */
static const struct tensor *listed_tensor(const struct split *s, uint32_t h)
{
    assert(h < s->weights.nlist);
    return &s->weights.list[h].m->tensor[s->weights.list[h].t];
}

/* Appends the tensors of m to s->weights.list, and their messages to s->weights.origin. */
static void list_tensors(struct split *s, const struct module *m)
{
    for (tid t = 1; t < m->ntensor; t++) {
        s->weights.list[s->weights.nlist] = (struct module_tensor){m, t};
        if (m->tensor[t].src)
            s->weights.origin[s->weights.norigin++] =
                (struct origin){m->tensor[t].src, s->weights.nlist};
        s->weights.nlist++;
    }
}

/* Fills s->weights.list and s->weights.origin with the tensors of the model, of its functions and of m->aside, and
 * makes s->weights.at. */
static void list_all_tensors(struct split *s)
{
    const struct module *m = s->m;
    size_t n = m->ntensor + (m->aside ? m->aside->ntensor : 0);
    for (uint32_t f = 1; f < m->nfunction; f++)
        n += m->function[f].body->ntensor;
    s->weights.list = arena_array(s->a, n, sizeof *s->weights.list);
    s->weights.origin = arena_array(s->a, n, sizeof *s->weights.origin);
    s->weights.at = arena_array(s->a, n, sizeof *s->weights.at);
    s->weights.nlist = s->weights.norigin = 0;
    s->weights.list[s->weights.nlist++] = (struct module_tensor){m, 0};
    list_tensors(s, m);
    for (uint32_t f = 1; f < m->nfunction; f++)
        list_tensors(s, m->function[f].body);
    if (m->aside)
        list_tensors(s, m->aside);
    origins_sort(s->weights.origin, s->weights.norigin);
}

/* ---- the decision --------------------------------------------------------------------------- */

/* Returns the tensor of which entry h of s->weights.list is a slice, or a slice of a slice; the entry's own tensor if
 * it is no slice. */
static const struct tensor *base_tensor(const struct split *s, uint32_t h)
{
    const struct tensor *x = listed_tensor(s, h);
    while (x->where == TENSOR_SLICE)
        x = &s->weights.list[h].m->tensor[x->of[0]];
    return x;
}

/* Whether the bytes of entry h of s->weights.list lie in a file that is missing or was not opened. */
static bool is_missing(const struct split *s, uint32_t h)
{
    const struct tensor *x = base_tensor(s, h);
    return x->where == TENSOR_FILE && s->m->file[x->file].fd < 0;
}

/* Checks, before gigabytes are copied, that no weight whose bytes will be copied lies in a missing file.  A missing
 * file is no error if the split only refers to it, or if all its tensors are without a message and so in no file of
 * the split.  Returns 0, or -1 and an error. */
static int check_files(struct split *s)
{
    const struct module *m = s->m;
    for (uint32_t h = 1; h < s->weights.nlist; h++) {
        const struct tensor *x = listed_tensor(s, h);
        if (!is_missing(s, h) || !x->len || !x->src ||
            (s->sources.beside && s->weights.at[weights_index(s, x->src)] == WEIGHT_SOURCE))
            continue;
        const struct tensor *base = base_tensor(s, h);
        const struct file *f = &m->file[base->file];
        if (f->barred)
            return diag_error(s->diag, "%s: weight '%s' needs the file '%s', which %s",
                              module_str(m, m->path), module_str(m, base->name),
                              module_str(m, f->path), f->barred);
        return diag_error(
            s->diag,
            "%s: weight '%s' needs the file '%s', which is not there: put it there, or "
            "write parts that refer to it: --weights=original and -o the model's own "
            "folder",
            module_str(m, m->path), module_str(m, base->name), module_str(m, f->path));
    }
    return 0;
}

/* Reserves addresses that stand for the bytes of module file k (infile_addresses).  Returns 0, or -1 and an error. */
static int reserve_addresses(struct split *s, uint32_t k)
{
    const struct file *f = &s->m->file[k];
    const uint8_t *at = infile_addresses(f->size, s->a);
    if (!at)
        return diag_error(s->diag, "%s: there are no addresses for it: %s",
                          module_str(s->m, f->path), strerror(errno));
    s->weights.mapped_at[k] = at;
    s->weights.map[s->weights.nmap++] = (struct mapping){at, f->size, f->fd};
    return 0;
}

/* Fills s->weights.map and mapped_at.  A file to whose bytes the source's messages point has addresses already; with
 * WEIGHTS_INLINE, each other file with a tensor of PACK_COPY bytes or more gets addresses.  Returns 0, or -1 and an
 * error. */
static int find_addresses(struct split *s)
{
    const struct module *m = s->m;
    s->weights.map = arena_array(s->a, m->nfile, sizeof *s->weights.map);
    s->weights.mapped_at = arena_array(s->a, m->nfile, sizeof *s->weights.mapped_at);
    s->weights.nmap = 0;
    for (uint32_t k = 1; k < m->nfile; k++) {
        s->weights.mapped_at[k] = m->file[k].map;
        if (m->file[k].map)
            s->weights.map[s->weights.nmap++] =
                (struct mapping){m->file[k].map, m->file[k].size, m->file[k].fd};
    }
    for (uint32_t h = 1; h < s->weights.nlist && s->weights.mode == WEIGHTS_INLINE; h++) {
        const struct tensor *x = listed_tensor(s, h);
        if (x->where == TENSOR_FILE && x->len >= PACK_COPY && !s->weights.mapped_at[x->file] &&
            reserve_addresses(s, x->file))
            return -1;
    }
    mappings_sort(s->weights.map, s->weights.nmap);
    return 0;
}

/* Returns an array, in s->a: [index in s->weights.list] 1: the tensor is an initializer of the main graph, or the
 * values or indices of a sparse initializer there, in another file than the model. */
static uint8_t *main_initializers(struct split *s)
{
    const Onnx__GraphProto *g = s->src->graph;
    uint8_t *in_main = arena_alloc(s->a, s->weights.nlist);
    for (size_t i = 0; i < g->n_initializer; i++)
        in_main[weights_index(s, g->initializer[i])] = 1;
    for (size_t i = 0; i < g->n_sparse_initializer; i++) {
        in_main[weights_index(s, g->sparse_initializer[i]->values)] =
            is_external(g->sparse_initializer[i]->values);
        in_main[weights_index(s, g->sparse_initializer[i]->indices)] =
            is_external(g->sparse_initializer[i]->indices);
    }
    return in_main;
}

/* Returns an array, in s->a: [tensor of s->m] 1: an attribute or an initializer of any graph is this tensor; 0: only
 * slices of it are left, or a pass has dropped it.  O(module). */
static uint8_t *referred_tensors(const struct split *s)
{
    const struct module *m = s->m;
    uint8_t *is = arena_alloc(s->a, m->ntensor);
    for (gid g = 1; g < m->ngraph; g++)
        for (uint32_t i = 0; i < m->graph[g].init.n; i++)
            is[m->value[m->arg[m->graph[g].init.at + i]].tensor] = 1;
    for (uint32_t i = 0; i < m->nattr; i++) {
        const struct attr *a = &m->attr[i];
        if (a->kind == ATTR_TENSOR || a->kind == ATTR_SPARSE)
            is[a->u.t] = 1;
        for (uint32_t k = 0;
             (a->kind == ATTR_TENSORS || a->kind == ATTR_SPARSES) && k < a->u.list.n; k++)
            is[m->refs[a->u.list.at + k]] = 1;
    }
    /* the values and indices of a sparse tensor have smaller numbers than it */
    for (tid t = m->ntensor; t-- > 1;)
        for (uint32_t k = 0; k < 2 && is[t] && m->tensor[t].where == TENSOR_SPARSE; k++)
            is[m->tensor[t].of[k]] = 1;
    return is;
}

/* Whether entry h of s->weights.list is a tensor in a node or function that the source has in another file than the
 * model.  in_main, referred: as main_initializers() and referred_tensors() return them. */
static bool is_nested(const struct split *s, const uint8_t *in_main, const uint8_t *referred,
                      uint32_t h)
{
    const struct tensor *x = listed_tensor(s, h);
    bool unused = s->weights.list[h].m == s->m && !referred[s->weights.list[h].t];
    return x->where == TENSOR_FILE && s->m->file[x->file].location && !in_main[h] && !unused;
}

/* Whether the bytes of entry h of s->weights.list lie in a row in a file: h is a tensor in the file, or a slice of such
 * a tensor along the first of its axes with several positions.  Then writes the file's index to *file and the offset of
 * the bytes to *off; else the content of both does not count. */
static bool place_in_file(const struct split *s, uint32_t h, uint32_t *file, uint64_t *off)
{
    const struct module *m = s->weights.list[h].m;
    const struct tensor *x = listed_tensor(s, h), *base = x;
    *off = 0;
    if (x->where == TENSOR_SLICE) {
        base = &m->tensor[x->of[0]];
        int64_t size = m->ints[base->dim + x->axis];
        bool row = x->range.n == 2 && size > 0 && base->len % (uint64_t)size == 0 && !base->typed;
        /* a slice is one row of bytes only if each axis before the cut axis has a single position */
        for (uint32_t i = 0; i < x->axis; i++)
            row = row && m->ints[base->dim + i] == 1;
        if (!row)
            return false;
        *off = base->len / (uint64_t)size * (uint64_t)m->ints[x->range.at];
    }
    *file = base->file;
    *off += base->off;
    return base->where == TENSOR_FILE;
}

/* Whether entry h of s->weights.list is a slice whose bytes do not lie in a row in a file, so that weights.data has
 * it.  Then writes the index of the file that has the bytes to *file. */
static bool is_scattered(const struct split *s, uint32_t h, uint32_t *file)
{
    const struct tensor *x = listed_tensor(s, h), *base = base_tensor(s, h);
    uint64_t off;
    if (x->where != TENSOR_SLICE || x->len < MIN_BYTES || place_in_file(s, h, file, &off))
        return false;
    *file = base->file;
    return base->where == TENSOR_FILE;
}

/* Returns an array, in s->a: [module.file] 0: the split may not refer to the file; else it may.  With WEIGHTS_ORIGINAL
 * it may refer to all files, except those that would have to be copied for it and of which weights.data has scattered
 * slices anyway; with WEIGHTS_LINK to files without tensors in nodes and functions; with other modes to none.  in_main,
 * referred: as for is_nested(). */
static uint8_t *referable_files(struct split *s, const uint8_t *in_main, const uint8_t *referred)
{
    uint8_t *may = arena_alloc(s->a, s->m->nfile);
    const bool link = s->weights.mode == WEIGHTS_LINK,
               apart = s->weights.mode == WEIGHTS_ORIGINAL && !s->sources.beside;
    uint32_t file;
    memset(may, s->weights.mode == WEIGHTS_ORIGINAL || link, s->m->nfile);
    for (uint32_t h = 1; h < s->weights.nlist; h++) {
        if (link && is_nested(s, in_main, referred, h))
            may[listed_tensor(s, h)->file] = 0;
        if (apart && in_main[h] && is_scattered(s, h, &file) && may[file] == 1)
            may[file] = sources_can_clone(s, file) ? 2 : 0; /* 2: need not be asked again */
    }
    return may;
}

int weights_plan(struct split *s)
{
    const struct module *m = s->m;
    uint64_t size = 0, off;
    uint32_t file;
    list_all_tensors(s);
    s->sources.used = arena_alloc(s->a, m->nfile);
    const uint8_t *in_main = main_initializers(s), *referred = referred_tensors(s),
                  *may = referable_files(s, in_main, referred);
    for (uint32_t t = 0; t < s->weights.nlist; t++) {
        const struct tensor *x = listed_tensor(s, t);
        bool nested = is_nested(s, in_main, referred, t);
        bool missing = s->sources.beside && is_missing(s, t);
        s->weights.at[t] = WEIGHT_INLINE;
        s->weights.nested |= nested;
        /* these tensors stay inline: tensors in nodes that the model's own file has; small tensors (but not if
         * their file is missing); tensors without a message of their own; with WEIGHTS_INLINE all tensors; strings
         * and other tensors without bytes */
        if ((!in_main[t] && !nested) || (x->len < MIN_BYTES && !missing) ||
            weights_index(s, x->src) != t || s->weights.mode == WEIGHTS_INLINE ||
            !tensor_has_bytes(x))
            continue;
        if (place_in_file(s, t, &file, &off) && may[file]) {
            s->weights.at[t] = WEIGHT_SOURCE;
            s->sources.used[file] = 1;
            continue;
        }
        s->weights.at[t] = WEIGHT_OPEN;
        if (s->weights.mode == WEIGHTS_PARTS)
            continue;
        s->weights.at[t] = weights_align(size);
        size = s->weights.at[t] + x->len;
        s->weights.data = true;
    }
    s->weights.size = size;
    return check_files(s) || find_addresses(s) ? -1 : 0;
}

/* ---- the file ------------------------------------------------------------------------------- */

uint64_t weights_bytes(const struct split *s, uint32_t t)
{
    return listed_tensor(s, t)->len;
}

uint64_t weights_align(uint64_t offset)
{
    return (offset + ALIGN - 1) / ALIGN * ALIGN;
}

int weights_create(const struct split *s, const char *name)
{
    int fd = openat(s->dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    return fd < 0 ? diag_error(s->diag, "%s: cannot be made: %s", name, strerror(errno)) : fd;
}

int weights_copy(struct split *s, uint32_t t, uint64_t at, int out, const char *name)
{
    assert(t < s->weights.nlist && at % ALIGN == 0);
    const struct module_tensor *h = &s->weights.list[t];
    if (lseek(out, (off_t)at, SEEK_SET) < 0)
        return diag_error(s->diag, "%s: %s", name, strerror(errno));
    return tensor_copy(h->m, h->t, out, name, s->diag);
}

int weights_write(struct split *s)
{
    int out = -1, rc = 0;
    uint64_t size = s->weights.size;
    if (s->weights.mode == WEIGHTS_PARTS)
        return split_check_room(s, part_data_bytes(s), "the weights of the parts");
    if (split_check_room(s, size, WEIGHTS_FILE))
        return -1;
    for (uint32_t t = 1; t < s->weights.nlist && !rc; t++) {
        if (s->weights.at[t] == WEIGHT_INLINE || s->weights.at[t] == WEIGHT_SOURCE)
            continue;
        if (out < 0 && (out = weights_create(s, WEIGHTS_FILE)) < 0)
            return -1;
        diag_tell(s->diag, "writing weights", s->weights.at[t], size);
        rc = weights_copy(s, t, s->weights.at[t], out, WEIGHTS_FILE);
    }
    if (out >= 0 && close(out) && !rc)
        rc = diag_error(s->diag, WEIGHTS_FILE ": %s", strerror(errno));
    return rc;
}

/* ---- the messages --------------------------------------------------------------------------- */

/* Returns a copy of the message of a tensor without its elements. */
static Onnx__TensorProto *copy_emptied(struct split *s, const Onnx__TensorProto *src)
{
    Onnx__TensorProto *p = arena_copy(s->a, src, sizeof *p);
    p->n_float_data = p->n_int32_data = p->n_int64_data = p->n_double_data = p->n_uint64_data = 0;
    p->has_raw_data = p->has_data_location = 0;
    p->n_external_data = 0;
    p->external_data = NULL;
    return p;
}

/* Returns a copy of src, the message of tensor t of s->weights.list, that refers to the bytes in a file of the split's
 * folder instead of containing them. */
static Onnx__TensorProto *make_reference(struct split *s, const Onnx__TensorProto *src, uint32_t t)
{
    assert(s->weights.at[t] != WEIGHT_INLINE);
    const struct tensor *x = listed_tensor(s, t);
    bool own = s->weights.at[t] != WEIGHT_SOURCE; /* in a file that pcc writes */
    uint64_t off = s->weights.at[t];
    uint32_t from = 0;
    bool found = own || place_in_file(s, t, &from, &off);
    assert(found);
    (void)found;
    const char *file = own ? WEIGHTS_FILE : s->sources.source[from];
    Onnx__StringStringEntryProto *offset =
        make_entry(s->a, "offset", arena_fmt(s->a, "%" PRIu64, off));
    if (own && s->weights.mode == WEIGHTS_PARTS)
        file = part_data_refer(s, t, offset);
    assert(file);
    Onnx__TensorProto *p = copy_emptied(s, src);
    p->external_data = arena_array(s->a, 3, sizeof *p->external_data);
    p->external_data[p->n_external_data++] =
        make_entry(s->a, "location", arena_strdup(s->a, file, strlen(file)));
    p->external_data[p->n_external_data++] = offset;
    p->external_data[p->n_external_data++] =
        make_entry(s->a, "length", arena_fmt(s->a, "%" PRIu64, x->len));
    p->has_data_location = 1;
    p->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
    return p;
}

/* Returns the bytes of tensor t of s->weights.list for a message; NULL: an error was reported and s->failed is set.
 * For a tensor of PACK_COPY bytes or more in a file, returns the address that stands for its bytes (infile_addresses),
 * which must not be read. */
static uint8_t *payload_of(struct split *s, uint32_t t)
{
    const struct tensor *x = listed_tensor(s, t);
    assert(tensor_has_bytes(x));
    if (x->where == TENSOR_FILE && x->len >= PACK_COPY && s->weights.mapped_at[x->file])
        return (uint8_t *)(uintptr_t)(s->weights.mapped_at[x->file] + x->off);
    if (x->len > MOST_HELD && !s->failed) {
        diag_error(s->diag,
                   "%s: weight '%s' is a slice of %" PRIu64 " bytes, which --weights=inline would "
                   "hold in memory: use --weights=shared",
                   module_str(s->m, s->m->path), module_str(s->m, x->name), x->len);
        s->failed = true;
    }
    if (s->failed)
        return NULL;
    /* a tensor in a file is shorter than PACK_COPY here: longer ones have addresses */
    uint8_t *p = arena_alloc(s->a, (size_t)x->len + 1);
    if (x->len && tensor_read(s->weights.list[t].m, s->weights.list[t].t, 0, p, x->len))
        s->failed = true;
    return s->failed ? NULL : p;
}

Onnx__TensorProto *weights_tensor(struct split *s, const Onnx__TensorProto *src)
{
    uint32_t t = s->weights.keep ? 0 : weights_index(s, src);
    if (t && s->weights.at[t] != WEIGHT_INLINE)
        return make_reference(s, src, t);
    if (s->weights.keep || !is_external(src))
        return (Onnx__TensorProto *)src;
    if (!t || !tensor_has_bytes(listed_tensor(s, t))) {
        refuse_external(s, src->name);
        return (Onnx__TensorProto *)src;
    }
    Onnx__TensorProto *p = copy_emptied(s, src);
    p->has_raw_data = 1;
    p->raw_data.len = (size_t)listed_tensor(s, t)->len;
    p->raw_data.data = payload_of(s, t);
    return p;
}

Onnx__SparseTensorProto *weights_sparse(struct split *s, Onnx__SparseTensorProto *src)
{
    Onnx__TensorProto *values = src->values ? weights_tensor(s, src->values) : NULL;
    Onnx__TensorProto *indices = src->indices ? weights_tensor(s, src->indices) : NULL;
    if (values == src->values && indices == src->indices)
        return src;
    Onnx__SparseTensorProto *p = arena_copy(s->a, src, sizeof *p);
    p->values = values;
    p->indices = indices;
    return p;
}
