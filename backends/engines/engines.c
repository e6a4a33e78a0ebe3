/* Has the table of engines, and makes exports: all engines are asked before the first file is made (engines.h).
 * O(bytes of the manifest + bytes that are copied). */
#include "backends/engines/engines.h"

#include "backends/onnx/pack.h"
#include "ir/base/infile.h"
#include "ir/base/json_in.h"
#include "ir/base/json_out.h"
#include "ir/base/memory.h"
#include "ir/cluster/presets.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern const struct engine_kind engine_genai, engine_mpi, engine_olive, engine_openvino, engine_ray,
    engine_tensorrt, engine_triton, engine_web;

/* All engines, in the order of their names in engine_names[]. */
static const struct engine_kind *const engine_table[] = {
    &engine_genai, &engine_mpi,      &engine_olive,  &engine_openvino,
    &engine_ray,   &engine_tensorrt, &engine_triton, &engine_web};
const char *const engine_names[] = {"genai",    "mpi",    "olive", "openvino", "ray",
                                    "tensorrt", "triton", "web",   NULL};

enum { ENGINES = sizeof engine_table / sizeof *engine_table };

bool engines_apart(int64_t engines)
{
    for (int k = 0; k < ENGINES; k++)
        if (engines >> k & 1 && engine_table[k]->apart)
            return true;
    return false;
}

int64_t engines_part_cost(const char *words, const char **name)
{
    int64_t most = 0;
    for (size_t n; *words; words += n + (words[n] == ',')) {
        n = strcspn(words, ","); /* words[0 .. n) is one word of the list */
        for (int k = 0; k < ENGINES; k++) {
            const struct engine_kind *e = engine_table[k];
            if (strncmp(e->name, words, n) != 0 || e->name[n] || e->part_cost <= most)
                continue;
            most = e->part_cost;
            *name = e->name;
        }
    }
    return most;
}

/* Whether the user asks for the engine e. */
static bool is_wanted(const struct export_options *o, const struct engine_kind *e)
{
    bool wanted = false;
    for (int k = 0; k < ENGINES; k++)
        wanted = wanted || (o->engines >> k & 1 && engine_table[k] == e);
    return wanted;
}

void engines_check_options(const struct export_options *o, struct diag *d)
{
    if (o->triton_batch && !is_wanted(o, &engine_triton))
        diag_warning(d, WARN_UNUSED_OPTION, "--triton-batch has no effect: it is for --for=triton");
    if (o->hosts && *o->hosts && !is_wanted(o, &engine_mpi))
        diag_warning(d, WARN_UNUSED_OPTION, "--hosts has no effect: it is for --for=mpi");
    if (o->genai_base && *o->genai_base && !is_wanted(o, &engine_genai))
        diag_warning(d, WARN_UNUSED_OPTION, "--genai-base has no effect: it is for --for=genai");
}

/* Adds a file to the list of the current export (x->file), and counts it in x->nmade. */
static void add_file(struct export_folder *x, const char *path)
{
    x->file = vec_grow(x->a, x->file, &x->capfile, x->nfile + 1, sizeof *x->file);
    x->file[x->nfile++] = path;
    x->nmade++;
}

int export_dir(struct export_folder *x, const char *path)
{
    return mkdirat(x->to, path, 0777)
               ? diag_error(x->diag, "%s/%s: cannot be made: %s", x->name, path, strerror(errno))
               : 0;
}

/* Creates the file `path`, which must be new.  Returns a descriptor, or -1 and an error. */
static int create_file(struct export_folder *x, const char *path)
{
    int fd = openat(x->to, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    return fd < 0 ? diag_error(x->diag, "%s/%s: cannot be made: %s", x->name, path, strerror(errno))
                  : fd;
}

/* Closes fd, the descriptor of the file `path`.  rc: 0 if writing the file succeeded; else -1, and its error was
 * reported.  Returns 0 if both writing and closing succeeded, else -1; a failure to close is reported here. */
static int close_file(struct export_folder *x, int fd, const char *path, int rc)
{
    if (close(fd) && !rc)
        rc = diag_error(x->diag, "%s/%s: %s", x->name, path, strerror(errno));
    return rc ? -1 : 0;
}

int export_bytes(struct export_folder *x, const char *path, const unsigned char *bytes, size_t n)
{
    int fd = create_file(x, path);
    if (fd < 0)
        return -1;
    add_file(x, path);
    return close_file(x, fd, path, write_bytes(fd, bytes, n, path, x->diag));
}

int export_text(struct export_folder *x, const char *path, const char *text)
{
    return export_bytes(x, path, (const unsigned char *)text, strlen(text));
}

int export_copy(struct export_folder *x, const char *file, const char *path)
{
    uint64_t size = 0, links;
    int in = infile_open_beneath(x->from, file, /*links=*/false, x->a);
    const char *wrong = in < 0 ? strerror(errno) : infile_wrong(in, INFILE_DATA, &size, &links);
    int out = wrong ? diag_error(x->diag, "%s/%s: %s", x->name, file, wrong) : create_file(x, path);
    int rc = out < 0 ? -1 : copy_bytes(in, 0, size, out, path, x->diag);
    add_file(x, path); /* also after an error, as a file may have been begun */
    if (out >= 0)
        rc = close_file(x, out, path, rc);
    if (in >= 0)
        close(in);
    return rc;
}

struct module *export_model(const struct export_folder *x, const char *engine, const char *file,
                            struct arena *of)
{
    if (x->read_model && file && !strchr(file, '/'))
        return x->read_model(arena_fmt(of, "%s/%s", x->at, file), of, x->diag);
    diag_error(x->diag, "%s: --for=%s: %s cannot be read here", x->name, engine,
               file ? file : "the whole model");
    return NULL;
}

int64_t export_gpu(const struct export_folder *x, const char *device)
{
    return (int64_t)names_get(&x->gpu, device, 0) - 1;
}

/* Checks that `device`, which runs the part `file`, is a CPU, or a GPU that is made by NVIDIA or whose maker is
 * unknown.  Returns 0, or -1 and an error. */
static int check_device(const struct export_folder *x, const char *engine, const char *file,
                        const char *device)
{
    const json_t *devices = json_object_get(x->manifest, "devices");
    uint32_t row = names_get(&x->device, device, 0); /* not 0: export_read() has checked the name */
    const char *class = json_get_text(json_array_get(devices, row - 1), "class");
    if (strncmp(device, "acc", 3) != 0) /* CPUs have other names: cpu0 */
        return 0;
    if (export_gpu(x, device) < 0)
        return diag_error(x->diag,
                          "%s: --for=%s: %s runs on %s, an NPU: expected GPUs and CPUs alone",
                          x->name, engine, file, device);
    if (class && preset_is_other_gpu(class, NVIDIA))
        return diag_error(x->diag,
                          "%s: --for=%s: %s runs on %s, of class %s: expected GPUs of NVIDIA and "
                          "CPUs alone",
                          x->name, engine, file, device, class);
    return 0;
}

int export_check_devices(const struct export_folder *x, const char *engine, const json_t *part)
{
    const json_t *replicas = json_object_get(part, "replicas");
    /* first the part's own device, then those of its replicas */
    for (size_t i = 0; i <= json_array_size(replicas); i++) {
        const json_t *name = i ? json_array_get(replicas, i - 1) : json_object_get(part, "device");
        if (check_device(x, engine, json_get_text(part, "file"), json_string_value(name)))
            return -1;
    }
    return 0;
}

const char *export_shared_weights(const struct export_folder *x)
{
    const json_t *weights = json_object_get(x->manifest, "weights");
    const char *mode = json_get_text(weights, "mode");
    const char *file = json_string_value(json_array_get(json_object_get(weights, "files"), 0));
    return mode && (!strcmp(mode, "parts") || !strcmp(mode, "inline")) ? NULL : file;
}

/* Returns the text of a row for the manifest's "exports", in x->a: engine e and the files x->file, which were made
 * for the engine.  NULL after an error. */
static const char *row_text(struct export_folder *x, const struct engine_kind *e)
{
    struct memory m;
    memory_begin(&m, x->a);
    struct json_out o = {.f = m.f};
    if (m.f) {
        json_open(&o, NULL, '{', JSON_ROW);
        json_text(&o, "engine", e->name);
        json_text(&o, "verified_with", e->verified_with);
        json_open(&o, "files", '[', JSON_ROW);
        for (uint32_t i = 0; i < x->nfile; i++)
            json_text(&o, NULL, x->file[i]);
        json_close(&o, JSON_ROW);
        json_close(&o, JSON_ROW);
    }
    return memory_end(&m, /*ok=*/true, "the list of exports", x->a, x->diag);
}

/* If devices keep states in pieces, notes that users of engine e's files give and take the pieces.  Returns 0; or -1
 * and an error, if the engine cannot run a split with pieces. */
static int check_pieces(const struct export_folder *x, const struct engine_kind *e)
{
    const json_t *states = json_object_get(json_object_get(x->manifest, "sharding"), "states");
    const json_t *first = json_array_get(states, 0);
    const char *in = json_get_text(first, "in"), *out = json_get_text(first, "out");
    const char *piece = json_get_text(json_array_get(json_object_get(first, "pieces"), 0), "in");
    if (json_array_size(states) == 0 || e->pieces == PIECES_JOINED)
        return 0;
    if (e->pieces == PIECES_REFUSED)
        return diag_error(x->diag,
                          "%s: --for=%s: devices keep '%s' in pieces, which this engine's files "
                          "cannot cut and join: keep states whole (--state %s=%s, ...)",
                          x->name, e->name, in, in, out);
    diag_note(x->diag,
              "%s: --for=%s: states are in pieces: give and take '%s', ... in place of '%s', as "
              "\"sharding\" of manifest.json says",
              x->name, e->name, piece, in);
    return 0;
}

int export_write(struct export_folder *x)
{
    struct export_row row[ENGINES];
    const char *path = arena_fmt(x->a, "%s/manifest.json", x->name);
    uint32_t n = 0;
    for (int k = 0; k < ENGINES; k++)
        if (x->o->engines >> k & 1 &&
            (check_pieces(x, engine_table[k]) || engine_table[k]->check(x)))
            return -1;
    for (int k = 0; k < ENGINES; k++) {
        x->nfile = 0;
        if (!(x->o->engines >> k & 1))
            continue;
        diag_tell(x->diag, "writing files for engines", 0, 0);
        row[n] = (struct export_row){.engine = engine_table[k]->name};
        if (engine_table[k]->write(x) || !(row[n++].json = row_text(x, engine_table[k])))
            return -1;
    }
    const char *text = exports_put(x->text, path, row, n, x->a, x->diag);
    /* with the engine "" a row replaces no older row; so x->both lists the old exports, too */
    for (uint32_t i = 0; i < n; i++)
        row[i].engine = "";
    x->both = text ? exports_put(x->text, path, row, n, x->a, x->diag) : NULL;
    if (!x->both)
        return -1;
    if (unlinkat(x->to, "manifest.json", 0) && errno != ENOENT)
        return diag_error(x->diag, "%s: %s", path, strerror(errno));
    uint32_t made = x->nmade;
    int rc = export_text(x, "manifest.json", text);
    x->nmade = made; /* export_text() has counted the manifest, which belongs to no export */
    return rc;
}
