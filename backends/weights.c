/* Weights that parts share: weights.data holds every tensor of 1 KiB or more that is an
 * initializer, once, at a multiple of 4096; the files of the folder refer to it by offset and
 * length. Strings and smaller tensors stay inline (so do integer tensors of up to 64 elements,
 * which have at most 512 bytes: runtimes refuse shape inputs as external data).  Tensors inside
 * nodes stay where they are, unless the source itself keeps them in a file that is not in the new
 * folder.
 *
 * Bytes go from descriptor to descriptor, never through the mapping of the source, so that writing
 * gigabytes makes nothing resident.  O(tensors log tensors) + the copying. */
#include "backends/onnx_pack.h"
#include "backends/split.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MIN_BYTES = 1024, ALIGN = 4096 };

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

/* Its number among s->held, 0: none. */
static uint32_t held_of(const struct split *s, const void *src)
{
    return origin_id(s->tensor, s->ntensor, src);
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
                      str(s->m, s->m->path), name ? name : "");
}

static const struct tensor *held_tensor(const struct split *s, uint32_t h)
{
    return &s->held[h].m->tensor[s->held[h].t];
}

static void hold(struct split *s, const struct module *m)
{
    for (tid t = 1; t < m->ntensor; t++) {
        s->held[s->nheld] = (struct held){m, t};
        if (m->tensor[t].src)
            s->tensor[s->ntensor++] = (struct origin){m->tensor[t].src, s->nheld};
        s->nheld++;
    }
}

static void hold_all(struct split *s)
{
    const struct module *m = s->m;
    size_t n = m->ntensor + (m->aside ? m->aside->ntensor : 0);
    for (uint32_t f = 1; f < m->nfunction; f++)
        n += m->function[f].body->ntensor;
    s->held = arena_array(s->a, n, sizeof *s->held);
    s->tensor = arena_array(s->a, n, sizeof *s->tensor);
    s->at = arena_array(s->a, n, sizeof *s->at);
    s->held[s->nheld++] = (struct held){m, 0};
    hold(s, m);
    for (uint32_t f = 1; f < m->nfunction; f++)
        hold(s, m->function[f].body);
    if (m->aside)
        hold(s, m->aside);
    origins_sort(s->tensor, s->ntensor);
}

int weights_plan(struct split *s)
{
    const Onnx__GraphProto *g = s->src->graph;
    uint64_t size = 0;
    hold_all(s);
    uint8_t *top = arena_alloc(s->a, s->nheld);
    for (size_t i = 0; i < g->n_initializer; i++)
        top[held_of(s, g->initializer[i])] = 1;
    for (uint32_t t = 0; t < s->nheld; t++) {
        const struct tensor *x = held_tensor(s, t);
        bool nested = x->where == TENSOR_FILE && x->file != 1 && !top[t]; /* file 1: the model */
        s->at[t] = WEIGHT_INLINE;
        s->nested |= nested;
        if ((!top[t] && !nested) || x->len < MIN_BYTES || held_of(s, x->src) != t ||
            (x->where != TENSOR_INLINE && x->where != TENSOR_FILE))
            continue;
        s->at[t] = (size + ALIGN - 1) / ALIGN * ALIGN;
        size = s->at[t] + x->len;
    }
    return 0;
}

/* ---- the file ------------------------------------------------------------------------------- */

/* Before gigabytes are copied: are all files there? */
static int check_files(struct split *s)
{
    const struct module *m = s->m;
    for (uint32_t t = 1; t < s->nheld; t++) {
        const struct tensor *x = held_tensor(s, t);
        if (s->at[t] == WEIGHT_INLINE || x->where != TENSOR_FILE || m->file[x->file].fd >= 0)
            continue;
        return diag_error(s->diag, "%s: weight '%s' needs the file '%s', which is not there",
                          str(m, m->path), str(m, x->name), str(m, m->file[x->file].path));
    }
    return 0;
}

static int copy_tensor(struct split *s, uint32_t t, int out)
{
    const struct module *m = s->m;
    const struct tensor *x = held_tensor(s, t);
    if (lseek(out, (off_t)s->at[t], SEEK_SET) < 0)
        return diag_error(s->diag, WEIGHTS_FILE ": %s", strerror(errno));
    if (x->where == TENSOR_FILE)
        return copy_bytes(m->file[x->file].fd, x->off, x->len, out, WEIGHTS_FILE, s->diag);
    return write_bytes(out, x->data, x->len, WEIGHTS_FILE, s->diag);
}

int weights_write(struct split *s)
{
    int out = -1, rc = check_files(s);
    for (uint32_t t = 1; t < s->nheld && !rc; t++) {
        if (s->at[t] == WEIGHT_INLINE)
            continue;
        if (out < 0)
            out = openat(s->dirfd, WEIGHTS_FILE,
                         O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (out < 0)
            return diag_error(s->diag, WEIGHTS_FILE ": cannot be made: %s", strerror(errno));
        rc = copy_tensor(s, t, out);
    }
    if (out >= 0 && close(out) && !rc)
        rc = diag_error(s->diag, WEIGHTS_FILE ": %s", strerror(errno));
    return rc;
}

/* ---- the messages --------------------------------------------------------------------------- */

static Onnx__StringStringEntryProto *entry(struct split *s, const char *key, char *value)
{
    Onnx__StringStringEntryProto *e = arena_alloc(s->a, sizeof *e);
    onnx__string_string_entry_proto__init(e);
    e->key = arena_strdup(s->a, key, strlen(key));
    e->value = value;
    return e;
}

/* A copy without payload. */
static Onnx__TensorProto *emptied(struct split *s, const Onnx__TensorProto *src)
{
    Onnx__TensorProto *p = arena_alloc(s->a, sizeof *p);
    *p = *src;
    p->n_float_data = p->n_int32_data = p->n_int64_data = p->n_double_data = p->n_uint64_data = 0;
    p->has_raw_data = p->has_data_location = 0;
    p->n_external_data = 0;
    p->external_data = NULL;
    return p;
}

static Onnx__TensorProto *referring(struct split *s, const Onnx__TensorProto *src, uint32_t t)
{
    Onnx__TensorProto *p = emptied(s, src);
    p->external_data = arena_array(s->a, 3, sizeof *p->external_data);
    p->external_data[p->n_external_data++] =
        entry(s, "location", arena_strdup(s->a, WEIGHTS_FILE, strlen(WEIGHTS_FILE)));
    p->external_data[p->n_external_data++] =
        entry(s, "offset", arena_fmt(s->a, "%" PRIu64, s->at[t]));
    p->external_data[p->n_external_data++] =
        entry(s, "length", arena_fmt(s->a, "%" PRIu64, s->m->tensor[t].len));
    p->has_data_location = 1;
    p->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
    return p;
}

Onnx__TensorProto *weights_tensor(struct split *s, const Onnx__TensorProto *src)
{
    uint32_t t = s->keep ? 0 : held_of(s, src);
    if (t && s->at[t] != WEIGHT_INLINE)
        return referring(s, src, t);
    if (s->keep || !is_external(src))
        return (Onnx__TensorProto *)src;
    if (!t || held_tensor(s, t)->where != TENSOR_FILE) {
        refuse(s, src->name);
        return (Onnx__TensorProto *)src;
    }
    Onnx__TensorProto *p = emptied(s, src);
    p->has_raw_data = 1;
    p->raw_data.len = (size_t)held_tensor(s, t)->len; /* below MIN_BYTES */
    p->raw_data.data = arena_alloc(s->a, p->raw_data.len + 1);
    if (tensor_read(s->held[t].m, s->held[t].t, 0, p->raw_data.data, p->raw_data.len))
        s->failed = true;
    return p;
}
