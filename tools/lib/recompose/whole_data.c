/* Weights of a model that is put together: each gets a place in the file beside it.
 *
 * The file gets initializers of 1 KiB and more, wherever the parts have them, and all tensors that a part refers to as
 * external data, also in bodies and functions.  Offsets are multiples of 4096 bytes, as in weights.data.  The messages
 * of the parts are changed, not copied, since nothing but the new model reads them. O(messages + tensors log tensors) +
 * the copying, which takes no memory (copy_bytes). */
#include "tools/lib/recompose/whole.h"

#include "backends/onnx/make.h"
#include "backends/onnx/walk.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum { MIN_BYTES = 1024 }; /* smaller initializers stay in the model, if a part has them inside */

/* Appends the tensors of m to w->tensor. */
static void list_module(struct whole *w, const struct module *m)
{
    for (tid t = 1; t < m->ntensor; t++) {
        if (m->tensor[t].src)
            w->origin[w->norigin++] = (struct origin){m->tensor[t].src, w->ntensor};
        w->tensor[w->ntensor++] = (struct module_tensor){m, t};
    }
}

/* Returns the number of tensors of a source, those of its functions included. */
static size_t count_tensors(const struct module *m)
{
    size_t n = m->ntensor + (m->aside ? m->aside->ntensor : 0);
    for (uint32_t f = 1; f < m->nfunction; f++)
        n += m->function[f].body->ntensor;
    return n;
}

void whole_list_tensors(struct whole *w)
{
    size_t n = 1;
    for (uint32_t x = 0; x <= w->npart; x++) {
        const struct module *m = x < w->npart ? w->part[x].m : w->original.m;
        if (m)
            n += count_tensors(m);
    }
    w->tensor = arena_array(w->a, n, sizeof *w->tensor);
    w->origin = arena_array(w->a, n, sizeof *w->origin);
    w->at = arena_array(w->a, n, sizeof *w->at);
    memset(w->at, 0xff, n * sizeof *w->at); /* NO_PLACE */
    w->ntensor = 1;
    for (uint32_t x = 0; x <= w->npart; x++) {
        const struct module *m = x < w->npart ? w->part[x].m : w->original.m;
        if (!m)
            continue;
        list_module(w, m);
        for (uint32_t f = 1; f < m->nfunction; f++)
            list_module(w, m->function[f].body);
        if (m->aside)
            list_module(w, m->aside);
    }
    origins_sort(w->origin, w->norigin);
}

struct module_tensor whole_tensor(const struct whole *w, const void *message)
{
    return w->tensor[origin_id(w->origin, w->norigin, message)];
}

/* Gives the tensor with the message p a place, and has p refer to it.  Returns 0, or -1 and an error. */
static int place_tensor(struct whole *w, Onnx__TensorProto *p, const char *data)
{
    uint32_t id = origin_id(w->origin, w->norigin, p);
    const struct module_tensor of = w->tensor[id];
    const struct tensor *x = id ? &of.m->tensor[of.t] : NULL;
    if (!x || x->where != TENSOR_FILE)
        return diag_error(w->diag,
                          "%s: tensor '%s' lies in another file in a form that cannot be "
                          "carried along",
                          w->x.name, p->name ? p->name : "");
    const struct file *f = &of.m->file[x->file];
    if (f->fd < 0)
        return diag_error(w->diag, "%s: tensor '%s' needs the file '%s', which %s", w->x.name,
                          p->name ? p->name : "", module_str(of.m, f->path),
                          f->barred ? f->barred : "is not there");
    w->at[id] = weights_align(w->size);
    w->size = w->at[id] + x->len;
    p->n_float_data = p->n_int32_data = p->n_int64_data = p->n_double_data = p->n_uint64_data = 0;
    p->has_raw_data = 0;
    p->external_data = arena_array(w->a, 3, sizeof *p->external_data);
    p->external_data[0] = make_entry(w->a, "location", data);
    p->external_data[1] = make_entry(w->a, "offset", arena_fmt(w->a, "%" PRIu64, w->at[id]));
    p->external_data[2] = make_entry(w->a, "length", arena_fmt(w->a, "%" PRIu64, x->len));
    p->n_external_data = 3;
    p->has_data_location = 1;
    p->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
    return 0;
}

/* Whether an initializer goes into the data file although its part may have it inside. */
static bool is_large(const struct whole *w, const Onnx__TensorProto *p)
{
    const struct module_tensor of = whole_tensor(w, p);
    const struct tensor *x = of.t ? &of.m->tensor[of.t] : NULL;
    return x && x->where == TENSOR_FILE && x->len >= MIN_BYTES;
}

int whole_place(struct whole *w, const char *data)
{
    struct walk all = walk_begin(&w->model.base, w->a);
    const ProtobufCMessage *m;
    for (size_t i = 0; i < w->graph.n_initializer; i++)
        if (is_large(w, w->graph.initializer[i]) && place_tensor(w, w->graph.initializer[i], data))
            return -1;
    while ((m = walk_next(&all))) {
        Onnx__TensorProto *p = (void *)(uintptr_t)m;
        if (m->descriptor != &onnx__tensor_proto__descriptor || !p->has_data_location ||
            p->data_location != ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL ||
            w->at[origin_id(w->origin, w->norigin, p)] != NO_PLACE)
            continue;
        if (place_tensor(w, p, data))
            return -1;
    }
    return 0;
}

int whole_write_data(const struct whole *w, int fd, const char *data)
{
    for (uint32_t i = 1; i < w->ntensor; i++) {
        if (w->at[i] == NO_PLACE)
            continue;
        diag_tell(w->diag, "writing weights", w->at[i], w->size);
        if (lseek(fd, (off_t)w->at[i], SEEK_SET) < 0)
            return diag_error(w->diag, "%s: %s", data, strerror(errno));
        if (tensor_copy(w->tensor[i].m, w->tensor[i].t, fd, data, w->diag))
            return -1;
    }
    return 0;
}
