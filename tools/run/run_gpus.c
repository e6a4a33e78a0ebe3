/* Finds the devices whose parts run on a GPU by CUDA (runner.h), by --provider acc0=cuda:1,a100=cuda.
 * O(devices * items). */
#include "tools/run/runner.h"

#include "ir/base/json_in.h"
#include "ir/base/units.h"

#include <limits.h>
#include <string.h>

/* Has the parts of device d run on the GPU with this number; -1: the number in `row`, its row of the manifest.
 * Products are computed in TF32 if the plan has a precision below f32.  Returns 0, or -1 and an error. */
static int take_device(struct runner *r, uint32_t d, const json_t *row, int64_t number)
{
    struct run_device *x = &r->dev[d];
    int64_t memory, reserved;
    if (number < 0 && !json_int_in(json_object_get(row, "gpu"), 0, INT_MAX, &number))
        return diag_error(r->d, "--provider: %s is no GPU in the plan: say which it is, %s=cuda:0",
                          x->name, x->name);
    if (!json_int_in(json_object_get(row, "memory_bytes"), 0, INT64_MAX, &memory))
        memory = -1;
    else if (json_int_in(json_object_get(row, "reserved_bytes"), 0, memory, &reserved))
        memory -= reserved;
    x->cuda = true;
    x->gpu = (struct engine_gpu){(int)number, memory, json_object_get(row, "precision") != NULL};
    return 0;
}

/* Takes one item of --provider, NAME=cuda[:N]: has all devices with this name, or of the class with this name, run on a
 * GPU.  Returns 0, or -1 and an error. */
static int take_item(struct runner *r, const char *item)
{
    const json_t *list = json_object_get(r->s.manifest, "devices");
    const char *eq = strchr(item, '='), *kind = eq ? eq + 1 : "";
    int64_t number = -1;
    bool found = false;
    if (!eq || strncmp(kind, "cuda", 4) != 0 ||
        (kind[4] && (kind[4] != ':' || !count_parse(kind + 5, &number) || number > INT_MAX)))
        return diag_error(
            r->d,
            "--provider '%s': expected DEVICE=cuda or DEVICE=cuda:N (run_split.py has "
            "other providers)",
            item);
    for (uint32_t d = 0; d < r->ndev; d++) {
        const json_t *row = json_array_get(list, d);
        const char *class = json_get_text(row, "class"), *name = r->dev[d].name;
        size_t n = (size_t)(eq - item);
        bool by_name = strlen(name) == n && !memcmp(name, item, n);
        if (!by_name && !(class && strlen(class) == n && !memcmp(class, item, n)))
            continue;
        found = true;
        if (r->dev[d].cuda)
            return diag_error(r->d, "--provider: device '%s' comes twice", name);
        if (take_device(r, d, row, number))
            return -1;
    }
    return found
               ? 0
               : diag_error(r->d, "--provider '%s': the folder has no such device or class", item);
}

int run_gpus(struct runner *r)
{
    for (uint32_t k = 0; k < r->set.nprovider; k++) {
        char *text = arena_strdup(r->a, r->set.provider[k], strlen(r->set.provider[k]));
        for (char *item = text, *end; item; item = end ? end + 1 : NULL) {
            end = strchr(item, ',');
            if (end)
                *end = 0;
            if (take_item(r, item))
                return -1;
        }
    }
    return 0;
}
