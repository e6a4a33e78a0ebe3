/* Puts the parts of a split together to the model that was split: pcc split/ -o whole.onnx.
 *
 * The parts are read as any model is, by the reader that trusts no file; their messages are joined (whole_graph.c), and
 * written with the weights in a file of their own beside the model.  The parts are checked against the manifest.
 * O(messages + bytes of weights); memory for the messages, but not for weights. */
#include "tools/lib/recompose/recompose.h"

#include "frontends/frontends.h"
#include "backends/onnx/pack.h"
#include "backends/split/folder.h"
#include "ir/base/infile.h"
#include "ir/base/json_in.h"
#include "ir/base/outfile.h"
#include "tools/lib/recompose/whole.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns the folder of a file, in a: its path up to the last slash; "." if it has none. */
static const char *folder_of(const char *path, struct arena *a)
{
    const char *slash = strrchr(path, '/');
    return slash ? arena_strdup(a, path, (size_t)(slash - path) + 1) : ".";
}

/* Whether the folder `path` is the open folder fd or lies below it. */
static bool is_below(const char *path, int fd)
{
    struct stat root, here = {0}, above;
    int at = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool found = false, more = at >= 0 && !fstat(fd, &root) && !fstat(at, &here);
    /* goes up folder by folder, until the folder fd is met or a folder is its own parent: the root */
    while (more) {
        found = here.st_dev == root.st_dev && here.st_ino == root.st_ino;
        int up = found ? -1 : openat(at, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        close(at);
        at = up;
        more = up >= 0 && !fstat(up, &above) &&
               (above.st_dev != here.st_dev || above.st_ino != here.st_ino);
        here = above;
    }
    if (at >= 0)
        close(at);
    return found;
}

/* Whether `path` leads to the same file (device and inode) as an entry of the open folder fd, under any name. */
static bool is_file_of(const char *path, int fd)
{
    struct stat st, other;
    int again = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = again >= 0 ? fdopendir(again) : NULL;
    bool found = false;
    if (again >= 0 && !dir)
        close(again);
    bool there = stat(path, &st) == 0;
    for (struct dirent *e; dir && there && !found && (e = readdir(dir));)
        found = fstatat(fd, e->d_name, &other, 0) == 0 && other.st_dev == st.st_dev &&
                other.st_ino == st.st_ino;
    if (dir)
        closedir(dir);
    return found;
}

/* Checks that the new files would replace no file of the split, and lie outside of its folder.  Returns 0, or -1 and an
 * error. */
static int check_place(const struct whole *w, const char *path, const char *data)
{
    if (is_below(folder_of(path, w->a), w->x.from))
        return diag_error(w->diag,
                          "-o %s: lies in the split %s itself: expected a file outside of it", path,
                          w->x.name);
    if (is_file_of(path, w->x.from) || is_file_of(data, w->x.from))
        return diag_error(w->diag, "-o %s: %s is a file of the split %s: expected another file",
                          path, is_file_of(path, w->x.from) ? path : data, w->x.name);
    return 0;
}

/* Reads the model `file` of the folder into *s.  Returns 0, or -1 and an error. */
static int read_source(struct whole *w, const char *file, struct source *s)
{
    struct onnx_options o = {.allow_links = w->links};
    s->file = file;
    s->path = arena_fmt(w->a, "%s/%s", w->x.name, file);
    s->m = onnx_read(s->path, &o, w->a, w->diag);
    s->model = s->m ? (void *)(uintptr_t)s->m->src : NULL;
    return s->m ? 0 : -1;
}

/* Reads model.onnx if an output of the model is a weight that no part has.  Returns 0, or -1 and an error. */
static int read_original(struct whole *w)
{
    const char *file = json_get_text(json_object_get(w->x.manifest, "model"), "file");
    const json_t *row;
    size_t i;
    json_array_foreach(json_object_get(w->x.manifest, "outputs"), i, row)
    {
        const char *from = json_get_text(row, "from");
        if (!from || strcmp(from, "weights") != 0 || w->original.m)
            continue;
        if (!file || *file == '.' || strchr(file, '/') || faccessat(w->x.from, file, R_OK, 0))
            return diag_error(
                w->diag,
                "%s: output '%s' is a weight that no part has: that needs %s, which is "
                "not there",
                w->x.name, json_get_text(row, "name"), file ? file : MODEL_FILE);
        if (read_source(w, file, &w->original))
            return -1;
    }
    return 0;
}

/* Reads the parts.  Returns 0, or -1 and an error. */
static int read_parts(struct whole *w)
{
    const json_t *parts = json_object_get(w->x.manifest, "parts"), *row;
    size_t i;
    w->part = arena_array(w->a, json_array_size(parts) + 1, sizeof *w->part);
    json_array_foreach(parts, i, row)
    {
        diag_tell(w->diag, "reading parts", i, json_array_size(parts));
        w->part[w->npart].row = row;
        if (read_source(w, json_get_text(row, "file"), &w->part[w->npart++]))
            return -1;
    }
    return read_original(w);
}

/* Returns the mappings (pack.h) of the files of all parts and of the original, in which the bytes of messages lie;
 * writes their number to *n.  Of each of them only the model's file has a mapping. */
static struct mapping *list_mappings(const struct whole *w, uint32_t *n)
{
    struct mapping *list = arena_array(w->a, (size_t)w->npart + 1, sizeof *list);
    *n = 0;
    for (uint32_t x = 0; x <= w->npart; x++) {
        const struct module *m = x < w->npart ? w->part[x].m : w->original.m;
        for (uint32_t k = 1; m && k < m->nfile; k++)
            if (m->file[k].map)
                list[(*n)++] = (struct mapping){m->file[k].map, m->file[k].size, m->file[k].fd};
    }
    mappings_sort(list, *n);
    return list;
}

/* Writes the joined model to `path` and its weights to `data`.  Returns 0, or -1 and an error. */
static int write_files(struct whole *w, const char *path, const char *data)
{
    struct outfile model, weights = {0};
    uint32_t n;
    const struct mapping *map = list_mappings(w, &n);
    if (protobuf_c_message_get_packed_size(&w->model.base) > INT32_MAX)
        return diag_error(w->diag,
                          "%s: takes more than the 2 GiB of a protobuf file: make the large "
                          "tensors of its nodes initializers",
                          path);
    if (outfile_open(&model, path, w->a, w->diag))
        return -1;
    bool bad = w->size && outfile_open(&weights, data, w->a, w->diag);
    bool has_data = w->size && !bad;
    bad = bad || (has_data && whole_write_data(w, fileno(weights.f), data)) ||
          onnx_pack_to(map, n, &w->model, fileno(model.f), path, w->diag);
    return has_data ? outfile_close_both(&model, &weights, !bad) : outfile_close(&model, !bad);
}

/* Does the work of recompose() with the folder open and *w begun.  Returns 0, or -1 and an error. */
static int put_together(struct whole *w, const char *path, const char *data)
{
    const char *slash = strrchr(data, '/');
    if (export_read(&w->x) || check_place(w, path, data) || read_parts(w))
        return -1;
    /* state_pieces() sets "whole" if parts have pieces of states */
    if (json_object_get(w->x.manifest, "whole"))
        diag_note(
            w->diag,
            "%s: states are in pieces, NAME@0, NAME@1, ...: so they are inputs and outputs of "
            "%s; \"sharding\" of %s/manifest.json says how to cut and join them",
            w->x.name, path, w->x.name);
    whole_list_tensors(w);
    if (whole_join(w) || whole_border(w) || whole_place(w, slash ? slash + 1 : data))
        return -1;
    return write_files(w, path, data);
}

int recompose(const char *folder, const char *path, bool links, struct recomposed *out,
              struct arena *a, struct diag *d)
{
    size_t n = strlen(folder);
    while (n > 1 && folder[n - 1] == '/')
        n--;
    struct arena *own = arena_new(a);
    const char *name = arena_strdup(own, folder, n), *data = arena_fmt(a, "%s.data", path);
    struct whole w = {.x = {.name = name, .at = name, .a = own, .diag = d},
                      .manifest = arena_fmt(own, "%s/" MANIFEST_FILE, name),
                      .links = links,
                      .a = own,
                      .diag = d};
    w.x.from = w.x.to = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = w.x.from < 0 ? diag_error(d, "%s: %s", folder, strerror(errno)) : 0;
    if (!rc)
        arena_defer(own, folder_close_descriptor, (void *)(intptr_t)w.x.from);
    if (!rc && faccessat(w.x.from, MANIFEST_FILE, F_OK, 0))
        rc = diag_error(d,
                        "%s: is a folder without " MANIFEST_FILE
                        ": expected a model or the folder of a split",
                        folder);
    if (!rc) {
        d->may_break_off = true;
        rc = put_together(&w, path, data);
        d->may_break_off = false;
        diag_tell(d, NULL, 0, 0);
    }
    *out = (struct recomposed){
        .nodes = w.node.n, .parts = w.npart, .data = w.size ? data : NULL, .bytes = w.size};
    arena_free(own);
    return rc ? -1 : 0;
}
