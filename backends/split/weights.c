/* Where weights lie.
 *
 * shared: weights.data holds every tensor of 1 KiB or more that is an initializer, once, at a multiple
 * of 4096; the files of the folder refer to it by offset and length. Strings and smaller tensors stay
 * inline (so do integer tensors of up to 64 elements, which have at most 512 bytes: runtimes refuse
 * shape inputs as external data).  Tensors inside nodes stay where they are, unless the source itself
 * keeps them in a file that is not in the new folder.
 *
 * inline: every file of the folder holds its weights; what the messages say of bytes of other
 * files is an address that stands for them (infile_addresses), which the writer turns into a copy from file to file.
 *
 * original: like shared, but what lies in a file of the source (the model itself included: raw_data is
 * nothing but bytes at an offset) is referred to there; weights.data holds the rest.  Beside the source a
 * file that is not there is referred to for whatever lies in it.
 *
 * link: like original, but the files are hard links (sources.c).  Runtimes refuse a file of several
 * names for tensors in bodies: one that has such tensors is not linked, weights.data holds them.
 *
 * Bytes go from descriptor to descriptor, never through memory, so that writing gigabytes makes
 * nothing resident.  O(tensors log tensors) + the copying. */
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

enum { MIN_BYTES = 1024, ALIGN = 4096, MOST_HELD = 64 << 20 };

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

/* Its number among s->weights.held, 0: none. */
static uint32_t held_of(const struct split *s, const void *src)
{
    return origin_id(s->weights.tensor, s->weights.ntensor, src);
}

static bool is_external(const Onnx__TensorProto *t)
{
    return t && t->has_data_location &&
           t->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
}

static int refuse(struct split *s, const char *name)
{
    s->failed = true;
    return diag_error(s->diag,
                      "%s: tensor '%s' lies in another file in a form that cannot be carried along",
                      module_str(s->m, s->m->path), name ? name : "");
}

static const struct tensor *held_tensor(const struct split *s, uint32_t h)
{
    assert(h < s->weights.nheld);
    return &s->weights.held[h].m->tensor[s->weights.held[h].t];
}

static void hold_tensors(struct split *s, const struct module *m)
{
    for (tid t = 1; t < m->ntensor; t++) {
        s->weights.held[s->weights.nheld] = (struct held){m, t};
        if (m->tensor[t].src)
            s->weights.tensor[s->weights.ntensor++] =
                (struct origin){m->tensor[t].src, s->weights.nheld};
        s->weights.nheld++;
    }
}

static void hold_all(struct split *s)
{
    const struct module *m = s->m;
    size_t n = m->ntensor + (m->aside ? m->aside->ntensor : 0);
    for (uint32_t f = 1; f < m->nfunction; f++)
        n += m->function[f].body->ntensor;
    s->weights.held = arena_array(s->a, n, sizeof *s->weights.held);
    s->weights.tensor = arena_array(s->a, n, sizeof *s->weights.tensor);
    s->weights.at = arena_array(s->a, n, sizeof *s->weights.at);
    s->weights.nheld = s->weights.ntensor = 0;
    s->weights.held[s->weights.nheld++] = (struct held){m, 0};
    hold_tensors(s, m);
    for (uint32_t f = 1; f < m->nfunction; f++)
        hold_tensors(s, m->function[f].body);
    if (m->aside)
        hold_tensors(s, m->aside);
    origins_sort(s->weights.tensor, s->weights.ntensor);
}

/* ---- the decision --------------------------------------------------------------------------- */

/* Whether it lies in a file that is not there. */
static bool is_missing(const struct split *s, uint32_t h)
{
    const struct tensor *x = held_tensor(s, h);
    while (x->where == TENSOR_SLICE)
        x = &s->weights.held[h].m->tensor[x->of[0]];
    return x->where == TENSOR_FILE && s->m->file[x->file].fd < 0;
}

/* Before gigabytes are copied: are all files there whose bytes are wanted? */
static int check_files(struct split *s)
{
    const struct module *m = s->m;
    for (uint32_t h = 1; h < s->weights.nheld; h++) {
        const struct tensor *x = held_tensor(s, h);
        if (!is_missing(s, h) || !x->len || !x->src ||
            (s->sources.beside && s->weights.at[held_of(s, x->src)] == WEIGHT_SOURCE))
            continue;
        while (x->where == TENSOR_SLICE)
            x = &s->weights.held[h].m->tensor[x->of[0]];
        if (m->file[x->file].barred)
            return diag_error(s->diag, "%s: weight '%s' needs the file '%s', which %s",
                              module_str(m, m->path), module_str(m, x->name),
                              module_str(m, m->file[x->file].path), m->file[x->file].barred);
        return diag_error(
            s->diag,
            "%s: weight '%s' needs the file '%s', which is not there: put it there, or "
            "write parts that refer to it: --weights=original and -o the model's own "
            "folder",
            module_str(m, m->path), module_str(m, x->name), module_str(m, m->file[x->file].path));
    }
    return 0;
}

static int map_file(struct split *s, uint32_t k)
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

/* Files whose bytes messages hold have addresses already; other files get them if their bytes shall go into
 * messages. */
static int map_files(struct split *s)
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
    for (uint32_t h = 1; h < s->weights.nheld && s->weights.mode == WEIGHTS_INLINE; h++) {
        const struct tensor *x = held_tensor(s, h);
        if (x->where == TENSOR_FILE && x->len >= PACK_COPY && !s->weights.mapped_at[x->file] &&
            map_file(s, x->file))
            return -1;
    }
    mappings_sort(s->weights.map, s->weights.nmap);
    return 0;
}

/* [held] 1: an initializer of the main graph, or in a sparse one. */
static uint8_t *top_tensors(struct split *s)
{
    const Onnx__GraphProto *g = s->src->graph;
    uint8_t *top = arena_alloc(s->a, s->weights.nheld);
    for (size_t i = 0; i < g->n_initializer; i++)
        top[held_of(s, g->initializer[i])] = 1;
    for (size_t i = 0; i < g->n_sparse_initializer; i++) {
        top[held_of(s, g->sparse_initializer[i]->values)] =
            is_external(g->sparse_initializer[i]->values);
        top[held_of(s, g->sparse_initializer[i]->indices)] =
            is_external(g->sparse_initializer[i]->indices);
    }
    return top;
}

/* A tensor below a node that the source keeps in another file than the model. */
static bool is_nested(const struct split *s, const uint8_t *top, uint32_t h)
{
    const struct tensor *x = held_tensor(s, h);
    return x->where == TENSOR_FILE && s->m->file[x->file].location && !top[h];
}

/* [file] 1: parts may refer to it. */
static uint8_t *files_to_name(struct split *s, const uint8_t *top)
{
    uint8_t *may = arena_alloc(s->a, s->m->nfile);
    memset(may, s->weights.mode == WEIGHTS_ORIGINAL || s->weights.mode == WEIGHTS_LINK,
           s->m->nfile);
    for (uint32_t h = 1; h < s->weights.nheld; h++)
        if (s->weights.mode == WEIGHTS_LINK && is_nested(s, top, h))
            may[held_tensor(s, h)->file] = 0;
    return may;
}

int weights_plan(struct split *s)
{
    const struct module *m = s->m;
    uint64_t size = 0;
    hold_all(s);
    s->sources.used = arena_alloc(s->a, m->nfile);
    const uint8_t *top = top_tensors(s), *may = files_to_name(s, top);
    for (uint32_t t = 0; t < s->weights.nheld; t++) {
        const struct tensor *x = held_tensor(s, t);
        bool nested = is_nested(s, top, t);
        bool far = s->sources.beside && is_missing(s, t);
        s->weights.at[t] = WEIGHT_INLINE;
        s->weights.nested |= nested;
        if ((!top[t] && !nested) || (x->len < MIN_BYTES && !far) || held_of(s, x->src) != t ||
            s->weights.mode == WEIGHTS_INLINE || !tensor_has_bytes(x))
            continue;
        if (x->where == TENSOR_FILE && may[x->file]) {
            s->weights.at[t] = WEIGHT_SOURCE;
            s->sources.used[x->file] = 1;
            continue;
        }
        s->weights.at[t] = (size + ALIGN - 1) / ALIGN * ALIGN;
        size = s->weights.at[t] + x->len;
        s->weights.data = true;
    }
    s->weights.size = size;
    return check_files(s) || map_files(s) ? -1 : 0;
}

/* ---- the file ------------------------------------------------------------------------------- */

static int copy_tensor(struct split *s, uint32_t t, int out)
{
    assert(s->weights.at[t] != WEIGHT_INLINE && s->weights.at[t] % ALIGN == 0);
    const struct held *h = &s->weights.held[t];
    if (lseek(out, (off_t)s->weights.at[t], SEEK_SET) < 0)
        return diag_error(s->diag, WEIGHTS_FILE ": %s", strerror(errno));
    return tensor_copy(h->m, h->t, out, WEIGHTS_FILE, s->diag);
}

int weights_write(struct split *s)
{
    int out = -1, rc = 0;
    uint64_t size = s->weights.size;
    if (split_check_room(s, size, WEIGHTS_FILE))
        return -1;
    for (uint32_t t = 1; t < s->weights.nheld && !rc; t++) {
        if (s->weights.at[t] == WEIGHT_INLINE || s->weights.at[t] == WEIGHT_SOURCE)
            continue;
        if (out < 0)
            out = openat(s->dirfd, WEIGHTS_FILE,
                         O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (out < 0)
            return diag_error(s->diag, WEIGHTS_FILE ": cannot be made: %s", strerror(errno));
        diag_tell(s->diag, "writing weights", s->weights.at[t], size);
        rc = copy_tensor(s, t, out);
    }
    if (out >= 0 && close(out) && !rc)
        rc = diag_error(s->diag, WEIGHTS_FILE ": %s", strerror(errno));
    return rc;
}

/* ---- the messages --------------------------------------------------------------------------- */

/* A copy without payload. */
static Onnx__TensorProto *copy_emptied(struct split *s, const Onnx__TensorProto *src)
{
    Onnx__TensorProto *p = arena_alloc(s->a, sizeof *p);
    *p = *src;
    p->n_float_data = p->n_int32_data = p->n_int64_data = p->n_double_data = p->n_uint64_data = 0;
    p->has_raw_data = p->has_data_location = 0;
    p->n_external_data = 0;
    p->external_data = NULL;
    return p;
}

/* A copy of src that says where tensor t lies in a file of the folder. */
static Onnx__TensorProto *make_reference(struct split *s, const Onnx__TensorProto *src, uint32_t t)
{
    assert(s->weights.at[t] != WEIGHT_INLINE);
    const struct tensor *x = held_tensor(s, t);
    bool own = s->weights.at[t] != WEIGHT_SOURCE;
    const char *file = own ? WEIGHTS_FILE : s->sources.source[x->file];
    assert(file);
    Onnx__TensorProto *p = copy_emptied(s, src);
    p->external_data = arena_array(s->a, 3, sizeof *p->external_data);
    p->external_data[p->n_external_data++] =
        make_entry(s->a, "location", arena_strdup(s->a, file, strlen(file)));
    p->external_data[p->n_external_data++] =
        make_entry(s->a, "offset", arena_fmt(s->a, "%" PRIu64, own ? s->weights.at[t] : x->off));
    p->external_data[p->n_external_data++] =
        make_entry(s->a, "length", arena_fmt(s->a, "%" PRIu64, x->len));
    p->has_data_location = 1;
    p->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
    return p;
}

/* The bytes of tensor t for a message; NULL: failed.  A tensor of PACK_COPY bytes or more in a file gets the address
 * that stands for its bytes (infile_addresses), which must not be read. */
static uint8_t *bytes_of(struct split *s, uint32_t t)
{
    const struct tensor *x = held_tensor(s, t);
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
    /* tensors in files that come here are shorter than PACK_COPY: longer ones have addresses */
    uint8_t *p = arena_alloc(s->a, (size_t)x->len + 1);
    if (x->len && !s->failed &&
        tensor_read(s->weights.held[t].m, s->weights.held[t].t, 0, p, x->len))
        s->failed = true;
    return p;
}

Onnx__TensorProto *weights_tensor(struct split *s, const Onnx__TensorProto *src)
{
    uint32_t t = s->weights.keep ? 0 : held_of(s, src);
    if (t && s->weights.at[t] != WEIGHT_INLINE)
        return make_reference(s, src, t);
    if (s->weights.keep || !is_external(src))
        return (Onnx__TensorProto *)src;
    if (!t || !tensor_has_bytes(held_tensor(s, t))) {
        refuse(s, src->name);
        return (Onnx__TensorProto *)src;
    }
    Onnx__TensorProto *p = copy_emptied(s, src);
    p->has_raw_data = 1;
    p->raw_data.len = (size_t)held_tensor(s, t)->len;
    p->raw_data.data = bytes_of(s, t);
    return p;
}

Onnx__SparseTensorProto *weights_sparse(struct split *s, Onnx__SparseTensorProto *src)
{
    Onnx__TensorProto *values = src->values ? weights_tensor(s, src->values) : NULL;
    Onnx__TensorProto *indices = src->indices ? weights_tensor(s, src->indices) : NULL;
    if (values == src->values && indices == src->indices)
        return src;
    Onnx__SparseTensorProto *p = arena_alloc(s->a, sizeof *p);
    *p = *src;
    p->values = values;
    p->indices = indices;
    return p;
}
