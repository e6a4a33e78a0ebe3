/* Makes a page and a program for browsers and Node: --for=web.
 *
 * web/index.html and web/run.mjs run the parts one after another in onnxruntime-web, and release each part before they
 * load the next one.  The limits that are checked come from onnxruntime-web's documents ("Working with Large Models")
 * and source (wasm-common.ts): a module of WebAssembly addresses 4 GiB; a tensor outside of a session is of one of the
 * types below.  O(manifest). */
#include "backends/engines/engines.h"

#include "ir/base/json_in.h"
#include "ir/base/units.h"

#include <string.h>

#define MOST_BYTES (INT64_C(1) << 32) /* bytes that a module of WebAssembly can address */

/* Types that onnxruntime-web's tensors can have, as the manifest calls them. */
static const char *const types[] = {"f32", "f64", "f16", "i8",   "u8",  "i16", "u16", "i32",
                                    "u32", "i64", "u64", "bool", "str", "i4",  "u4",  NULL};

/* Checks that a tensor between sessions has one of types[].  Returns 0, or -1 and an error. */
static int check_tensor(const struct export_folder *x, const char *name, const json_t *value)
{
    const char *type = json_get_text(value, "type");
    for (int k = 0; type && types[k]; k++)
        if (!strcmp(types[k], type))
            return 0;
    return type
               ? diag_error(
                     x->diag,
                     "%s: --for=web: tensor '%s' is %s, for which onnxruntime-web has no type",
                     x->name, name, type)
               : diag_error(x->diag, "%s: --for=web: tensor '%s' has no known type", x->name, name);
}

/* Checks that a part has no output of a type of 4 bits: onnxruntime-web takes such inputs, but cannot return such
 * outputs ("unsupported type: uint4").  Returns 0, or -1 and an error. */
static int check_made(const struct export_folder *x, const json_t *part)
{
    size_t i;
    json_t *name;
    json_array_foreach(json_object_get(part, "outputs"), i, name)
    {
        const char *made = json_string_value(name);
        const json_t *value = json_object_get(json_object_get(x->manifest, "values"), made);
        const char *type = json_get_text(value, "type");
        if (!strcmp(type, "i4") || !strcmp(type, "u4"))
            return diag_error(x->diag,
                              "%s: --for=web: %s makes tensor '%s' of %s, which onnxruntime-web "
                              "takes as an input, but cannot give",
                              x->name, json_get_text(part, "file"), made, type);
    }
    return 0;
}

/* Checks that WebAssembly's memory can hold the data file of a part, and also the most bytes that the part needs
 * while it runs. Returns 0, or -1 and an error. */
static int check_size(const struct export_folder *x, const json_t *part)
{
    static const char *const keys[] = {"data_bytes", "live_peak_bytes"};
    for (int k = 0; k < 2; k++) {
        int64_t bytes = 0;
        char text[UNIT_TEXT];
        json_int_in(json_object_get(part, keys[k]), 0, INT64_MAX, &bytes);
        if (bytes >= MOST_BYTES)
            return diag_error(
                x->diag,
                "%s: --for=web: %s takes %s, and WebAssembly addresses 4 GiB: split over "
                "more devices, or ones with less memory",
                x->name, json_get_text(part, "file"), bytes_short(text, bytes));
    }
    return 0;
}

/* Refuses a split in which parts share a file of weights: a browser would fetch the whole file for each part.  Returns
 * 0, or -1 and an error. */
static int check_weights(const struct export_folder *x)
{
    const char *file = export_shared_weights(x);
    if (!file)
        return 0;
    return diag_error(
        x->diag,
        "%s: --for=web: each part would fetch '%s', in which all have their weights: split "
        "again with --weights=parts, or inline",
        x->name, file);
}

/* Refuses tensors of types that onnxruntime-web lacks, weights that are outputs of the model, parts that are too large,
 * and shared files of weights.  Returns 0, or -1 and an error. */
static int check_web(const struct export_folder *x)
{
    const char *name;
    size_t i;
    json_t *row;
    json_object_foreach(json_object_get(x->manifest, "values"), name, row)
    {
        if (check_tensor(x, name, row))
            return -1;
    }
    json_array_foreach(json_object_get(x->manifest, "outputs"), i, row)
    {
        const char *from = json_get_text(row, "from");
        if (!from || !strcmp(from, "weights"))
            return diag_error(x->diag,
                              "%s: --for=web: '%s' is an output of the model that is a weight: no "
                              "part gives it",
                              x->name, json_get_text(row, "name"));
    }
    json_array_foreach(json_object_get(x->manifest, "parts"), i, row)
    {
        if (check_size(x, row) || check_made(x, row))
            return -1;
    }
    return check_weights(x);
}

/* Makes the page and the program in the folder web/.  Returns 0, or -1 and an error. */
static int write_web(struct export_folder *x)
{
    return export_dir(x, "web") ||
                   export_bytes(x, "web/index.html", web_page_text, web_page_size) ||
                   export_bytes(x, "web/run.mjs", web_run_text, web_run_size)
               ? -1
               : 0;
}

const struct engine_kind engine_web = {
    .name = "web",
    .verified_with = "onnxruntime-web and onnxruntime-node 1.30.0, in Node 20 and Chromium 156",
    .apart = true,
    .check = check_web,
    .write = write_web};
