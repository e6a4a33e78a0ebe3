/* Writes a split folder: weights, parts, the whole model with the plan in its metadata, pictures, run_split.py,
 * schedule, report and manifest, in this order.  The folder appears under its name when all files are complete
 * (folder.h). */
#include "backends/split/split.h"

#include "backends/split/folder.h"
#include "backends/engines/engines.h"
#include "backends/html/html.h"
#include "backends/onnx/pack.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Whether the message is small enough for a protobuf file, at most 2 GiB. */
static bool fits_protobuf(const Onnx__ModelProto *model)
{
    return protobuf_c_message_get_packed_size(&model->base) <= INT32_MAX;
}

int split_check_room(const struct split *s, uint64_t bytes, const char *what)
{
    struct statfs at;
    char need[UNIT_TEXT], left[UNIT_TEXT];
    if (fstatfs(s->dirfd, &at) || (at.f_type != EXT4_SUPER_MAGIC && at.f_type != TMPFS_MAGIC) ||
        bytes / (uint64_t)at.f_bsize < (uint64_t)at.f_bfree)
        return 0;
    bytes_short(left, (int64_t)((uint64_t)at.f_bfree * (uint64_t)at.f_bsize));
    return diag_error(s->diag,
                      "%s: takes %s, its file system has %s left: make room, or write parts that "
                      "refer to the weights where they are: --weights=original and -o the model's "
                      "own folder",
                      what, bytes_short(need, (int64_t)bytes), left);
}

/* Writes the message as a file of the new folder.  Returns 0, or -1 and an error. */
static int write_model(struct split *s, const Onnx__ModelProto *model, const char *file)
{
    if (!fits_protobuf(model))
        return diag_error(
            s->diag, "%s: takes %zu bytes, more than the 2 GiB of a protobuf file: %s", file,
            protobuf_c_message_get_packed_size(&model->base),
            s->weights.mode == WEIGHTS_INLINE ? "use --weights=shared, or more devices"
                                              : "make the large tensors of its nodes initializers");
    return onnx_pack_file(s->weights.map, s->weights.nmap, model, s->dirfd, file, s->diag);
}

/* Writes model.onnx, the whole model with the plan in its metadata.  If the model would be too large with its weights
 * inside (WEIGHTS_INLINE), its weights go to a file weights.data, which the parts do not use; s->weights.mode is
 * changed for that.  Returns 0, or -1 and an error. */
static int write_whole(struct split *s)
{
    Onnx__ModelProto model;
    part_data_begin(s, s->parts->nparts);
    annotate_model(s, &model);
    if (!s->failed && s->weights.mode == WEIGHTS_INLINE && !fits_protobuf(&model)) {
        diag_note(s->diag,
                  MODEL_FILE " would take more than 2 GiB: its weights are in " WEIGHTS_FILE);
        s->weights.mode = WEIGHTS_SHARED;
        if (weights_plan(s) || weights_write(s))
            return -1;
        annotate_model(s, &model);
    }
    return s->failed || part_data_write(s) ? -1 : write_model(s, &model, MODEL_FILE);
}

/* Writes the model file of each part, with WEIGHTS_PARTS its data file, and the whole model.  Returns 0, or -1 and an
 * error. */
static int write_parts(struct split *s)
{
    Onnx__ModelProto model;
    part_prepare(s);
    for (uint32_t x = 0; x < s->parts->nparts; x++) {
        diag_tell(s->diag, "writing parts", x, s->parts->nparts);
        part_data_begin(s, x);
        if (part_model(s, x, &model) || part_data_write(s) || write_model(s, &model, s->file[x]))
            return -1;
    }
    diag_tell(s->diag, "writing the whole model", 0, 0);
    return write_whole(s);
}

/* The most nodes of a model for which nodes.dot is written; with so many nodes that file has about 40 MB. */
enum { MOST_NODES = 100000 };

/* Draws the devices and the blocks in the formats that the user chose, and, with the format DOT, all nodes.  folder:
 * path of the new folder while it is made.  Returns 0, or -1 and an error. */
static int write_pictures(const struct split *s, const char *folder)
{
    unsigned formats = (unsigned)s->o->pictures & ~(unsigned)PICTURE_HTML;
    if (formats)
        diag_tell(s->diag, "drawing pictures", 0, 0);
    if (pictures_write(s->r, VIEW_DEVICES, formats, arena_fmt(s->a, "%s/plan", folder)) ||
        pictures_write(s->r, VIEW_BLOCKS, formats, arena_fmt(s->a, "%s/blocks", folder)))
        return -1;
    if (!(formats & PICTURE_DOT))
        return 0;
    if (s->m->nnode > MOST_NODES) {
        diag_note(s->diag, "no nodes.dot: the model has %u nodes (-o x.dot --view=nodes writes it)",
                  s->m->nnode - 1);
        return 0;
    }
    return pictures_write(s->r, VIEW_NODES, PICTURE_DOT, arena_fmt(s->a, "%s/nodes", folder));
}

/* For arena_defer(): closes the file of the struct split_file p if it is still open when p's arena is freed. It is
 * still open only if memory ran out. */
static void close_file(void *p)
{
    const struct split_file *f = p;
    if (f->f)
        fclose(f->f);
}

int split_file_open(struct split_file *f, const struct split *s, const char *name)
{
    *f = (struct split_file){.name = name, .diag = s->diag, .own = arena_new(s->a)};
    /* before the file is open, since this call may run out of memory, too */
    arena_defer(f->own, close_file, f);
    int fd = openat(s->dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    f->f = fd < 0 ? NULL : fdopen(fd, "w");
    if (f->f)
        return 0;
    int e = errno;
    if (fd >= 0)
        close(fd);
    arena_free(f->own);
    return diag_error(s->diag, "%s: cannot be made: %s", name, strerror(e));
}

int split_file_close(struct split_file *f)
{
    bool bad = ferror(f->f) != 0;
    bad = fclose(f->f) || bad;
    f->f = NULL;
    arena_free(f->own);
    return bad ? diag_error(f->diag, "%s: %s", f->name, strerror(errno)) : 0;
}

/* Writes run_split.py, the program that runs the parts.  Returns 0, or -1 and an error. */
static int write_runner(const struct split *s)
{
    struct split_file f;
    if (split_file_open(&f, s, RUNNER_FILE))
        return -1;
    fwrite(run_split_text, 1, run_split_size, f.f);
    return split_file_close(&f);
}

/* Writes the files for engines into the new folder f, in which all other files are complete.  Returns 0, or -1 and an
 * error. */
static int write_exports(const struct split *s, const struct folder *f)
{
    struct export_folder x = {.name = f->name,
                              .read_model = s->r->read_model,
                              .at = f->temp,
                              .from = f->dirfd,
                              .to = f->dirfd,
                              .o = &s->o->exports,
                              .a = s->a,
                              .diag = s->diag};
    if (!s->o->exports.engines)
        return 0;
    return export_read(&x) || export_write(&x) ? -1 : 0;
}

/* Returns the options with a mode of weights in place of WEIGHTS_AUTO. */
static struct split_options settle(const struct split_options *o)
{
    struct split_options settled = *o;
    if (o->weights == WEIGHTS_AUTO)
        settled.weights = engines_apart(o->exports.engines) ? WEIGHTS_PARTS : WEIGHTS_SHARED;
    return settled;
}

/* Makes s->a and the temporary folder, and decides where weights go (weights_plan).  Returns 0; or -1 and an error,
 * after removing the folder and freeing s->a. */
static int begin(struct split *s, struct folder *f, const char *folder)
{
    s->src = s->m->src;
    assert(s->src && s->src->graph); /* onnx_make() has made these messages */
    s->a = arena_new(s->m->mem);
    s->sources.beside = sources_beside(s, folder);
    if (folder_begin(f, folder, s->sources.beside, module_str(s->m, s->m->path), s->a, s->diag)) {
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

/* For writer.check: checks before planning that a split can be written to `folder`: the folder can be made or replaced,
 * the files with the needed weights exist, hard links can be made.  Leaves nothing behind.  Returns 0, or -1 and an
 * error. */
static int check_split(const struct module *m, const void *opts, const char *folder, struct diag *d)
{
    const struct split_options o = settle(opts);
    struct split s = {.m = m, .o = &o, .diag = d, .weights.mode = (enum weights_mode)o.weights};
    struct folder f;
    engines_check_options(&o.exports, d);
    if (begin(&s, &f, folder))
        return -1;
    int rc = sources_check(&s, folder);
    folder_abort(&f);
    arena_free(s.a);
    return rc;
}

int split_write(const struct result *r, const struct split_options *opts, const char *folder)
{
    const struct split_options o = settle(opts);
    struct split s = {.r = r,
                      .o = &o,
                      .m = r->scene.m,
                      .parts = r->parts,
                      .diag = r->diag,
                      .weights.mode = (enum weights_mode)o.weights};
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
    part_data_prepare(&s);
    int rc = sources_bring(&s, folder);
    if (!rc)
        rc = weights_write(&s);
    if (!rc)
        rc = write_parts(&s);
    if (!rc)
        rc = write_pictures(&s, f.temp);
    if (!rc)
        rc = diag_broken_off(s.diag);
    if (!rc)
        rc = write_runner(&s);
    if (!rc) {
        diag_tell(s.diag, "writing the schedule", 0, 0);
        rc = split_schedule(&s);
    }
    if (!rc)
        rc = schedule_write(&s);
    if (!rc && o.pictures & PICTURE_HTML) /* now s.r has the memory that the schedule needs */
        rc = html_write(s.r, arena_fmt(s.a, "%s/" REPORT_FILE, f.temp));
    if (!rc)
        rc = manifest_write(&s);
    if (!rc)
        rc = write_exports(&s, &f);
    if (!rc)
        rc = diag_broken_off(s.diag);
    if (!rc)
        rc = folder_commit(&f);
    else
        folder_abort(&f);
    arena_free(s.a);
    return rc ? -1 : 0;
}

/* For writer.write: calls split_write(); opts: a struct split_options. */
static int write_split(const struct result *r, const void *opts, const char *folder)
{
    return split_write(r, opts, folder);
}

const char *const weights_mode_names[] = {"shared", "parts", "inline", "original",
                                          "link",   "auto",  NULL};

static const struct writer_opt weights_option = {
    .opt =
        {OPT_CHOICE, "weights", offsetof(struct split_options, weights), "auto",
         .names = weights_mode_names,
         .help =
             "of a split: in weights.data, in a file for each part, in the parts, where they are, or "
             "in hard links (default: auto: shared, or parts where --for needs it)"},
    .unused = "is for a split: give its folder with -o",
    .strict = true};
static const struct writer_opt pictures_option = {
    .opt = {OPT_SET, "pictures", offsetof(struct split_options, pictures), "svg",
            .names = picture_formats,
            .help = "formats of the pictures in a folder: svg,pdf,png,dot,html (default: svg)"},
    .unused = "these pictures go into the folder of a split (-o)"};

static const struct writer_opt for_option = {
    .opt = {OPT_SET, "for", offsetof(struct split_options, exports.engines), "none",
            .names = engine_names,
            .help =
                "engines for which a folder, also one that is there, gets files (docs/engines.md)"},
    .unused = "is for a split: give its folder with -o, or, if it is there, in place of the model",
    .strict = true};
static const struct writer_opt genai_base_option = {
    .opt =
        {OPT_TEXT, "genai-base", offsetof(struct split_options, exports.genai_base), "",
         .arg = "FILE",
         .help =
             "the model's own genai_config.json, for --for=genai: token ids, context length, search"},
    .unused = "is for --for=genai"};
static const struct writer_opt hosts_option = {
    .opt = {OPT_TEXT, "hosts", offsetof(struct split_options, exports.hosts), "", .arg = "A,B",
            .help =
                "machines for --for=mpi, which share the devices in order (default: localhost)"},
    .unused = "is for --for=mpi"};
static const struct writer_opt triton_batch_option = {
    .opt = {OPT_INT, "triton-batch", offsetof(struct split_options, exports.triton_batch), "0",
            .lo = "0", .hi = "1048576",
            .help = "samples that Triton may put into one request (default: 0: it changes none)"},
    .unused = "is for --for=triton"};

const struct writer writer_split = {
    .name = "split",
    .has_model = true,
    .needs = WRITER_NEEDS_PLAN,
    .opts = (const struct writer_opt *const[]){&pictures_option, &weights_option, &annotate_option,
                                               &for_option, &hosts_option, &triton_batch_option,
                                               &genai_base_option, NULL},
    .optsize = sizeof(struct split_options),
    .check = check_split,
    .write = write_split};
