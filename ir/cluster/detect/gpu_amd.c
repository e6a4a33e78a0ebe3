/* Asks rocm-smi for names, addresses and free memory of AMD's GPUs; their other facts come from /sys (gpu.h).
 *
 * The answer is a JSON object with a member for each GPU, such as "card0".  A key such as "Card Series" has other
 * capitals in older versions ("Card series").  A warning may stand before the object. */
#include "ir/cluster/detect/gpu.h"

#include "ir/base/json_in.h"
#include "ir/cluster/detect/machine_file.h"

#include <string.h>
#include <strings.h>

/* Returns the text of the object's member of this name, capitals ignored; "": there is none. */
static const char *member_text(const json_t *object, const char *name)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        if (!strcasecmp(key, name) && json_is_string(value))
            return json_string_value(value);
    }
    return "";
}

/* Whether a text of the answer names a model: "0x740f" and "N/A" do not. */
static bool is_name(const char *text)
{
    return *text && strncmp(text, "0x", 2) && strcmp(text, "N/A");
}

/* Adds the GPU that an object of the answer describes; a note says if the object lacks the free memory.  old: the GPUs
 * that /sys tells of. */
static void take_card(const struct gpu_search *s, struct gpus *found, const json_t *card,
                      const struct gpus *old)
{
    const char *bus = gpu_bus(member_text(card, "PCI Bus"), s->a),
               *name = member_text(card, "Card Series");
    int64_t total = machine_parse(member_text(card, "VRAM Total Memory (B)"));
    int64_t used = machine_parse(member_text(card, "VRAM Total Used Memory (B)"));
    const struct gpu *known = gpu_at(old, bus);
    struct gpu *g = gpu_add(found, s->a);
    if (!g)
        return;
    if (known)
        *g = *known;
    g->maker = AMD;
    g->told_by = "rocm-smi";
    g->bus = bus;
    if (!is_name(name))
        name = member_text(card, "Card Model");
    if (is_name(name))
        g->name = arena_strdup(s->a, name, strlen(name));
    if (total > 0)
        g->memory = used > 0 && used < total ? total - used : total;
    if (total > 0 && used < 0)
        diag_note(s->d, "-d detect: rocm-smi does not tell the free memory of %s: all is taken",
                  g->name);
}

void gpu_ask_amd(const struct gpu_search *s, struct gpus *g)
{
    char *text = gpu_tool(s, (const char *[]){"rocm-smi", "--showproductname", "--showbus",
                                              "--showmeminfo", "vram", "--json", NULL});
    const char *start = text ? strchr(text, '{') : NULL;
    struct arena *own = arena_new(s->a);
    const json_t *all = start ? json_read(own, start, strlen(start), NULL) : NULL;
    struct gpus found = {0};
    const char *key;
    json_t *card;
    json_object_foreach((json_t *)(uintptr_t)all, key, card)
    {
        if (!strncmp(key, "card", 4) && machine_parse(key + 4) >= 0 && json_is_object(card))
            take_card(s, &found, card, g);
    }
    if (text && !found.n)
        diag_note(s->d, "-d detect: rocm-smi says nothing of GPUs: %.*s",
                  (int)strcspn(text, "\r\n"), text);
    if (found.n)
        *g = found;
    arena_free(own);
}
