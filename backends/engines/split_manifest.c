/* Reads a folder's manifest for exports (export_read; backends/split/manifest.md has the form).
 *
 * Everything that engines read of the manifest is checked here once, so that the engines' code need not check it
 * again: "inputs" and "outputs" are lists of objects whose "name" is in "values"; each of "parts" has a "file" and
 * perhaps "data", which are files of the folder, a "device" of "devices", and lists "inputs" and "outputs" of names
 * in "values"; what a part reads is an input of the model or made by a part before it.  O(bytes). */
#include "backends/engines/engines.h"

#include "ir/base/infile.h"
#include "ir/base/json_in.h"
#include "ir/base/name_table.h"
#include "ir/cluster/presets.h"
#include "ir/plan/state_pieces.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* What the check of a manifest knows so far. */
struct checker {
    const struct export_folder *x;
    const char *path; /* of the manifest, for messages */
    /* values that the next part may read: inputs of the model, outputs of the parts that were checked */
    struct names made;
    struct names device; /* name of a device -> 1 + its row in "devices" */
    struct names gpu;    /* as in struct export_folder */
};

/* Checks that the JSON text `name` names a tensor of the manifest's "values".  where: the file of the part or the list
 * that has the name, for the error.  Returns the name; NULL after an error. */
static const char *check_value(const struct checker *c, const json_t *name, const char *where)
{
    const char *text = json_string_value(name);
    if (text && json_is_object(json_object_get(json_object_get(c->x->manifest, "values"), text)))
        return text;
    diag_error(c->x->diag, "%s: %s: expected a tensor of \"values\", found '%s'", c->path, where,
               text ? text : "no text");
    return NULL;
}

/* Checks the rows of the manifest's list `key`, "inputs" or "outputs" of the model, and adds inputs to c->made.
 * Returns 0, or -1 and an error. */
static int check_border(struct checker *c, const char *key)
{
    const json_t *all = json_object_get(c->x->manifest, key);
    size_t i;
    json_t *row;
    if (!json_is_array(all))
        return diag_error(c->x->diag, "%s: expected a list \"%s\"", c->path, key);
    json_array_foreach(all, i, row)
    {
        const char *name = check_value(c, json_object_get(row, "name"), key);
        if (!name)
            return -1;
        if (!strcmp(key, "inputs"))
            names_add(&c->made, name, 1);
    }
    return 0;
}

/* Checks that `file` is the name of a file of the folder.  Returns 0, or -1 and an error. */
static int check_file(const struct checker *c, const char *file)
{
    struct stat st;
    if (!file || !*file || *file == '.' || strchr(file, '/'))
        return diag_error(c->x->diag,
                          "%s: parts: expected the name of a file of the folder, "
                          "found '%s'",
                          c->path, file ? file : "no text");
    if (fstatat(c->x->from, file, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
        return diag_error(c->x->diag, "%s/%s: there is no such file, but %s lists it", c->x->name,
                          file, c->path);
    return 0;
}

/* Checks a part's list `key`: "inputs" must be values that are in c->made; "outputs" must not, and are added to it.
 * Returns 0, or -1 and an error. */
static int check_side(struct checker *c, const json_t *part, const char *key)
{
    const char *file = json_get_text(part, "file");
    const json_t *list = json_object_get(part, key);
    bool reads = !strcmp(key, "inputs");
    size_t i;
    json_t *row;
    if (!json_is_array(list))
        return diag_error(c->x->diag, "%s: %s: expected a list \"%s\"", c->path, file, key);
    json_array_foreach(list, i, row)
    {
        const char *name = check_value(c, row, file);
        if (!name)
            return -1;
        if ((names_get(&c->made, name, 0) != 0) != reads)
            return diag_error(c->x->diag, "%s: %s: '%s' is %s", c->path, file, name,
                              reads ? "read before a part makes it" : "made twice");
        names_add(&c->made, name, 1);
    }
    return 0;
}

/* Checks that `device` of the part `file` is the name of one of the manifest's devices.  Returns 0, or -1 and an
 * error. */
static int check_device(const struct checker *c, const json_t *device, const char *file)
{
    const char *name = json_string_value(device);
    if (name && names_get(&c->device, name, 0))
        return 0;
    return diag_error(c->x->diag, "%s: %s: expected a device of \"devices\", found '%s'", c->path,
                      file, name ? name : "no text");
}

/* Checks a row of "parts": the files of the part, its device, the devices of its replicas, its inputs and outputs.
 * Returns 0, or -1 and an error. */
static int check_part(struct checker *c, const json_t *part)
{
    const char *file = json_get_text(part, "file");
    const json_t *data = json_object_get(part, "data");
    size_t i;
    json_t *row;
    if (check_file(c, file) || (data && check_file(c, json_string_value(data))) ||
        check_device(c, json_object_get(part, "device"), file))
        return -1;
    json_array_foreach(json_object_get(part, "replicas"), i, row)
    {
        if (check_device(c, row, file))
            return -1;
    }
    return check_side(c, part, "inputs") || check_side(c, part, "outputs") ? -1 : 0;
}

/* Checks "devices", and fills c->device and c->gpu.  Returns 0, or -1 and an error. */
static int check_devices(struct checker *c)
{
    const json_t *devices = json_object_get(c->x->manifest, "devices");
    size_t n = json_array_size(devices);
    const char **name = arena_array(c->x->a, n, sizeof *name);
    const char **class = arena_array(c->x->a, n, sizeof *class);
    int32_t *gpu = arena_array(c->x->a, n, sizeof *gpu);
    for (size_t i = 0; i < n; i++) {
        const json_t *row = json_array_get(devices, i);
        name[i] = json_get_text(row, "name");
        if (!name[i])
            return diag_error(c->x->diag, "%s: devices: expected objects with \"name\"", c->path);
        const char *said = json_get_text(row, "class");
        /* for gpus_number(): NULL for a CPU, "" for an accelerator of an unknown class */
        class[i] = strncmp(name[i], "acc", 3) != 0 ? NULL : said ? said : "";
        names_add(&c->device, name[i], (uint32_t)i + 1);
    }
    gpus_number(class, (uint32_t)n, gpu);
    for (size_t i = 0; i < n; i++)
        if (gpu[i] >= 0)
            names_add(&c->gpu, name[i], (uint32_t)gpu[i] + 1);
    return 0;
}

/* Checks "devices", "inputs", "parts" and "outputs", in this order: later members name entries of earlier members.
 * Returns 0, or -1 and an error. */
static int check_manifest(struct checker *c)
{
    const json_t *parts = json_object_get(c->x->manifest, "parts");
    size_t i;
    json_t *row;
    if (check_devices(c) || check_border(c, "inputs"))
        return -1;
    if (!json_is_array(parts))
        return diag_error(c->x->diag, "%s: expected a list \"parts\"", c->path);
    if (!json_array_size(parts))
        return diag_error(c->x->diag, "%s: it has no parts: there is nothing to run", c->path);
    json_array_foreach(parts, i, row)
    {
        if (check_part(c, row))
            return -1;
    }
    return check_border(c, "outputs");
}

int export_read(struct export_folder *x)
{
    struct checker c = {.x = x,
                        .path = arena_fmt(x->a, "%s/manifest.json", x->name),
                        .made = names_new(x->a, 64),
                        .device = names_new(x->a, 16),
                        .gpu = names_new(x->a, 16)};
    int64_t version;
    json_error_t e;
    x->text = infile_read(arena_fmt(x->a, "%s/manifest.json", x->at), INFILE_PLAN, x->a, &x->size,
                          x->diag);
    x->manifest = x->text ? json_read(x->a, x->text, x->size, &e) : NULL;
    if (!x->text)
        return -1;
    if (!x->manifest)
        return diag_error(x->diag, "%s:%d:%d: %s", c.path, e.line, e.column, e.text);
    if (!json_int_in(json_object_get(x->manifest, "pcc_manifest"), 1, 1, &version))
        return diag_error(x->diag, "%s: expected a manifest with \"pcc_manifest\": 1", c.path);
    if (state_pieces(x->manifest, c.path, x->a, x->diag))
        return -1;
    int rc = check_manifest(&c);
    x->gpu = c.gpu;
    x->device = c.device;
    return rc;
}
