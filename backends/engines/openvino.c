/* Makes scripts for OpenVINO: --for=openvino.
 *
 * run_openvino.py runs the parts one after another, each on the OpenVINO device that the user names for the plan's
 * device of that part. hetero.py gives the whole model to OpenVINO's HETERO device, which takes the device of an
 * operation from its *affinity*; no file carries affinities, so the script sets them, by hetero.json: the device of
 * each node, and of each output of the model, since OpenVINO names the operation that makes an output after it.
 * O(nodes). */
#include "backends/engines/engines.h"

#include "ir/base/json_in.h"
#include "ir/base/json_out.h"
#include "ir/base/memory.h"
#include "ir/base/name_table.h"

#include <string.h>

/* Checks that OpenVINO has a type for the tensor `name` of the manifest's "values".  Returns 0, or -1 and an error. */
static int check_tensor(const struct export_folder *x, const char *name)
{
    const json_t *value = json_object_get(json_object_get(x->manifest, "values"), name);
    const char *type = json_get_text(value, "type");
    if (!type)
        return diag_error(x->diag, "%s: --for=openvino: tensor '%s' has no known type", x->name,
                          name);
    /* types with '<', such as seq<...>, are no dense tensors */
    if (!strchr(type, '<') && strcmp(type, "c64") != 0 && strcmp(type, "c128") != 0)
        return 0;
    return diag_error(x->diag,
                      "%s: --for=openvino: tensor '%s' is %s, for which OpenVINO has no "
                      "type",
                      x->name, name, type);
}

/* Refuses models with functions of their own, tensors of types that OpenVINO lacks, and weights that are outputs of the
 * model.  Returns 0, or -1 and an error. */
static int check_openvino(const struct export_folder *x)
{
    const char *name;
    size_t i;
    json_t *value;
    if (json_object_get(x->manifest, "calls"))
        return diag_error(x->diag,
                          "%s: --for=openvino: the model calls functions of its own, which "
                          "OpenVINO does not read: put their nodes into the model by the pass "
                          "inline-functions",
                          x->name);
    json_object_foreach(json_object_get(x->manifest, "values"), name, value)
    {
        if (check_tensor(x, name))
            return -1;
    }
    json_array_foreach(json_object_get(x->manifest, "outputs"), i, value)
    {
        const char *from = json_get_text(value, "from");
        if (!from || !strcmp(from, "weights"))
            return diag_error(x->diag,
                              "%s: --for=openvino: '%s' is an output of the model that is a "
                              "weight: no part gives it",
                              x->name, json_get_text(value, "name"));
    }
    return 0;
}

/* Writes the member "nodes": the device of each node of the parts. */
static void put_nodes(struct json_out *o, const struct export_folder *x)
{
    size_t i, k;
    json_t *part, *node;
    json_open(o, "nodes", '{', /*indent=*/4);
    json_array_foreach(json_object_get(x->manifest, "parts"), i, part)
    {
        const json_t *nodes =
            json_object_get(json_object_get(x->manifest, "nodes"), json_get_text(part, "file"));
        json_array_foreach(nodes, k, node)
        {
            if (json_is_string(node)) /* export_read() does not check "nodes" */
                json_text(o, json_string_value(node), json_get_text(part, "device"));
        }
    }
    json_close(o, 2);
}

/* Writes the member "outputs": the device of each output of the model that a part makes. */
static void put_outputs(struct json_out *o, const struct export_folder *x)
{
    size_t i, k;
    json_t *part, *output;
    struct names number = names_new(x->a, 16); /* file of a part -> its number in "parts" */
    const json_t *parts = json_object_get(x->manifest, "parts");
    json_array_foreach(parts, i, part)
    {
        names_add(&number, json_get_text(part, "file"), (uint32_t)i);
    }
    json_open(o, "outputs", '{', /*indent=*/4);
    json_array_foreach(json_object_get(x->manifest, "outputs"), k, output)
    {
        const char *from = json_get_text(output, "from");
        uint32_t at = from ? names_get(&number, from, UINT32_MAX) : UINT32_MAX;
        if (at != UINT32_MAX)
            json_text(o, json_get_text(output, "name"),
                      json_get_text(json_array_get(parts, at), "device"));
    }
    json_close(o, 2);
}

/* Makes hetero.json and the two scripts.  Returns 0, or -1 and an error. */
static int write_openvino(struct export_folder *x)
{
    struct memory m;
    memory_begin(&m, x->a);
    struct json_out o = {.f = m.f};
    if (m.f) {
        json_open(&o, NULL, '{', /*indent=*/2);
        put_nodes(&o, x);
        put_outputs(&o, x);
        json_close(&o, 0);
        putc('\n', m.f);
    }
    const char *places = memory_end(&m, /*ok=*/true, "hetero.json", x->a, x->diag);
    return !places || export_text(x, "hetero.json", places) ||
                   export_bytes(x, "hetero.py", hetero_text, hetero_size) ||
                   export_bytes(x, "run_openvino.py", run_openvino_text, run_openvino_size)
               ? -1
               : 0;
}

const struct engine_kind engine_openvino = {.name = "openvino",
                                            .part_cost = 65 * (PS_PER_S / 1000000),
                                            .verified_with = "OpenVINO 2026.4.1, on a CPU",
                                            .pieces = PIECES_JOINED,
                                            .check = check_openvino,
                                            .write = write_openvino};
