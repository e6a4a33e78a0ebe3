/* Finds the figures of a GPU (gpu_class(), gpu_preset() in gpu.h).
 *
 * By name: a preset fits if its name, or another of its names, stands in the GPU's name from the beginning of a word,
 * blanks, hyphens, capitals, "(R)" and "(TM)" ignored, and if what follows is no part of another model's name:
 * nothing, a number ("80GB"), or a word that tells form or kind ("PCIe", "Graphics").  "RTX 3090 Ti" and "RTX 4090
 * Laptop GPU" are other GPUs than the RTX 3090 and 4090.
 *
 * Else it is estimated: f32 as two operations for each multiply-add that its cores start in a cycle of the largest
 * clock, other types by what units for matrices do in GPUs of that generation.  What is not told is that of the preset
 * of the same maker whose memory is nearest. */
#include "ir/cluster/detect/gpu.h"

#include "ir/base/units.h"
#include "ir/cluster/detect/processor.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { NAME_TEXT = 65 }; /* bytes of a class's name, with the NUL */

/* ---- by name --------------------------------------------------------------------------------------- */

/* Writes name to to[room] in small letters, without "(R)" and "(TM)", cut to fit. */
static void plain_name(const char *name, char *to, size_t room)
{
    size_t n = 0;
    for (const char *s = name; *s && n + 1 < room; s++) {
        if (!strncasecmp(s, "(r)", 3))
            s += 2;
        else if (!strncasecmp(s, "(tm)", 4))
            s += 3;
        else
            to[n++] = (char)tolower((unsigned char)*s);
    }
    to[n] = 0;
}

/* Returns where s goes on behind the word, blanks and hyphens in both ignored; NULL: s does not begin with it. */
static const char *behind(const char *s, const char *word)
{
    for (; *word; word++) {
        if (*word == '-')
            continue;
        while (*s == ' ' || *s == '-')
            s++;
        if (*s++ != *word)
            return NULL;
    }
    return s;
}

/* Whether a GPU is of the preset's model if `rest` follows the preset's name in its name: nothing, a number ("80GB"),
 * or a word of form or kind ("PCIe"); not, say, "Ti". */
static bool is_same_model(const char *rest)
{
    static const char *const after[] = {"pcie", "sxm", "hbm", "nvl",      "dgx",
                                        "oam",  "vf",  "gpu", "graphics", "generation"};
    if (isalnum((unsigned char)*rest))
        return false;
    rest += strspn(rest, " -");
    if (!isalpha((unsigned char)*rest))
        return true;
    for (size_t i = 0; i < sizeof after / sizeof *after; i++)
        if (!strncmp(rest, after[i], strlen(after[i])))
            return true;
    return false;
}

/* Whether a plain name (lower case, without marks) holds the preset's name as whole words, with nothing behind it that
 * makes it another model's: "nvidia a100 pcie" holds "a100". */
static bool holds(const char *name, const char *preset)
{
    for (const char *s = name; *s; s++) {
        bool begins = s == name || !isalnum((unsigned char)s[-1]);
        const char *rest = begins && isalnum((unsigned char)*s) ? behind(s, preset) : NULL;
        if (rest && is_same_model(rest))
            return true;
    }
    return false;
}

bool gpu_preset(enum gpu_maker maker, const char *name, struct device_class *k)
{
    char plain[256];
    const char *also;
    plain_name(name, plain, sizeof plain);
    for (uint32_t i = 0; (also = preset_also(i)); i++) {
        preset_at(i, k);
        if (preset_maker(i) == maker && (holds(plain, k->name) || (*also && holds(plain, also))))
            return true;
    }
    return false;
}

/* ---- estimated ------------------------------------------------------------------------------------- */

/* What matrix units of a generation do: f16 and i8 operations for each f32 one, taken from the data sheets of
 * presets.c.  `half` is that of GeForce, which sums f16 in f32 at half the rate. */
static const struct {
    enum gpu_maker maker;
    int64_t from; /* the first generation that this holds for, until the next row of the maker */
    int f16, half, i8;
    bool bf16; /* as fast as f16 */
} units[] = {
    {NVIDIA, 60, 2, 1, 1, false},   {NVIDIA, 70, 8, 8, 1, false},   {NVIDIA, 75, 8, 4, 16, false},
    {NVIDIA, 80, 16, 16, 32, true}, {NVIDIA, 86, 4, 2, 8, true},    {NVIDIA, 87, 8, 8, 16, true},
    {NVIDIA, 89, 4, 2, 8, true},    {NVIDIA, 90, 16, 16, 32, true}, {NVIDIA, 100, 32, 32, 64, true},
    {NVIDIA, 120, 4, 2, 8, true},   {AMD, 90000, 2, 2, 2, false},   {AMD, 90008, 8, 8, 8, true},
    {AMD, 90402, 8, 8, 16, true},   {AMD, 90500, 16, 16, 32, true}, {AMD, 100000, 2, 2, 4, false},
    {AMD, 110000, 4, 4, 4, true},   {AMD, 120000, 8, 8, 16, true},  {INTEL, 0, 8, 8, 16, true},
};

/* Sets the peaks of *k, a preset's, from cores and clock.  Without a row for its generation all types keep their ratios
 * to f32. */
static void estimate_peaks(const struct gpu *g, struct device_class *k)
{
    int64_t f32 = two_digits(sat_mul(sat_mul(g->lanes, g->mhz), 2000000));
    int64_t of = k->peak[ELEM_F32];
    bool geforce = strstr(g->name, "GeForce") != NULL;
    for (int e = 0; e < ELEM_COUNT; e++)
        k->peak[e] = two_digits(mul_div_ceil(k->peak[e], f32, of));
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (units[i].maker != g->maker || g->generation < units[i].from)
            continue;
        memset(k->peak, 0, sizeof k->peak);
        k->peak[ELEM_F32] = f32;
        k->peak[ELEM_F16] = sat_mul(f32, geforce ? units[i].half : units[i].f16);
        k->peak[ELEM_BF16] = units[i].bf16 ? k->peak[ELEM_F16] : 0;
        k->peak[ELEM_I8] = sat_mul(f32, units[i].i8);
    }
}

/* Makes *k the preset accelerator of the maker whose memory is nearest to `memory` bytes (0: the maker's first
 * preset). */
static void nearest_preset(enum gpu_maker maker, int64_t memory, struct device_class *k)
{
    struct device_class each;
    int64_t least = INT64_MAX;
    for (uint32_t i = 0; preset_at(i, &each); i++) {
        int64_t apart = memory ? each.memory - memory : 0;
        apart = apart < 0 ? -apart : apart;
        if (preset_maker(i) == maker && apart < least) {
            least = apart;
            *k = each;
        }
    }
}

/* Returns the name of a class for a GPU's name, in a: small letters, digits and hyphens. */
static const char *class_name(const char *name, struct arena *a)
{
    char plain[256], *to = arena_alloc(a, NAME_TEXT);
    size_t n = 0;
    plain_name(name, plain, sizeof plain);
    for (const char *s = plain; *s && n + 1 < NAME_TEXT; s++) {
        if (isalnum((unsigned char)*s))
            to[n++] = *s;
        else if (n && to[n - 1] != '-')
            to[n++] = '-';
    }
    while (n && to[n - 1] == '-')
        to[--n] = 0;
    return n ? to : "gpu";
}

bool gpu_class(const struct gpu *g, struct device_class *k, struct arena *a)
{
    bool estimated = !gpu_preset(g->maker, g->name, k);
    const char *name = *g->name ? g->name : "a GPU without a name";
    k->note = arena_fmt(a, "%s by %s", name, g->told_by);
    if (estimated) {
        bool cores = g->lanes > 0 && g->mhz > 0;
        nearest_preset(g->maker, g->memory, k);
        k->note = arena_fmt(
            a, "estimated: %s by %s%s%s", name, g->told_by,
            cores ? arena_fmt(a, ", %lld cores at %lld MHz", (long long)g->lanes, (long long)g->mhz)
                  : "",
            cores && g->memory_rate > 0 ? "" : arena_fmt(a, ", the rest as of the %s", k->name));
        k->name = class_name(g->name, a);
        memset(k->kernel, 0, sizeof k->kernel);
        if (cores)
            estimate_peaks(g, k);
        k->bandwidth = g->memory_rate > 0 ? two_digits(g->memory_rate) : k->bandwidth;
    }
    /* what the GPU itself tells replaces the figures of the preset */
    k->memory = g->memory > 0 ? g->memory : k->memory;
    k->link_bandwidth = g->link_rate > 0 ? g->link_rate : k->link_bandwidth;
    return estimated;
}
