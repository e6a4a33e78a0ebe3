/* What kernels reach of a device's peak and bandwidth (kernel_rates.h; passes/cost/kernels.h has the model).
 *
 * The table is fitted to f32 kernels without TF32 of PyTorch 2.1 and CUDA 12.1, as published with NeuSight (ASPLOS
 * 2025), by tools/bench/fit_kernels.py, which also prints how far the fitted times are from the measured ones;
 * `fit_kernels.py FOLDER --check` tells whether the table has the figures that it finds.
 *
 * Convolutions were measured on an h100 alone (tools/bench/measure_kernels.py; PyTorch 2.11, CUDA 13.0), where they
 * reach a share of what products reach; the same share is assumed for all classes.
 *
 * t4 and l4 are cards of 70 W, which cannot keep their clocks in matrix products, so no other class takes over their
 * figures.  For the h100 only products are published; its other figures are medians of the other classes.  Figures for
 * other element types are not measured: the figures of f32 count for them.  O(rows) each. */
#include "ir/cluster/kernel_rates.h"

#include "ir/base/units.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define MOST INT64_C(1000000000) /* elements of a row */

const struct kernel_key kernel_keys[KERNEL_FACTS] = {
    [KERNEL_UNITS] = {"units", count_parse, 1, 1000000, 0, "108"},
    [KERNEL_TILE] = {"tile", count_parse, 64, 128, 128, "128"},
    [KERNEL_PROLOGUE] = {"prologue", count_parse, 0, 1000000, 0, "8"},
    [KERNEL_PRODUCT] = {"product", share_parse, 1, 1000000, 1000000, "0.92"},
    [KERNEL_BATCHED] = {"batched", share_parse, 1, 1000000, 1000000, "0.95"},
    [KERNEL_CONV] = {"convolution", share_parse, 1, 1000000, 0, "0.66"},
    [KERNEL_STREAM] = {"stream", share_parse, 1, 1000000, 1000000, "0.86"},
    [KERNEL_ROW] = {"row", count_parse, 1, MOST, MOST, "2560"},
    [KERNEL_BURST] = {"burst", time_parse, 0, INT64_MAX, 0, "8ms"},
    [KERNEL_WARM] = {"warm", share_parse, 1, 1000000, 1000000, "0.83"},
};

/* The rates of a class that was measured. */
struct kernel_row {
    const char *name;
    enum gpu_generation generation;
    bool stands; /* classes that were not measured take over figures of this class */
    int64_t fact[KERNEL_FACTS];
};

/* clang-format off: one row each, as the script prints them */
/* units, tile, prologue, product, batched, convolution, stream, row, burst, warm */
static const struct kernel_row rows[] = {
    {"v100-pcie", VOLTA, true, {80, 64, 8, 990000, 900000, 710000, 910000, 512, 0, 1000000}},
    {"t4", TURING, false, {40, 64, 0, 570000, 510000, 410000, 790000, 1280, 8000000000, 870000}},
    {"a100-40g-pcie",
     AMPERE,
     true,
     {108, 128, 8, 850000, 870000, 610000, 880000, 2048, 0, 1000000}},
    {"a100-80g-pcie",
     AMPERE,
     true,
     {108, 128, 8, 930000, 960000, 670000, 860000, 2048, 0, 1000000}},
    {"l4", ADA, false, {58, 128, 32, 350000, 300000, 250000, 780000, 6144, 8000000000, 870000}},
    {"h100", HOPPER, true, {132, 64, 32, 780000, 800000, 560000, 860000, 2048, 0, 1000000}},
};
/* clang-format on */
enum { ROWS = sizeof rows / sizeof rows[0] };

/* Returns the median of the n > 0 numbers, which it sorts; between two of them the mean. */
static int64_t median_of(int64_t *v, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t k = i; k > 0 && v[k - 1] > v[k]; k--) {
            int64_t t = v[k];
            v[k] = v[k - 1];
            v[k - 1] = t;
        }
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* Sets kernel[] to the medians over the rows of generation g that stand for others, of all such rows if g is
 * NO_GENERATION.  Returns false if there is none. */
static bool take_medians(enum gpu_generation g, int64_t *kernel)
{
    int64_t v[ROWS];
    for (int k = 0; k < KERNEL_FACTS; k++) {
        uint32_t n = 0;
        for (int i = 0; i < ROWS; i++)
            if (rows[i].stands && (g == NO_GENERATION || rows[i].generation == g))
                v[n++] = rows[i].fact[k];
        if (n == 0)
            return false;
        kernel[k] = median_of(v, n);
    }
    return true;
}

enum kernel_source kernel_rates(const char *name, enum gpu_generation g, int64_t units,
                                int64_t *kernel)
{
    memset(kernel, 0, KERNEL_FACTS * sizeof *kernel);
    if (g == NO_GENERATION)
        return KERNELS_UNKNOWN;
    for (int i = 0; i < ROWS; i++)
        if (strcmp(rows[i].name, name) == 0) {
            assert(rows[i].generation == g && rows[i].fact[KERNEL_UNITS] == units);
            memcpy(kernel, rows[i].fact, sizeof rows[i].fact);
            return KERNELS_MEASURED;
        }
    if (!take_medians(g, kernel))
        take_medians(NO_GENERATION, kernel);
    kernel[KERNEL_UNITS] = units;
    /* a median may be between the two sizes of tiles */
    kernel[KERNEL_TILE] = kernel[KERNEL_TILE] < 128 ? 64 : 128;
    return KERNELS_ESTIMATED;
}

char *kernel_print(char *buf, enum kernel_fact k, int64_t value)
{
    if (kernel_keys[k].parse == time_parse)
        return time_print(buf, value);
    if (kernel_keys[k].parse == share_parse)
        snprintf(buf, UNIT_TEXT, "%lld.%06lld", (long long)(value / 1000000),
                 (long long)(value % 1000000));
    else
        snprintf(buf, UNIT_TEXT, "%lld", (long long)value);
    /* removes the zeros at the end of the fraction, and the point if nothing is left behind it */
    if (strchr(buf, '.')) {
        size_t n = strlen(buf);
        while (buf[n - 1] == '0')
            n--;
        if (buf[n - 1] == '.')
            n--;
        buf[n] = '\0';
    }
    return buf;
}

const char *kernel_complete(int64_t *kernel, struct arena *a)
{
    bool units = kernel[KERNEL_UNITS] != 0;
    for (int k = 0; k < KERNEL_FACTS; k++) {
        const struct kernel_key *key = &kernel_keys[k];
        if (!units && kernel[k] != 0)
            return arena_fmt(a, "\"%s\" needs \"units\", the number of multiprocessors", key->name);
        /* without a figure of their own convolutions reach what products reach; that figure is complete by now */
        if (units && kernel[k] == 0)
            kernel[k] = k == KERNEL_CONV ? kernel[KERNEL_PRODUCT] : key->unsaid;
        if (units && (kernel[k] < key->least || kernel[k] > key->most))
            return arena_fmt(a, "\"%s\" is %lld, expected %lld to %lld, such as %s", key->name,
                             (long long)kernel[k], (long long)key->least, (long long)key->most,
                             key->like);
    }
    if (units && kernel[KERNEL_TILE] != 64 && kernel[KERNEL_TILE] != 128)
        return "\"tile\" is the edge of a square, 64 or 128";
    return NULL;
}
