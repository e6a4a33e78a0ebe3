/* Finds a place for the payloads of weights that passes made, when a model is written to one file.
 *
 * Initializers of the main graph with 1 KiB or more go to a file beside the model (its name and ".data"), at offsets
 * that are multiples of 4096; smaller initializers stay in the model.  If the model goes to standard output, all
 * initializers stay in it. Payloads that are in a file already stay there: only slices and tensors in memory get a
 * place (the reader leaves large tensors in the file).  O(initializers + the bytes written). */
#include "backends/onnx/make.h"
#include "backends/onnx/pack.h"

#include "ir/base/infile.h"
#include "ir/base/outfile.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

/* MIN_BYTES: an inline payload of fewer bytes stays in the model, a longer one goes to a file beside the model.
 * ALIGN: offsets of payloads in that file are multiples of ALIGN bytes.  BLOCK: bytes copied at once; so few stay
 * in a processor's cache until they are written. */
enum { MIN_BYTES = 1024, ALIGN = 4096, BLOCK = 1 << 17 };

/* Whether the payload of an initializer still needs a place: the initializer is a slice, whose message has no
 * bytes, or a tensor in memory that is too long for the model. */
static bool is_placeless(const struct tensor *x)
{
    return x->where == TENSOR_SLICE ||
           (x->where == TENSOR_INLINE && !x->typed && x->len >= MIN_BYTES);
}

/* Whether an initializer of the main graph needs a place. */
static bool has_placeless(const struct module *m)
{
    for (uint32_t i = 0; i < m->graph[1].init.n; i++)
        if (is_placeless(&m->tensor[m->value[m->arg[m->graph[1].init.at + i]].tensor]))
            return true;
    return false;
}

int tensor_copy(const struct module *m, tid t, int out, const char *what, struct diag *d)
{
    const struct tensor *x = &m->tensor[t];
    if (x->where == TENSOR_INLINE)
        return write_bytes(out, x->data, x->len, what, d);
    if (x->where == TENSOR_FILE && m->file[x->file].fd >= 0)
        return copy_bytes(m->file[x->file].fd, x->off, x->len, out, what, d);
    /* a slice; or a tensor in a file that is not open, which tensor_read() reports */
    struct arena *a = arena_new(m->mem);
    uint8_t *block = arena_alloc(a, BLOCK);
    int rc = 0;
    for (uint64_t at = 0, n; at < x->len && rc == 0; at += n) {
        n = x->len - at < BLOCK ? x->len - at : BLOCK;
        rc = tensor_read(m, t, at, block, n) != 0 || write_bytes(out, block, n, what, d) != 0 ? -1
                                                                                              : 0;
    }
    arena_free(a);
    return rc;
}

/* Returns a copy of the message src, in a, whose external data say that the payload is len bytes at offset `at` of
 * `file`. */
static Onnx__TensorProto *make_external(const Onnx__TensorProto *src, const char *file, uint64_t at,
                                        uint64_t len, struct arena *a)
{
    Onnx__TensorProto *p = arena_copy(a, src, sizeof *p);
    p->has_raw_data = 0;
    p->has_data_location = 1;
    p->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
    p->external_data = arena_array(a, 3, sizeof *p->external_data);
    p->external_data[0] = make_entry(a, "location", file);
    p->external_data[1] = make_entry(a, "offset", arena_fmt(a, "%" PRIu64, at));
    p->external_data[2] = make_entry(a, "length", arena_fmt(a, "%" PRIu64, len));
    p->n_external_data = 3;
    return p;
}

/* Returns a copy of the message src that has the payload of tensor t inside; on failure reports an error and returns
 * NULL. */
static Onnx__TensorProto *make_internal(const struct module *m, tid t, const Onnx__TensorProto *src,
                                        struct arena *a)
{
    const struct tensor *x = &m->tensor[t];
    Onnx__TensorProto *p = arena_alloc(a, sizeof *p);
    uint8_t *bytes = arena_alloc(a, (size_t)x->len + 1);
    *p = *src;
    p->has_data_location = 0;
    p->n_external_data = 0;
    p->has_raw_data = 1;
    p->raw_data = (ProtobufCBinaryData){(size_t)x->len, bytes};
    return tensor_read(m, t, 0, bytes, (size_t)x->len) == 0 ? p : NULL;
}

/* Gives all placeless initializers of g, the main graph's message, a place, and puts messages with these places
 * into g: small ones inside the model, large ones in the file named `file`, whose descriptor is `out`; out < 0: all
 * inside the model. Returns 0, or -1 and an error. */
static int place_all(const struct module *m, Onnx__GraphProto *g, int out, const char *file,
                     struct arena *a, struct diag *d)
{
    uint64_t end = 0; /* number of bytes written to `out` */
    /* index in g of the next dense initializer: g has the sparse ones in another list */
    size_t k = 0;
    for (uint32_t i = 0; i < m->graph[1].init.n; i++) {
        tid t = m->value[m->arg[m->graph[1].init.at + i]].tensor;
        const struct tensor *x = &m->tensor[t];
        if (x->where == TENSOR_SPARSE)
            continue;
        Onnx__TensorProto **p = &g->initializer[k++];
        assert(k <= g->n_initializer && (!is_placeless(x) || *p == x->src));
        if (!is_placeless(x))
            continue;
        if (out < 0 || x->len < MIN_BYTES) {
            *p = make_internal(m, t, *p, a);
            if (*p == NULL)
                return -1;
            continue;
        }
        uint64_t at = (end + ALIGN - 1) / ALIGN * ALIGN;
        *p = make_external(*p, file, at, x->len, a);
        end = at + x->len;
        if (lseek(out, (off_t)at, SEEK_SET) < 0 || tensor_copy(m, t, out, file, d) != 0)
            return -1;
    }
    return 0;
}

/* Refuses to write to `path` if that is a file of weights of the model.  Returns 0, or -1 and an error. */
static int check_data(const struct module *m, const char *path, struct diag *d)
{
    for (uint32_t k = 1; k < m->nfile; k++)
        if (infile_same(path, module_str(m, m->file[k].path)))
            return diag_error(
                d,
                "%s: has weights of the model that is written, and weights that passes "
                "made would replace it: give the model another name",
                path);
    return 0;
}

int onnx_place(const struct module *m, const Onnx__ModelProto *model, const char *path,
               struct model_file *out, struct arena *a, struct diag *d)
{
    *out = (struct model_file){.model = *model, .graph = *model->graph};
    if (!has_placeless(m))
        return 0;
    out->model.graph = &out->graph;
    out->graph.initializer = arena_array(a, out->graph.n_initializer + 1, sizeof(void *));
    memcpy(out->graph.initializer, model->graph->initializer,
           model->graph->n_initializer * sizeof(void *));
    if (strcmp(path, "-") == 0)
        return place_all(m, &out->graph, /*out=*/-1, /*file=*/"", a, d);
    const char *data = arena_fmt(a, "%s.data", path), *slash = strrchr(data, '/');
    if (check_data(m, data, d) != 0 || outfile_open(&out->data, data, a, d) != 0)
        return -1;
    out->has_data = true;
    return place_all(m, &out->graph, fileno(out->data.f), slash != NULL ? slash + 1 : data, a, d);
}
