/* Reads an ONNX model.
 *
 * scan.c checks the file and makes its skeleton, which protobuf-c unpacks into the module's arena.  Then each marker
 * in the messages is replaced by a pointer to the payload: an address that stands for bytes of the file and must not be
 * read (infile_addresses).  So for all later code, the writer included, a tensor is an ordinary TensorProto, but no
 * weight was copied or read.  Bytes of weights are read with pread(); so if the file has become shorter meanwhile, that
 * is an ordinary error.  build.c makes the module of the messages.
 *
 * Cost: O(file without large payloads) in time and memory. */
#include "frontends/frontends.h"
#include "frontends/onnx/build.h"
#include "frontends/onnx/scan.h"
#include "ir/base/infile.h"
#include "ir/model/path.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Makes a file without a name that contains bytes[n], so that a model in memory can be read like a file.  Returns a
 * descriptor, or -1 and errno. */
static int make_memory_file(const char *bytes, size_t n)
{
    int fd = memfd_create("pcc-model", MFD_CLOEXEC);

    while (fd >= 0 && n > 0) {
        ssize_t k = write(fd, bytes, n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0) {
            int e = errno;
            close(fd);
            errno = e;
            return -1;
        }
        bytes += k;
        n -= (size_t)k;
    }
    return fd;
}

/* For arena_defer(): closes the file with this descriptor. */
static void close_fd(void *fd)
{
    close((int)(intptr_t)fd);
}

/* Opens the model as file[1] of m.  Returns 0, or -1 and an error. */
static int open_file(struct module *m, const char *path, const struct onnx_options *o,
                     struct diag *d)
{
    uint64_t size = o->size;
    int fd =
        o->bytes ? make_memory_file(o->bytes, o->size) : infile_open(path, INFILE_MODEL, &size, d);

    if (fd < 0)
        return o->bytes ? diag_error(d, "%s: cannot open: %s", path, strerror(errno)) : -1;
    arena_defer(m->mem, close_fd, (void *)(intptr_t)fd);
    if (size == 0)
        return diag_error(d, "%s: is empty, expected an ONNX model", path);
    const uint8_t *at = infile_addresses(size, m->mem);
    if (at == NULL)
        return diag_error(d, "%s: there are no addresses for %llu bytes: %s", path,
                          (unsigned long long)size, strerror(errno));
    struct file *f = &m->file[module_add_file(m)];
    f->path = str_id(m, path);
    f->fd = fd;
    f->size = size;
    f->map = at;
    f->nowhere = o->bytes != NULL;
    return 0;
}

/* The two functions of protobuf-c's allocator: memory comes from an arena, and is not freed one by one. */
static void *allocate(void *arena, size_t n)
{
    return arena_try(arena, n + (n == 0));
}

static void keep_allocated(void *arena, void *p)
{
    (void)arena;
    (void)p;
}

/* If tensor t has a marker, replaces it by the payload in the file.  map: address that stands for the file's first
 * byte. */
static void restore_tensor(Onnx__TensorProto *t, const struct onnx_skeleton *sk, const uint8_t *map)
{
    if (!t->has_raw_data || t->raw_data.len != ONNX_MARK)
        return;
    const struct onnx_payload *p = &sk->payload[onnx_mark_index(t->raw_data.data)];
    void *at = (void *)(uintptr_t)(map + p->off); /* the messages' pointers are not const */
    if (p->field == ONNX_FIELD_RAW) {
        t->raw_data = (ProtobufCBinaryData){p->len, at};
        return;
    }
    t->has_raw_data = 0;
    t->raw_data = (ProtobufCBinaryData){0, NULL};
    if (p->field == ONNX_FIELD_FLOAT) {
        t->n_float_data = p->len / sizeof(float);
        t->float_data = at;
    } else {
        t->n_double_data = p->len / sizeof(double);
        t->double_data = at;
    }
}

/* Messages that must still be visited. */
struct message_stack {
    ProtobufCMessage **stack;
    uint32_t n, cap;
};

/* Pushes the n messages for a later visit. */
static void push_messages(struct message_stack *w, struct arena *a, ProtobufCMessage *const *msg,
                          size_t n)
{
    w->stack = vec_grow(a, w->stack, &w->cap, w->n + (uint32_t)n, sizeof *w->stack);
    memcpy(w->stack + w->n, msg, n * sizeof *msg);
    w->n += (uint32_t)n;
}

/* Pushes the messages that are fields of msg. */
static void push_inner_messages(struct message_stack *w, struct arena *a,
                                const ProtobufCMessage *msg)
{
    const char *base = (const char *)msg;

    for (unsigned i = 0; i < msg->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *f = &msg->descriptor->fields[i];
        /* quantity: of a list its length; of a field of a oneof the number of the field that is set */
        const void *quantity = base + f->quantifier_offset, *member = base + f->offset;
        if (f->type != PROTOBUF_C_TYPE_MESSAGE)
            continue;
        if (f->label == PROTOBUF_C_LABEL_REPEATED) {
            ProtobufCMessage *const *list;
            size_t n;
            memcpy(&n, quantity, sizeof n);
            memcpy(&list, member, sizeof list);
            if (n > 0)
                push_messages(w, a, list, n);
            continue;
        }
        ProtobufCMessage *one;
        uint32_t which;
        memcpy(&one, member, sizeof one);
        if (f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) {
            memcpy(&which, quantity, sizeof which);
            if (which != f->id)
                one = NULL;
        }
        if (one != NULL)
            push_messages(w, a, &one, 1);
    }
}

/* Calls restore_tensor() for all tensors inside msg. */
static void restore_payloads(ProtobufCMessage *msg, const struct onnx_skeleton *sk,
                             const uint8_t *map, struct arena *tmp)
{
    struct message_stack w = {0};

    push_messages(&w, tmp, &msg, 1);
    while (w.n > 0) {
        ProtobufCMessage *x = w.stack[--w.n];
        if (x->descriptor == &onnx__tensor_proto__descriptor)
            restore_tensor((Onnx__TensorProto *)x, sk, map);
        push_inner_messages(&w, tmp, x);
    }
}

/* Scans and unpacks the model in file f.  Returns its message, in a, with payloads at addresses from f->map on; NULL
 * after an error. */
static Onnx__ModelProto *unpack(const struct file *f, const char *path, struct arena *a,
                                struct diag *d)
{
    ProtobufCAllocator alloc = {allocate, keep_allocated, a};
    struct arena *tmp = arena_new(a);
    struct onnx_skeleton sk;
    Onnx__ModelProto *model = NULL;

    if (onnx_scan(f->fd, f->size, path, tmp, &sk, d) == 0) {
        model = onnx__model_proto__unpack(&alloc, sk.size, sk.bytes);
        if (model == NULL)
            diag_error(d, "%s: protobuf-c refuses the file", path);
        else if (sk.npayload > 0)
            restore_payloads(&model->base, &sk, f->map, tmp);
    }
    arena_free(tmp);
    return model;
}

Onnx__ModelProto *onnx_unpack(const void *bytes, size_t n, const char *path, struct arena *a,
                              struct diag *d)
{
    struct arena *own = arena_new(a); /* first: if this fails, no descriptor is left open */
    struct file f = {.fd = make_memory_file(bytes, n), .size = n, .map = bytes};

    if (f.fd < 0) {
        diag_error(d, "%s: cannot open: %s", path, strerror(errno));
        arena_free(own);
        return NULL;
    }
    arena_defer(own, close_fd, (void *)(intptr_t)f.fd);
    Onnx__ModelProto *model = unpack(&f, path, a, d);
    arena_free(own);
    return model;
}

/* Reads the model into the empty module m.  tmp: for scratch memory.  Returns 0, or -1 and an error. */
static int read_into(struct module *m, const char *path, const struct onnx_options *o,
                     struct arena *tmp, struct diag *d)
{
    struct onnx_build b = {.m = m,
                           .model = m,
                           .d = d,
                           .tmp = tmp,
                           .path = path,
                           .dir = -1,
                           .allow_links = o->allow_links};
    const char *slash = strrchr(path, '/');

    m->path = str_id(m, path);
    b.folder = slash == NULL ? "." : arena_strdup(m->mem, path, (size_t)(slash - path) + 1);
    if (open_file(m, path, o, d) != 0)
        return -1;
    Onnx__ModelProto *model = unpack(&m->file[1], path, m->mem, d);
    if (model == NULL)
        return -1;
    if (model->graph == NULL)
        return diag_error(d, "%s: not an ONNX model: it has no graph", path);
    m->src = model;
    m->ir_version = model->ir_version;
    m->own_about = onnx_about(m, model->doc_string, model->metadata_props, model->n_metadata_props);
    if (onnx_build_model(&b, model) != 0)
        return -1;
    module_note_scopes(m);
    return 0;
}

struct module *onnx_read(const char *path, const struct onnx_options *o, struct arena *of,
                         struct diag *d)
{
    struct module *m = module_new(of, d);
    struct arena *tmp = arena_new(m->mem);
    int bad = read_into(m, path, o, tmp, d);

    arena_free(tmp);
    if (bad != 0) {
        arena_free(m->mem);
        return NULL;
    }
    return m;
}
