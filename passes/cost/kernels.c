/* Computes times of kernels on a GPU from a few facts of its class (kernels.h).
 *
 * A matrix product is cut into tiles of its result.  Each multiprocessor computes one tile at a time: tiles come in
 * waves, and the last wave takes as long as a full one, however few tiles are left; a product smaller than a wave pays
 * a whole one.  A tile takes, for each element of the sum, rows * columns multiply-adds and the loading of a row and a
 * column (LOADS multiply-adds for each element loaded, so that small tiles are slower); and once a prologue.  The
 * quickest tile with edges of at most 128 is taken; for a side of at most SMALL elements tiles are as wide as the
 * side.  A node of several products, or a convolution, can choose only among large tiles: KERNEL_TILE.  A card that
 * cannot keep its clocks slows down in a long kernel: KERNEL_BURST.  A bias that is added to a product is part of its
 * kernel (node_biases()).  Everything else streams its operands and results at a share of the bandwidth.  A
 * normalisation needs each row more than once: a layer normalisation twice, a softmax three times.  Rows of up to
 * KERNEL_ROW elements are read from memory once.  For a softmax the limit is four times that, since a quarter as many
 * rows are worked on at once, and at least the WARP elements that a warp's registers hold.  Of longer rows a growing
 * part is read from memory each time; of rows twice as long as the limit, all.
 *
 * All in integers, rounded up.  The model with tiles and waves is that of NeuSight (ASPLOS 2025), section 4, except
 * that NeuSight learns the utilisation, which is a constant here.  O(1). */
#include "passes/cost/kernels.h"

#include "ir/base/units.h"

enum {
    EDGE = 128,       /* the largest edge of a tile, elements */
    SMALL = 32,       /* sides up to this length have tiles as wide as the side */
    LOADS = 8,        /* multiply-adds that take as long as loading one element */
    SOFTMAX_ROWS = 4, /* a softmax keeps rows up to SOFTMAX_ROWS * KERNEL_ROW elements in a cache */
    WARP = 1024       /* elements that the registers of a warp hold */
};

struct kernel_work kernel_work_of(struct flops *x, nid n, int64_t flops, int64_t traffic,
                                  int64_t operand)
{
    struct kernel_work w = {.flops = flops, .traffic = traffic, .again = operand};
    w.is_product = flops > 0 && node_products(x, n, &w.product);
    w.row = traffic > 0 ? node_normal_row(x, n, &w.passes) : 0;
    return w;
}

/* Returns a / b, rounded up; a >= 0, b > 0. */
static int64_t div_up(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

/* Returns the least edge of a tile for a side of this length: `least` or, for a side of at most SMALL elements, the
 * power of two that covers the side. */
static int64_t least_edge(int64_t side, int64_t least)
{
    int64_t edge = 1;
    if (side > SMALL)
        return least;
    while (edge < side)
        edge *= 2;
    return edge;
}

/* Returns the operations of all waves with tiles of a x b, counted as operations at the speed of the largest tile. */
static int64_t wave_flops(const int64_t *kernel, const struct products *p, int64_t a, int64_t b)
{
    int64_t tiles = sat_mul(p->count, sat_mul(div_up(p->rows, a), div_up(p->columns, b)));
    /* tiles in whole waves: the last wave takes as long as a full one */
    int64_t paid = sat_mul(div_up(tiles, kernel[KERNEL_UNITS]), kernel[KERNEL_UNITS]);
    /* operations of one tile; the largest takes 2 EDGE (EDGE + 2 LOADS) */
    int64_t step = 2 * (a * b + LOADS * (a + b));
    return mul_div_ceil(sat_mul(paid, sat_add(p->sum, kernel[KERNEL_PROLOGUE])), step * EDGE,
                        EDGE + 2 * LOADS);
}

/* Returns the operations for which the device is busy, counted at the speed of the largest tile: for a product, the
 * least over all sizes of tiles that a kernel may choose. */
static int64_t busy_flops(const int64_t *kernel, const struct kernel_work *w)
{
    const struct products *p = &w->product;
    int64_t best = INT64_MAX, least = p->count > 1 || p->conv ? kernel[KERNEL_TILE] : SMALL;
    if (!w->is_product)
        return w->flops;
    int64_t low_a = least_edge(p->rows, least), low_b = least_edge(p->columns, least);
    int64_t high_a = p->rows > SMALL ? EDGE : low_a, high_b = p->columns > SMALL ? EDGE : low_b;
    for (int64_t a = low_a; a <= high_a; a *= 2)
        for (int64_t b = low_b; b <= high_b; b *= 2)
            best = smaller(best, wave_flops(kernel, p, a, b));
    return best;
}

/* Returns rate * share / 10^6, at least 1. */
static int64_t share_of(int64_t rate, int64_t share)
{
    __int128 r = (__int128)rate * share / 1000000;
    return r < 1 ? 1 : r > INT64_MAX ? INT64_MAX : (int64_t)r;
}

/* Returns the precision in which class d computes work that the model has in type e. */
static enum precision work_precision(const struct device_class *d, enum elem e,
                                     const struct kernel_work *w)
{
    bool products_only = d->precision == PRECISION_TF32 || d->precision == PRECISION_I8;
    return e != ELEM_F32 || (products_only && !w->is_product) ? PRECISION_AS_MODEL : d->precision;
}

/* Returns which of the class's facts (enum kernel_fact) is the share of the peak that this work reaches. */
static enum kernel_fact reached_share(const struct kernel_work *w)
{
    if (!w->is_product)
        return KERNEL_PRODUCT;
    if (w->product.conv)
        return KERNEL_CONV;
    return w->product.count > 1 ? KERNEL_BATCHED : KERNEL_PRODUCT;
}

int64_t kernel_compute(const struct device_class *d, enum elem e, const struct kernel_work *w,
                       int64_t efficiency)
{
    const int64_t *kernel = d->kernel;
    /* the peak of the precision in which the class computes; 0: that precision has no peak of its own */
    int64_t other = cluster_precision_peak(d, work_precision(d, e, w));
    bool as_model = other == 0 || work_precision(d, e, w) == PRECISION_AS_MODEL;
    int64_t peak = share_of(as_model ? cluster_peak(d, e) : other, efficiency);
    if (kernel[KERNEL_UNITS] == 0) /* no figures of kernels: the class computes at its peak */
        return mul_div_ceil(w->flops, PS_PER_S, peak);
    int64_t t =
        mul_div_ceil(busy_flops(kernel, w), PS_PER_S, share_of(peak, kernel[reached_share(w)]));
    /* ps at the full rate; after them the rate is KERNEL_WARM millionths of it */
    int64_t burst = kernel[KERNEL_BURST];
    return burst == 0 || t <= burst
               ? t
               : sat_add(burst, mul_div_ceil(t - burst, 1000000, kernel[KERNEL_WARM]));
}

/* Returns the work w with its bytes changed to what they are if f32 tensors are stored in precision p. */
static struct kernel_work narrow(struct kernel_work w, enum precision p)
{
    int64_t width = elem_bytes(precision_elem(p), 1), whole = elem_bytes(ELEM_F32, 1);
    w.traffic -= w.f32 - mul_div_ceil(w.f32, width, whole);
    w.again = mul_div_ceil(w.again, width, whole);
    return w;
}

/* Returns the bytes that a kernel moves: its traffic, and again the rows that it normalises and that do not stay in
 * a cache. */
static int64_t moved_bytes(const int64_t *kernel, const struct kernel_work *w)
{
    int64_t kept = kernel[KERNEL_ROW];
    if (w->row == 0)
        return w->traffic;
    if (w->passes > 2) /* only a softmax reads its operand so often */
        kept = larger(sat_mul(kept, SOFTMAX_ROWS), WARP);
    if (w->row <= kept)
        return w->traffic;
    /* how many of the `kept` elements the rest of a long row pushes out of the cache */
    int64_t lost = smaller(w->row - kept, kept);
    return sat_add(w->traffic, mul_div_ceil(sat_mul(w->again, w->passes - 1), lost, kept));
}

int64_t kernel_memory(const struct device_class *d, enum elem e, const struct kernel_work *w,
                      int64_t efficiency)
{
    int64_t bandwidth = share_of(d->bandwidth, efficiency);
    struct kernel_work own = narrow(*w, work_precision(d, e, w));
    if (d->kernel[KERNEL_UNITS] == 0)
        return mul_div_ceil(own.traffic, PS_PER_S, bandwidth);
    return mul_div_ceil(moved_bytes(d->kernel, &own), PS_PER_S,
                        share_of(bandwidth, d->kernel[KERNEL_STREAM]));
}
