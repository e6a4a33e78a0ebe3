/* Asks xpu-smi for Intel's GPUs (gpu.h): `discovery -j` lists them, `discovery -d ID -j` describes one.  Numbers are
 * texts in its answers.  It does not tell the clock of the memory, so the bandwidth is not known. */
#include "ir/cluster/detect/gpu.h"

#include "ir/base/json_in.h"
#include "ir/base/units.h"
#include "ir/cluster/detect/machine_file.h"

#include <string.h>

/* multiply-adds that a unit starts per cycle, where xpu-smi does not tell */
enum { USUAL_SIMD = 8 };

/* Returns the value of a member that is a number, or a text with one; 0: there is none. */
static int64_t member_number(const json_t *object, const char *key)
{
    const json_t *j = json_object_get(object, key);
    int64_t n = json_is_string(j)    ? machine_parse(json_string_value(j))
                : json_is_integer(j) ? json_integer_value(j)
                                     : 0;
    return n > 0 ? n : 0;
}

/* Runs xpu-smi with these arguments.  Returns its answer, in a; NULL: xpu-smi is absent, or, after a note, does not
 * answer as expected. */
static const json_t *ask_xpu_smi(const struct gpu_search *s, const char *const argv[],
                                 struct arena *a)
{
    char *text = gpu_tool(s, argv);
    const char *start = text ? strchr(text, '{') : NULL;
    const json_t *j = start ? json_read(a, start, strlen(start), NULL) : NULL;
    if (text && !j)
        diag_note(s->d, "-d detect: xpu-smi says nothing of GPUs: %.*s", (int)strcspn(text, "\r\n"),
                  text);
    return j;
}

/* Adds the GPU that an object of the list describes.  about: what xpu-smi tells of this GPU alone; NULL: nothing.  old:
 * the GPUs that /sys tells of. */
static void take_device(const struct gpu_search *s, struct gpus *found, const json_t *device,
                        const json_t *about, const struct gpus *old)
{
    const char *bus = json_get_text(device, "pci_bdf_address");
    const char *name = json_get_text(device, "device_name");
    struct gpu *g = gpu_add(found, s->a);
    if (!g)
        return;
    bus = gpu_bus(bus ? bus : "", s->a);
    if (gpu_at(old, bus))
        *g = *gpu_at(old, bus);
    g->maker = INTEL;
    g->told_by = "xpu-smi";
    g->bus = bus;
    if (name && *name)
        g->name = arena_strdup(s->a, name, strlen(name));
    int64_t free = member_number(about, "memory_free_size_byte");
    int64_t simd = member_number(about, "physical_eu_simd_width");
    g->memory = free ? free : member_number(about, "memory_physical_size_byte");
    g->mhz = member_number(about, "core_clock_rate_mhz");
    g->lanes = sat_mul(member_number(about, "number_of_eus"), simd ? simd : USUAL_SIMD);
    if (!g->link_rate)
        g->link_rate = gpu_pcie_rate(member_number(about, "pcie_generation"),
                                     member_number(about, "pcie_max_link_width"));
}

void gpu_ask_intel(const struct gpu_search *s, struct gpus *g)
{
    struct arena *own = arena_new(s->a);
    const json_t *list = json_object_get(
        ask_xpu_smi(s, (const char *[]){"xpu-smi", "discovery", "-j", NULL}, own), "device_list");
    struct gpus found = {0};
    bool answers = true;
    for (size_t i = 0; i < json_array_size(list) && i < GPU_MOST; i++) {
        const json_t *device = json_array_get(list, i);
        char *id = arena_fmt(own, "%lld", (long long)member_number(device, "device_id"));
        const json_t *about =
            answers ? ask_xpu_smi(s, (const char *[]){"xpu-smi", "discovery", "-d", id, "-j", NULL},
                                  own)
                    : NULL;
        answers = about != NULL; /* a program that hangs once is not asked again */
        if (json_is_object(device))
            take_device(s, &found, device, about, g);
    }
    if (found.n)
        *g = found;
    arena_free(own);
}
