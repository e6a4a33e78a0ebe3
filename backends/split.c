/* The split folder: weights, parts, the annotated whole, pictures, manifest, in this
 * order, into a folder that takes its place when all of it is there. */
#include "backends/split.h"

#include "backends/folder.h"
#include "backends/onnx_pack.h"

#include <string.h>
#include <unistd.h>

enum { LAYOUT_SECONDS = 20, MOST_BOXES = 400 }; /* more are no picture, and dot takes minutes */

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
    for (uint32_t x = 0; x < s->cut->nparts; x++)
        if (part_model(s, x, &model) || write_model(s, &model, s->file[x]))
            return -1;
    return write_whole(s);
}

/* A picture that cannot be laid out is no reason to fail: its errors become warnings. */
static void soften(void *user, enum diag_level level, enum warning w, const char *line)
{
    struct diag *d = user;
    if (level == DIAG_NOTE)
        diag_note(d, "%s", line);
    else
        diag_warning(d, w ? w : WARN_PICTURE, "%s", line);
}

static int write_pictures(struct split *s, const char *folder)
{
    static const char *const name[] = {"plan", "blocks"};
    struct diag soft = {.emit = soften, .user = s->diag};
    for (int blocks = 0; blocks < 2; blocks++) {
        const char *dot = arena_fmt(s->a, "%s/%s.dot", folder, name[blocks]);
        const char *svg = arena_fmt(s->a, "%s/%s.svg", folder, name[blocks]);
        if (dot_write(s->r, blocks, dot))
            return -1;
        uint32_t boxes = dot_boxes(s->r, blocks);
        if (boxes > MOST_BOXES)
            diag_note(s->diag, "no %s.svg: %u boxes are more than one can look at; %s.dot has them",
                      name[blocks], boxes, name[blocks]);
        else if (dot_layout(dot, svg, LAYOUT_SECONDS, &soft))
            unlink(svg);
    }
    return 0;
}

int split_write(const struct result *r, const char *folder)
{
    const Onnx__ModelProto *src = r->m->src;
    struct split s = {
        .r = r, .m = r->m, .cut = r->cut, .src = src, .diag = r->diag, .mode = r->weights};
    struct folder f;
    if (!src || !src->graph)
        return diag_error(r->diag, "%s: a split folder needs a model that was read from ONNX",
                          folder);
    if (!r->cut || !r->plan || !r->verdict || !r->m->cost)
        return diag_error(r->diag, "%s: a split folder needs a plan that gives every node a device",
                          folder);
    s.a = arena_new();
    s.beside = sources_beside(&s, folder);
    if (folder_begin(&f, folder, s.beside, s.a, r->diag)) {
        arena_free(s.a);
        return -1;
    }
    s.dirfd = f.dirfd;
    s.file = arena_array(s.a, s.cut->nparts, sizeof *s.file);
    s.unchecked = arena_alloc(s.a, s.cut->nparts);
    for (uint32_t x = 0; x < s.cut->nparts; x++)
        s.file[x] = cut_part_file(s.cut, x, s.a);
    int rc = weights_plan(&s);
    if (!rc)
        rc = sources_link(&s, folder);
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
