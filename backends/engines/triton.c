/* Makes a model repository for Triton Inference Server: --for=triton.
 *
 * Triton takes a folder of models: each has a config.pbtxt, in protobuf's text form of the message ModelConfig, and a
 * folder per version with the model's files.  A part becomes a model NAME_partK, and NAME is an *ensemble*: a model
 * without files whose steps are the parts, joined by names of tensors.  Message and rules are those of Triton's
 * published model_config.proto and of its pages "Model Configuration" and "Ensemble Models"; the rules that a model of
 * ours can break are checked before anything is written.  O(tensors + bytes that are copied). */
#include "backends/engines/engines.h"

#include "ir/base/json_in.h"
#include "ir/base/memory.h"
#include "ir/base/name_table.h"
#include "ir/base/strings.h"

#include <string.h>

/* Types by the name in the manifest and the name in Triton's configs, without its beginning TYPE_. */
static const struct {
    const char *type, *triton;
} type_names[] = {{"bool", "BOOL"},  {"u8", "UINT8"},  {"u16", "UINT16"}, {"u32", "UINT32"},
                  {"u64", "UINT64"}, {"i8", "INT8"},   {"i16", "INT16"},  {"i32", "INT32"},
                  {"i64", "INT64"},  {"f16", "FP16"},  {"bf16", "BF16"},  {"f32", "FP32"},
                  {"f64", "FP64"},   {"str", "STRING"}};

/* Returns the member `key` of the manifest; NULL: it has none. */
static const json_t *rows(const struct export_folder *x, const char *key)
{
    return json_object_get(x->manifest, key);
}

/* Returns what the manifest's "values" say of a tensor: an object with its type and shape. */
static const json_t *value_of(const struct export_folder *x, const char *name)
{
    return json_object_get(json_object_get(x->manifest, "values"), name);
}

/* Returns Triton's name for a type of the manifest, without its beginning TYPE_; NULL: Triton has no such type. */
static const char *triton_type(const char *type)
{
    for (size_t i = 0; type && i < sizeof type_names / sizeof *type_names; i++)
        if (!strcmp(type_names[i].type, type))
            return type_names[i].triton;
    return NULL;
}

/* ---- what Triton cannot run ------------------------------------------------------------------- */

/* Reports that Triton cannot take the tensor `name`; why: a clause that follows the name.  Returns -1. */
static int refuse_tensor(const struct export_folder *x, const char *name, const char *why)
{
    return diag_error(x->diag, "%s: --for=triton: tensor '%s' %s", x->name, name, why);
}

/* Checks that a dimension of the tensor `name` is not 0.  Returns 0, or -1 and an error. */
static int check_dim(const struct export_folder *x, const char *name, const json_t *dim)
{
    return json_is_integer(dim) && json_integer_value(dim) < 1
               ? refuse_tensor(x, name, "has no elements: Triton's dimensions are 1 at least")
               : 0;
}

/* Checks, for --triton-batch, that the first dimension of a tensor is the symbol *first, and that the tensor has
 * another dimension, too.  *first is NULL in the call for the first tensor, which sets it.  Returns 0, or -1 and an
 * error. */
static int check_batch(const struct export_folder *x, const char *name, const json_t *shape,
                       const char **first)
{
    const char *symbol = json_string_value(json_array_get(shape, 0));
    if (!symbol)
        return refuse_tensor(x, name,
                             "does not begin with a symbolic size: --triton-batch wants "
                             "one that all tensors at the borders of parts begin with");
    if (!*first)
        *first = symbol;
    if (strcmp(*first, symbol) != 0)
        return refuse_tensor(x, name,
                             arena_fmt(x->a,
                                       "begins with '%s', others with '%s': "
                                       "--triton-batch wants one size that all begin with",
                                       symbol, *first));
    return json_array_size(shape) > 1
               ? 0
               : refuse_tensor(x, name,
                               "has no dimension but the batch, which --triton-batch "
                               "leaves out: Triton wants one more");
}

/* Checks type and shape of a tensor that parts or the model read or return: whether Triton can take them.  *first:
 * as for check_batch().  Returns 0, or -1 and an error. */
static int check_tensor(const struct export_folder *x, const char *name, const char **first)
{
    const json_t *shape = json_object_get(value_of(x, name), "shape");
    const char *type = json_get_text(value_of(x, name), "type");
    size_t i;
    json_t *dim;
    if (!type)
        return refuse_tensor(x, name, "has no known type");
    if (!triton_type(type))
        return refuse_tensor(x, name, arena_fmt(x->a, "is %s, for which Triton has no type", type));
    if (!json_is_array(shape))
        return refuse_tensor(x, name,
                             "has an unknown number of dimensions, which Triton must know");
    if (!json_array_size(shape))
        return refuse_tensor(x, name,
                             "is a scalar, which Triton has not: its tensors have one "
                             "dimension at least");
    json_array_foreach(shape, i, dim)
    {
        if (check_dim(x, name, dim))
            return -1;
    }
    return x->o->triton_batch ? check_batch(x, name, shape, first) : 0;
}

/* Checks the tensors of a list of names as check_tensor() does.  *first: as for check_batch().  Returns 0, or -1 and an
 * error. */
static int check_tensors(const struct export_folder *x, const json_t *names, const char **first)
{
    size_t i;
    json_t *name;
    json_array_foreach(names, i, name)
    {
        if (check_tensor(x, json_string_value(name), first))
            return -1;
    }
    return 0;
}

/* Returns the names of all tensors that a part reads or that the model returns, in x->a. */
static struct names wanted_tensors(const struct export_folder *x)
{
    struct names wanted = names_new(x->a, 64);
    size_t i, k;
    json_t *row, *name;
    json_array_foreach(rows(x, "parts"), i, row)
        json_array_foreach(json_object_get(row, "inputs"), k, name)
            names_add(&wanted, json_string_value(name), 1);
    json_array_foreach(rows(x, "outputs"), i, row)
        names_add(&wanted, json_get_text(row, "name"), 1);
    return wanted;
}

/* Checks that a part has inputs and outputs, and that each output is one of `wanted` (wanted_tensors()).  Returns 0, or
 * -1 and an error. */
static int check_part(const struct export_folder *x, const json_t *part, const struct names *wanted)
{
    const char *file = json_get_text(part, "file");
    size_t i;
    json_t *name;
    if (!json_array_size(json_object_get(part, "inputs")) ||
        !json_array_size(json_object_get(part, "outputs")))
        return diag_error(x->diag,
                          "%s: --for=triton: %s has no %s, which a model of Triton's "
                          "needs",
                          x->name, file,
                          json_array_size(json_object_get(part, "inputs")) ? "outputs" : "inputs");
    json_array_foreach(json_object_get(part, "outputs"), i, name)
    {
        if (!names_get(wanted, json_string_value(name), 0))
            return refuse_tensor(x, json_string_value(name),
                                 "is made by a part, but no part reads "
                                 "it, nor does the model return it");
    }
    return 0;
}

/* Checks that the folder's weights can lie in a folder for each part.  Returns 0, or -1 and an error. */
static int check_weights(const struct export_folder *x)
{
    const char *file = export_shared_weights(x);
    if (!file)
        return 0;
    return diag_error(x->diag,
                      "%s: --for=triton: each part lies in a folder of its own there, but "
                      "the parts share '%s': split again with --weights=parts, or inline",
                      x->name, file);
}

/* Checks that parts read each input of the model and make each of its outputs, and checks these tensors as
 * check_tensor() does.  *first: as for check_batch().  Returns 0, or -1 and an error. */
static int check_model(const struct export_folder *x, const struct names *wanted,
                       const char **first)
{
    size_t i;
    json_t *row;
    json_array_foreach(rows(x, "inputs"), i, row)
    {
        const char *name = json_get_text(row, "name");
        if (!names_get(wanted, name, 0))
            return refuse_tensor(x, name,
                                 "is an input of the model that no part reads: Triton's "
                                 "ensembles want each to be read");
        if (check_tensor(x, name, first))
            return -1;
    }
    json_array_foreach(rows(x, "outputs"), i, row)
    {
        const char *name = json_get_text(row, "name"), *from = json_get_text(row, "from");
        if (!from || !strcmp(from, "input") || !strcmp(from, "weights"))
            return refuse_tensor(x, name,
                                 "is an output of the model that no part makes: Triton's "
                                 "ensembles return only what their steps make");
        if (check_tensor(x, name, first))
            return -1;
    }
    return 0;
}

/* Refuses splits that Triton cannot run: for shared weights, devices, parts or tensors at the borders of parts.
 * Returns 0, or -1 and an error. */
static int check_triton(const struct export_folder *x)
{
    struct names wanted = wanted_tensors(x);
    const char *first = NULL;
    size_t i;
    json_t *part;
    if (check_weights(x) || check_model(x, &wanted, &first))
        return -1;
    json_array_foreach(rows(x, "parts"), i, part)
    {
        if (export_check_devices(x, "triton", part) || check_part(x, part, &wanted) ||
            check_tensors(x, json_object_get(part, "inputs"), &first) ||
            check_tensors(x, json_object_get(part, "outputs"), &first))
            return -1;
    }
    return 0;
}

/* ---- the repository --------------------------------------------------------------------------- */

/* Writes text as a string of protobuf's text form, in quotes. */
static void put_string(FILE *f, const char *text)
{
    putc('"', f);
    for (const char *c = text; *c; c++)
        if (*c == '"' || *c == '\\')
            fprintf(f, "\\%c", *c);
        else if ((unsigned char)*c < ' ' || *c == 0x7f)
            fprintf(f, "\\%03o", (unsigned char)*c);
        else
            putc(*c, f);
    putc('"', f);
}

/* Writes a block "input" or "output" of a config: name, type and dimensions of a tensor, -1 for sizes that are symbols
 * or not known.  With --triton-batch the first dimension is left out, since Triton adds it. */
static void put_tensor(FILE *f, const struct export_folder *x, const char *block, const char *name)
{
    const json_t *value = value_of(x, name), *shape = json_object_get(value, "shape");
    fprintf(f, "%s {\n  name: ", block);
    put_string(f, name);
    fprintf(f, "\n  data_type: TYPE_%s\n  dims: [ ", triton_type(json_get_text(value, "type")));
    for (size_t i = x->o->triton_batch ? 1 : 0, first = i; i < json_array_size(shape); i++) {
        const json_t *dim = json_array_get(shape, i);
        fprintf(f, "%s%lld", i > first ? ", " : "",
                json_is_integer(dim) ? (long long)json_integer_value(dim) : -1LL);
    }
    fputs(" ]\n}\n", f);
}

/* Writes the beginning of a config: the model's name, its platform, and the most samples of a
 * request (--triton-batch; 0: requests have no axis of samples). */
static void put_head(FILE *f, const struct export_folder *x, const char *name, const char *platform)
{
    fputs("name: ", f);
    put_string(f, name);
    fprintf(f, "\nplatform: \"%s\"\nmax_batch_size: %lld\n", platform,
            (long long)x->o->triton_batch);
}

/* Writes the block "instance_group" for a device. */
static void put_instance(FILE *f, const struct export_folder *x, const char *device)
{
    int64_t gpu = export_gpu(x, device);
    if (gpu >= 0)
        fprintf(f, "instance_group {\n  count: 1\n  kind: KIND_GPU\n  gpus: [ %lld ]\n}\n",
                (long long)gpu);
    else
        fputs("instance_group {\n  count: 1\n  kind: KIND_CPU\n}\n", f);
}

/* Writes the config of a part, the model `name`. */
static void put_part(FILE *f, const struct export_folder *x, const char *name, const json_t *part)
{
    const json_t *replicas = json_object_get(part, "replicas");
    size_t i;
    json_t *row;
    put_head(f, x, name, "onnxruntime_onnx");
    json_array_foreach(json_object_get(part, "inputs"), i, row)
        put_tensor(f, x, "input", json_string_value(row));
    json_array_foreach(json_object_get(part, "outputs"), i, row)
        put_tensor(f, x, "output", json_string_value(row));
    if (!json_array_size(replicas))
        put_instance(f, x, json_get_text(part, "device"));
    json_array_foreach(replicas, i, row) put_instance(f, x, json_string_value(row));
}

/* Writes the map "input_map" or "output_map" of a step: from each name of the part to the same name of the
 * ensemble. */
static void put_map(FILE *f, const char *map, const json_t *names)
{
    size_t i;
    json_t *name;
    json_array_foreach(names, i, name)
    {
        fprintf(f, "    %s {\n      key: ", map);
        put_string(f, json_string_value(name));
        fputs("\n      value: ", f);
        put_string(f, json_string_value(name));
        fputs("\n    }\n", f);
    }
}

/* Returns the name of the repository's model of a part, in x->a: "gpt_part0". */
static const char *part_name(const struct export_folder *x, const char *model, const json_t *part)
{
    const char *file = json_get_text(part, "file");
    return arena_fmt(x->a, "%s_%.*s", model, (int)strcspn(file, "."), file);
}

/* Writes the config of the ensemble `model`. */
static void put_ensemble(FILE *f, const struct export_folder *x, const char *model)
{
    size_t i;
    json_t *row;
    put_head(f, x, model, "ensemble");
    json_array_foreach(rows(x, "inputs"), i, row)
    {
        put_tensor(f, x, "input", json_get_text(row, "name"));
    }
    json_array_foreach(rows(x, "outputs"), i, row)
    {
        put_tensor(f, x, "output", json_get_text(row, "name"));
    }
    fputs("ensemble_scheduling {\n", f);
    json_array_foreach(rows(x, "parts"), i, row)
    {
        fputs("  step {\n    model_name: ", f);
        put_string(f, part_name(x, model, row));
        fputs("\n    model_version: -1\n", f);
        put_map(f, "input_map", json_object_get(row, "inputs"));
        put_map(f, "output_map", json_object_get(row, "outputs"));
        fputs("  }\n", f);
    }
    fputs("}\n", f);
}

/* Makes the folder of the model `name`, which stands for a part or (part NULL) is the ensemble, with an empty folder
 * for its version 1 and its config.  Returns 0, or -1 and an error. */
static int write_model(struct export_folder *x, const char *name, const json_t *part)
{
    const char *folder = arena_fmt(x->a, "triton/%s", name);
    struct memory m;
    if (export_dir(x, folder) || export_dir(x, arena_fmt(x->a, "%s/1", folder)))
        return -1;
    memory_begin(&m, x->a);
    if (m.f && part)
        put_part(m.f, x, name, part);
    else if (m.f)
        put_ensemble(m.f, x, name);
    const char *text = memory_end(&m, /*ok=*/true, folder, x->a, x->diag);
    return text ? export_text(x, arena_fmt(x->a, "%s/config.pbtxt", folder), text) : -1;
}

/* Returns the model's name in the repository, in x->a: the name of its file without the ending, cut to MOST bytes, with
 * '_' for characters that are not safe in the name of a folder; "model" if the file has no name. */
static const char *model_name(const struct export_folder *x)
{
    enum { MOST = 200 }; /* bytes; names of folders have 255 at most */
    const char *source = json_get_text(json_object_get(x->manifest, "model"), "source");
    const char *base = path_base(source ? source : ""), *dot = strrchr(base, '.');
    size_t n = dot && dot > base ? (size_t)(dot - base) : strlen(base);
    char *name = arena_strdup(x->a, base, n < MOST ? n : MOST);
    for (char *c = name; *c; c++) {
        /* | 0x20 makes a capital letter a small one */
        bool letter = (*c | 0x20) >= 'a' && (*c | 0x20) <= 'z';
        bool digit = *c >= '0' && *c <= '9', inside = c > name && strchr("-._", *c);
        if (!letter && !digit && !inside)
            *c = '_';
    }
    return *name ? name : "model";
}

/* Makes the repository in the folder triton/: the ensemble, and a model for each part with copies of the part's files.
 * Returns 0, or -1 and an error. */
static int write_triton(struct export_folder *x)
{
    const char *model = model_name(x);
    size_t i;
    json_t *part;
    if (export_dir(x, "triton") || write_model(x, model, NULL))
        return -1;
    json_array_foreach(rows(x, "parts"), i, part)
    {
        const char *name = part_name(x, model, part), *data = json_get_text(part, "data");
        const char *version = arena_fmt(x->a, "triton/%s/1", name);
        if (write_model(x, name, part) ||
            export_copy(x, json_get_text(part, "file"),
                        arena_fmt(x->a, "%s/model.onnx", version)) ||
            (data && export_copy(x, data, arena_fmt(x->a, "%s/%s", version, data))))
            return -1;
    }
    return 0;
}

const struct engine_kind engine_triton = {
    .name = "triton",
    .verified_with = "ModelConfig of tritonclient 2.73.0, ONNX Runtime 1.31.1; without a server",
    .apart = true,
    .pieces = PIECES_SHOWN,
    .check = check_triton,
    .write = write_triton};
