/* Finds the figures of a GPU (gpu_class(), gpu_preset() in gpu.h).
 *
 * By name: a preset fits if its name, or its other name, stands in the GPU's name from the beginning of a word
 * (blanks, hyphens, capitals, "(R)" and "(TM)" ignored), and if the text behind it does not make it another model:
 * nothing, a number ("80GB"), or a word for form or kind ("PCIe", "Graphics").  "RTX 3090 Ti" and "RTX 4090 Laptop
 * GPU" are other GPUs than the RTX 3090 and 4090.
 *
 * If no preset fits, the figures are estimated: f32 as two operations for each multiply-add that the cores start in a
 * cycle of the largest clock, other types by the matrix units of GPUs of that generation.  Figures that nothing tells
 * are taken from the preset of the same maker whose memory is nearest. */
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

/* If s begins with the word, blanks and hyphens in both ignored, returns the rest of s behind it; else NULL. */
static const char *skip_word(const char *s, const char *word)
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

/* Whether a GPU is of the preset's model, given `rest`, what follows the preset's name in the GPU's name: `rest` must
 * be empty, or begin with a number ("80GB") or a word for form or kind ("PCIe"); "Ti" makes it another model. */
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

/* Whether a name made by plain_name() has the preset's name as whole words, and nothing behind these makes the GPU
 * another model: "nvidia a100 pcie" holds "a100". */
static bool holds_preset(const char *name, const char *preset)
{
    for (const char *s = name; *s; s++) {
        bool begins = s == name || !isalnum((unsigned char)s[-1]);
        const char *rest = begins && isalnum((unsigned char)*s) ? skip_word(s, preset) : NULL;
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
        if (preset_maker(i) == maker &&
            (holds_preset(plain, k->name) || (*also && holds_preset(plain, also))))
            return true;
    }
    return false;
}

/* ---- estimated ------------------------------------------------------------------------------------- */

/* The rates of the matrix units of a generation, from the data sheets of presets.c: f16, i8: numbers of operations for
 * each f32 operation; half: the same as f16 for GeForce cards, which sum f16 in f32 at half the rate. */
static const struct {
    enum gpu_maker maker;
    /* the first generation of the row; the row holds up to the next row of the maker */
    int64_t from;
    int f16, half, i8;
    bool bf16; /* bf16 is as fast as f16; false: there is none */
} units[] = {
    {NVIDIA, 60, 2, 1, 1, false},   {NVIDIA, 70, 8, 8, 1, false},   {NVIDIA, 75, 8, 4, 16, false},
    {NVIDIA, 80, 16, 16, 32, true}, {NVIDIA, 86, 4, 2, 8, true},    {NVIDIA, 87, 8, 8, 16, true},
    {NVIDIA, 89, 4, 2, 8, true},    {NVIDIA, 90, 16, 16, 32, true}, {NVIDIA, 100, 32, 32, 64, true},
    {NVIDIA, 120, 4, 2, 8, true},   {AMD, 90000, 2, 2, 2, false},   {AMD, 90008, 8, 8, 8, true},
    {AMD, 90402, 8, 8, 16, true},   {AMD, 90500, 16, 16, 32, true}, {AMD, 100000, 2, 2, 4, false},
    {AMD, 110000, 4, 4, 4, true},   {AMD, 120000, 8, 8, 16, true},  {INTEL, 0, 8, 8, 16, true},
};

/* Replaces the peaks of *k, which are those of a preset, by peaks estimated from the GPU's cores and clock.  If units[]
 * has no row for the GPU's generation, the peaks keep the preset's ratios to f32. */
static void estimate_peaks(const struct gpu *g, struct device_class *k)
{
    /* in each cycle, a lane multiplies and adds: two operations */
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
        if (apart < 0)
            apart = -apart;
        if (preset_maker(i) == maker && apart < least) {
            least = apart;
            *k = each;
        }
    }
}

/* Returns a name for the class of GPUs that are called `name`, in a: small letters, digits and
 * hyphens, at most NAME_TEXT - 1 characters; "gpu" if nothing of `name` is left. */
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
        memset(k->kernel, 0, sizeof k->kernel); /* they were fitted on the preset's GPU */
        if (cores)
            estimate_peaks(g, k);
        if (g->memory_rate > 0)
            k->bandwidth = two_digits(g->memory_rate);
    }
    /* what the GPU itself tells replaces the figures of the preset */
    if (g->memory > 0)
        k->memory = g->memory;
    if (g->link_rate > 0)
        k->link_bandwidth = g->link_rate;
    return estimated;
}
