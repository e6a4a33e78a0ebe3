/* Copies of a model with more outputs (extra_outputs.h), or more inputs (extra_inputs.h).
 *
 * In protobuf's form the fields of a message may come in any order, and a message within it in several pieces, which
 * are merged: a second field "graph" of the model that has only outputs adds these to the outputs of the first one.  So
 * bytes are appended, and the file need not be parsed.  The engine infers the type of an output that has none.
 * O(bytes of the file). */
#include "tools/run/extra_outputs.h"
#include "tools/run/extra_inputs.h"

#include "ir/base/infile.h"
#include "ir/base/outfile.h"

#include "onnx.pb-c.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Tags of fields that are messages or texts: number * 8 + 2. */
enum { MODEL_GRAPH = 7 * 8 + 2, GRAPH_OUTPUT = 12 * 8 + 2, VALUE_NAME = 1 * 8 + 2 };

/* Returns the bytes that a number takes in protobuf's form: 7 bits in each. */
static size_t varint_bytes(size_t v)
{
    size_t n = 1;
    for (; v >= 128; v >>= 7)
        n++;
    return n;
}

/* Writes the beginning of a field: its tag, below 128, and the length of its content. */
static void put_head(FILE *f, int tag, size_t length)
{
    fputc(tag, f);
    for (; length >= 128; length >>= 7)
        fputc((int)(length & 127) | 128, f);
    fputc((int)length, f);
}

/* Appends a field "graph" of the model, which has nothing but the outputs name[n]. */
static void put_outputs(FILE *f, const char *const *name, uint32_t n)
{
    size_t all = 0;
    for (uint32_t i = 0; i < n; i++) {
        size_t length = strlen(name[i]), value = 1 + varint_bytes(length) + length;
        all += 1 + varint_bytes(value) + value;
    }
    if (n > 0)
        put_head(f, MODEL_GRAPH, all);
    for (uint32_t i = 0; i < n; i++) {
        size_t length = strlen(name[i]);
        put_head(f, GRAPH_OUTPUT, 1 + varint_bytes(length) + length);
        put_head(f, VALUE_NAME, length);
        fwrite(name[i], 1, length, f);
    }
}

/* Begins the file `to` with the bytes of `from`.  *whole: whether all bytes were read; if not, an error was reported.
 * Returns 0; or -1 and an error, if the new file cannot be made. */
static int copy_bytes(const char *from, const char *to, struct outfile *out, bool *whole,
                      struct arena *a, struct diag *d)
{
    enum { BLOCK = 1 << 16 };
    uint64_t size, have = 0;
    int fd = infile_open(from, INFILE_MODEL, &size, d);
    if (fd < 0)
        return -1;
    if (outfile_open(out, to, a, d)) {
        close(fd);
        return -1;
    }
    char *block = arena_alloc(a, BLOCK);
    ssize_t got;
    while ((got = read(fd, block, BLOCK)) > 0) {
        fwrite(block, 1, (size_t)got, out->f);
        have += (uint64_t)got;
    }
    close(fd);
    *whole = have == size;
    if (!*whole)
        diag_error(d, "%s: it cannot be read", from);
    return 0;
}

int extra_outputs(const char *from, const char *to, const char *const *name, uint32_t n,
                  struct arena *a, struct diag *d)
{
    struct outfile out;
    bool whole;
    if (copy_bytes(from, to, &out, &whole, a, d))
        return -1;
    put_outputs(out.f, name, n);
    return outfile_close(&out, whole);
}

/* Returns the message of an input, in a, with the messages that it leads to: a tensor of this type, whose sizes are
 * numbers. */
static Onnx__ValueInfoProto *make_input(const struct extra_input *in, struct arena *a)
{
    struct tensor_messages {
        Onnx__ValueInfoProto info;
        Onnx__TypeProto type;
        Onnx__TypeProto__Tensor tensor;
        Onnx__TensorShapeProto shape;
    } *m = arena_alloc(a, sizeof *m);
    Onnx__TensorShapeProto__Dimension *dim = arena_array(a, (size_t)in->rank + 1, sizeof *dim);
    *m = (struct tensor_messages){ONNX__VALUE_INFO_PROTO__INIT, ONNX__TYPE_PROTO__INIT,
                                  ONNX__TYPE_PROTO__TENSOR__INIT, ONNX__TENSOR_SHAPE_PROTO__INIT};
    m->shape.dim = arena_array(a, (size_t)in->rank + 1, sizeof *m->shape.dim);
    m->shape.n_dim = in->rank;
    for (uint32_t k = 0; k < in->rank; k++) {
        onnx__tensor_shape_proto__dimension__init(&dim[k]);
        dim[k].value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
        dim[k].dim_value = in->size[k];
        m->shape.dim[k] = &dim[k];
    }
    m->tensor.has_elem_type = 1;
    m->tensor.elem_type = in->elem;
    m->tensor.shape = &m->shape;
    m->type.value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
    m->type.tensor_type = &m->tensor;
    m->info.name = arena_strdup(a, in->name, strlen(in->name));
    m->info.type = &m->type;
    return &m->info;
}

int extra_inputs(const char *from, const char *to, const struct extra_input *in, uint32_t n,
                 struct arena *a, struct diag *d)
{
    struct outfile out;
    bool whole;
    Onnx__GraphProto more = ONNX__GRAPH_PROTO__INIT;
    more.input = arena_array(a, (size_t)n + 1, sizeof(void *));
    for (uint32_t i = 0; i < n; i++)
        if (!in[i].there)
            more.input[more.n_input++] = make_input(&in[i], a);
    if (copy_bytes(from, to, &out, &whole, a, d))
        return -1;
    size_t bytes = onnx__graph_proto__get_packed_size(&more);
    uint8_t *packed = arena_alloc(a, bytes + 1);
    onnx__graph_proto__pack(&more, packed);
    if (more.n_input) {
        put_head(out.f, MODEL_GRAPH, bytes);
        fwrite(packed, 1, bytes, out.f);
    }
    return outfile_close(&out, whole);
}

void extra_outputs_links(const struct module *m, const char *folder, struct arena *a)
{
    for (uint32_t i = 2; i < m->nfile; i++) { /* 0: no file; 1: the model's own */
        const char *location = module_str(m, m->file[i].location);
        char *path = arena_fmt(a, "%s/%s", folder, location);
        char *real = m->file[i].fd < 0 ? NULL : realpath(module_str(m, m->file[i].path), NULL);
        size_t at = strlen(folder) + 1;
        for (; real && path[at]; at++) { /* makes the folders on the way to the link */
            if (path[at] == '/') {
                path[at] = 0;
                mkdir(path, 0700); /* fails if the folder is there already: that is right, too */
                path[at] = '/';
            }
        }
        /* The result does not matter: a link may be there already, and a missing file is reported by the engine. */
        if (real)
            (void)!symlink(real, path);
        free(real);
    }
}
