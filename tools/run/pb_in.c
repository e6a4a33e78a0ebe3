/* Reads inputs in ONNX's own form (pb_in.h).  A file is a message TensorProto, unless the input is a sequence or a map
 * (pb_list.c).  A few bytes around the message make it an initializer of a model, so that the reader of models reads
 * and checks it.  O(bytes). */
#include "tools/run/pb_in.h"

#include "frontends/frontends.h"
#include "ir/base/infile.h"

#include <string.h>
#include <unistd.h>

/* Tags (number * 8 + wire type) of fields of a ModelProto and of the messages below it. */
enum {
    IR_VERSION = 1 * 8,
    MODEL_GRAPH = 7 * 8 + 2,
    MODEL_OPSET = 8 * 8 + 2,
    GRAPH_INITIALIZER = 5 * 8 + 2,
    TENSOR_NAME = 8 * 8 + 2,
    OPSET_VERSION = 2 * 8
};

enum { HEAD = 12 /* most bytes of a tag and a length */ };

/* Writes a tag and the length of what follows.  Returns the end. */
static char *put_head(char *to, int tag, size_t length)
{
    *to++ = (char)tag;
    for (; length >= 128; length >>= 7)
        *to++ = (char)((length & 127) | 128);
    *to++ = (char)length;
    return to;
}

/* Returns the bytes of a model, in a, whose only initializer is the tensor in bytes[n], under the name "x"; writes the
 * number of bytes to *size. */
static char *wrap(const char *bytes, size_t n, size_t *size, struct arena *a)
{
    /* version 8 of ONNX's form; version 13 of its operators */
    static const char model[] = {IR_VERSION, 8, MODEL_OPSET, 2, OPSET_VERSION, 13};
    /* replaces the tensor's name: the last field of a kind counts */
    static const char name[] = {TENSOR_NAME, 1, 'x'};
    char head[HEAD], *to = arena_alloc(a, n + sizeof model + 2 * HEAD + sizeof name), *at = to;
    size_t inner = (size_t)(put_head(head, GRAPH_INITIALIZER, n + sizeof name) - head);
    memcpy(at, model, sizeof model);
    at = put_head(at + sizeof model, MODEL_GRAPH, inner + n + sizeof name);
    at = put_head(at, GRAPH_INITIALIZER, n + sizeof name);
    memcpy(at, bytes, n);
    memcpy(at + n, name, sizeof name);
    *size = (size_t)(at + n + sizeof name - to);
    return to;
}

/* Copies the tensor t of m into *to, in a.  path: file of the tensor, for errors.  Returns 0, or -1 and an error. */
static int take_tensor(const struct module *m, tid t, struct npz_array *to, const char *path,
                       struct arena *a, struct diag *d)
{
    const struct tensor *x = &m->tensor[t];
    int64_t *size = arena_array(a, (size_t)x->rank + 1, sizeof *size);
    for (uint32_t k = 0; k < x->rank; k++)
        size[k] = m->ints[x->dim + k];
    to->elem = x->elem;
    to->rank = x->rank;
    to->size = size;
    if (x->where == TENSOR_STRINGS) {
        const char **text = arena_array(a, x->len + 1, sizeof *text);
        for (uint64_t k = 0; k < x->len; k++)
            text[k] = arena_fmt(a, "%s", module_str(m, m->sids[x->off + k]));
        to->text = text;
        return 0;
    }
    if (!tensor_has_bytes(x))
        return diag_error(d, "%s: expected a tensor of numbers or strings", path);
    void *data = arena_alloc(a, x->len + 1);
    to->data = data;
    to->bytes = x->len;
    if (tensor_read(m, t, 0, data, x->len)) /* its error goes to pb_tensor()'s silent diag */
        return diag_error(d, "%s: the elements of its tensor cannot be read", path);
    return 0;
}

int pb_tensor(struct npz_array *to, const struct pb_bytes *from, struct arena *a, struct diag *d)
{
    struct diag silent = diag_silent();
    struct arena *own = arena_new(a); /* arena of the wrapped model; the tensor is copied to a */
    size_t size;
    const char *model = wrap(from->at, from->n, &size, own);
    const struct onnx_options o = {.bytes = model, .size = size};
    const struct module *m = onnx_read(from->path, &o, own, &silent);
    vid v = m && m->graph[1].init.n == 1 ? m->arg[m->graph[1].init.at] : 0;
    int rc = v && m->value[v].tensor
                 ? take_tensor(m, m->value[v].tensor, to, from->path, a, d)
                 : diag_error(d, "%s: expected a tensor in ONNX's form", from->path);
    arena_free(own);
    return rc;
}

/* Reads a file with one value of a type, written as struct split_value writes types, into *to, in a.  Returns 0, or -1
 * and an error. */
static int read_file(struct npz_array *to, const char *type, const char *path, struct arena *a,
                     struct diag *d)
{
    struct arena *own = arena_new(a);
    struct pb_bytes from = {.path = path};
    int rc = -1;
    from.at = infile_bytes(path, INFILE_STREAM, own, &from.n, d);
    if (from.at && (!strncmp(type, "seq<", 4) || !strncmp(type, "map<", 4)))
        rc = pb_list(to, type, &from, a, d);
    else if (from.at)
        rc = pb_tensor(to, &from, a, d);
    arena_free(own);
    return rc;
}

int pb_read(struct npz *out, const char *folder, const struct split *s, struct arena *a,
            struct diag *d)
{
    const char *inner = arena_fmt(a, "%s/test_data_set_0", folder);
    out->array = arena_array(a, (size_t)s->ngiven + 1, sizeof *out->array);
    if (!infile_is_folder(folder)) {
        if (s->ngiven != 1)
            return diag_error(d,
                              "%s: one value, but the model has %u inputs: expected a folder with "
                              "input_0.pb, input_1.pb, ...",
                              folder, s->ngiven);
        out->array[out->n++].name = s->value[s->given[0]].name;
        return read_file(out->array, s->value[s->given[0]].type, folder, a, d);
    }
    if (infile_is_folder(inner))
        folder = inner;
    for (; out->n < s->ngiven; out->n++) {
        struct npz_array *to = &out->array[out->n];
        to->name = s->value[s->given[out->n]].name;
        if (read_file(to, s->value[s->given[out->n]].type,
                      arena_fmt(a, "%s/input_%u.pb", folder, out->n), a, d))
            return -1;
    }
    const char *more = arena_fmt(a, "%s/input_%u.pb", folder, out->n);
    return access(more, F_OK) == 0
               ? diag_error(d, "%s: expected no more files: the model has %u inputs", more, out->n)
               : 0;
}
