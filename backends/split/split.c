/* The split folder: weights, parts, the annotated whole, pictures, manifest, in this
 * order, into a folder that takes its place when all of it is there. */
#include "backends/split/split.h"

#include "backends/split/folder.h"
#include "backends/onnx/pack.h"

/* Whether a protobuf file can hold the message. */
static bool holds(const Onnx__ModelProto *model)
{
    return protobuf_c_message_get_packed_size(&model->base) <= INT32_MAX;
}

static int write_model(struct split *s, const Onnx__ModelProto *model, const char *file)
{
    if (!holds(model))
        return diag_error(
            s->diag, "%s: takes %zu bytes, more than the 2 GiB of a protobuf file: %s", file,
            protobuf_c_message_get_packed_size(&model->base),
            s->mode == WEIGHTS_INLINE ? "use --weights=shared, or more devices"
                                      : "make the large tensors of its nodes initializers");
    return onnx_pack_file(s->map, s->nmap, model, s->dirfd, file, s->diag);
}

/* The annotated whole.  One that cannot hold all weights refers to a weights.data of its own. */
static int write_whole(struct split *s)
{
    Onnx__ModelProto model;
    annotate_model(s, &model);
    if (!s->failed && s->mode == WEIGHTS_INLINE && !holds(&model)) {
        diag_note(s->diag,
                  MODEL_FILE " would take more than 2 GiB: its weights are in " WEIGHTS_FILE);
        s->mode = WEIGHTS_SHARED;
        if (weights_plan(s) || weights_write(s))
            return -1;
        annotate_model(s, &model);
    }
    return s->failed ? -1 : write_model(s, &model, MODEL_FILE);
}

static int write_parts(struct split *s)
{
    Onnx__ModelProto model;
    part_prepare(s);
    for (uint32_t x = 0; x < s->parts->nparts; x++)
        if (part_model(s, x, &model) || write_model(s, &model, s->file[x]))
            return -1;
    return write_whole(s);
}

enum { MOST_NODES = 100000 }; /* in nodes.dot: some 40 MB */

static int write_pictures(const struct split *s, const char *folder)
{
    struct result dot_only = *s->r;
    dot_only.pictures = 0;
    if (pictures_write(s->r, VIEW_DEVICES, arena_fmt(s->a, "%s/plan", folder)) ||
        pictures_write(s->r, VIEW_BLOCKS, arena_fmt(s->a, "%s/blocks", folder)))
        return -1;
    if (s->m->nnode > MOST_NODES) {
        diag_note(s->diag, "no nodes.dot: the model has %u nodes (-o x.dot --view=nodes writes it)",
                  s->m->nnode - 1);
        return 0;
    }
    return pictures_write(&dot_only, VIEW_NODES, arena_fmt(s->a, "%s/nodes", folder));
}

/* Opens the new folder and decides where weights go; 0, or -1 and nothing is left. */
static int begin(struct split *s, struct folder *f, const char *folder)
{
    s->src = s->m->src;
    if (!s->src || !s->src->graph)
        return diag_error(s->diag, "%s: a split folder needs a model that was read from ONNX",
                          folder);
    s->a = arena_new();
    s->beside = sources_beside(s, folder);
    if (folder_begin(f, folder, s->beside, s->a, s->diag)) {
        arena_free(s->a);
        return -1;
    }
    s->dirfd = f->dirfd;
    if (weights_plan(s) == 0)
        return 0;
    folder_abort(f);
    arena_free(s->a);
    return -1;
}

int split_check(const struct module *m, enum weights_mode weights, const char *folder,
                struct diag *d)
{
    struct split s = {.m = m, .diag = d, .mode = weights};
    struct folder f;
    if (begin(&s, &f, folder))
        return -1;
    int rc = sources_check(&s, folder);
    folder_abort(&f);
    arena_free(s.a);
    return rc;
}

int split_write(const struct result *r, const char *folder)
{
    struct split s = {
        .r = r, .m = r->scene.m, .parts = r->parts, .diag = r->diag, .mode = r->weights};
    struct folder f;
    if (!r->parts || !r->plan || !r->verdict || !r->scene.m->cost)
        return diag_error(r->diag, "%s: a split folder needs a plan that gives every node a device",
                          folder);
    if (begin(&s, &f, folder))
        return -1;
    s.file = arena_array(s.a, s.parts->nparts, sizeof *s.file);
    s.unchecked = arena_alloc(s.a, s.parts->nparts);
    for (uint32_t x = 0; x < s.parts->nparts; x++)
        s.file[x] = part_file(s.parts, x, s.a);
    int rc = sources_bring(&s, folder);
    if (!rc)
        rc = weights_write(&s);
    if (!rc)
        rc = write_parts(&s);
    if (!rc)
        rc = write_pictures(&s, f.temp);
    if (!rc)
        rc = manifest_write(&s);
    if (!rc)
        rc = folder_commit(&f);
    else
        folder_abort(&f);
    arena_free(s.a);
    return rc ? -1 : 0;
}
