/* The devices whose parts run on a GPU by CUDA (gpus.h), by --provider acc0=cuda:1,a100=cuda.  O(devices * items). */
#include "tools/run/gpus.h"

#include "ir/base/json_in.h"
#include "ir/base/units.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* The devices of a split, while the choice is read. */
struct choosing {
    const json_t *devices;         /* the list "devices" of the manifest */
    const struct engine_gpu **gpu; /* [device] as gpus_chosen() returns them */
    struct arena *a;
    struct diag *d;
};

/* Has the parts of device number d run on the GPU with this number; -1: the number in `row`, its row of the manifest.
 * Products are computed in TF32 if the plan has a precision below f32.  Returns 0, or -1 and an error. */
static int take_device(struct choosing *c, size_t d, const json_t *row, int64_t number)
{
    int64_t memory, reserved;
    const char *name = json_get_text(row, "name");
    if (number < 0 && !json_int_in(json_object_get(row, "gpu"), 0, INT_MAX, &number))
        return diag_error(c->d, "--provider: %s is no GPU in the plan: say which it is, %s=cuda:0",
                          name, name);
    if (!json_int_in(json_object_get(row, "memory_bytes"), 0, INT64_MAX, &memory))
        memory = -1;
    else if (json_int_in(json_object_get(row, "reserved_bytes"), 0, memory, &reserved))
        memory -= reserved;
    struct engine_gpu *gpu = arena_alloc(c->a, sizeof *gpu);
    *gpu = (struct engine_gpu){(int)number, memory, json_object_get(row, "precision") != NULL};
    c->gpu[d] = gpu;
    return 0;
}

/* Takes one item of --provider, NAME=cuda[:N]: has all devices with this name, or of the class with this name, run on a
 * GPU.  Returns 0, or -1 and an error. */
static int take_item(struct choosing *c, const char *item)
{
    const char *eq = strchr(item, '='), *kind = eq ? eq + 1 : "";
    int64_t number = -1;
    bool found = false;
    const json_t *row;
    size_t d;
    if (!eq || strncmp(kind, "cuda", 4) != 0 ||
        (kind[4] && (kind[4] != ':' || !count_parse(kind + 5, &number) || number > INT_MAX)))
        return diag_error(
            c->d,
            "--provider '%s': expected DEVICE=cuda or DEVICE=cuda:N (run_split.py has "
            "other providers)",
            item);
    json_array_foreach((json_t *)(uintptr_t)c->devices, d, row)
    {
        const char *class = json_get_text(row, "class"), *name = json_get_text(row, "name");
        size_t n = (size_t)(eq - item);
        bool by_name = name && strlen(name) == n && !memcmp(name, item, n);
        if (!name || (!by_name && !(class && strlen(class) == n && !memcmp(class, item, n))))
            continue;
        found = true;
        if (c->gpu[d])
            return diag_error(c->d, "--provider: device '%s' comes twice", name);
        if (take_device(c, d, row, number))
            return -1;
    }
    return found
               ? 0
               : diag_error(c->d, "--provider '%s': the folder has no such device or class", item);
}

const struct engine_gpu *const *gpus_chosen(const struct gpu_choice *choice, const json_t *manifest,
                                            struct arena *a, struct diag *d)
{
    struct choosing c = {json_object_get(manifest, "devices"), NULL, a, d};
    c.gpu = arena_array(a, json_array_size(c.devices) + 1, sizeof(const struct engine_gpu *));
    for (uint32_t k = 0; k < choice->n; k++) {
        char *text = arena_strdup(a, choice->item[k], strlen(choice->item[k]));
        for (char *item = text, *end; item; item = end ? end + 1 : NULL) {
            end = strchr(item, ',');
            if (end)
                *end = 0;
            if (take_item(&c, item))
                return NULL;
        }
    }
    return c.gpu;
}

void gpus_not_loaded(char *line, size_t room, const struct split_part *part, const char *device,
                     const struct engine_gpu *gpu, const struct engine_error *err)
{
    char where[32] = "";
    if (gpu)
        snprintf(where, sizeof where, ", GPU %d by CUDA", gpu->number);
    snprintf(line, room, "%s (%s%s): cannot be loaded: %s%s", part->file, device, where, err->line,
             strstr(err->line, "not enabled") ? " (onnxruntime-gpu has it: --onnxruntime)" : "");
}
