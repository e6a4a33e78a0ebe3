/* Chooses the units of integer programs (mip_units.h). */
#include "passes/integer/mip_units.h"

#include "ir/base/units.h"

int64_t mip_gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

int64_t mip_time_unit(int64_t value)
{
    int64_t unit = 1;
    while (value / unit >= 1000 && unit < PS_PER_S)
        unit *= 1000;
    return unit;
}

const char *mip_time_unit_name(int64_t unit)
{
    return unit == 1            ? "ps"
           : unit == 1000       ? "ns"
           : unit == 1000000    ? "us"
           : unit == 1000000000 ? "ms"
                                : "s";
}

struct mip_bytes mip_bytes_of(const struct wdag *g, uint32_t places)
{
    struct mip_bytes b = {0};
    int64_t sum = 0;
    for (uint32_t v = 0; v < g->n; v++) {
        b.gcd = mip_gcd(g->size[v], b.gcd);
        sum += g->size[v];
    }
    for (uint32_t i = 0; i < g->nshared; i++) {
        b.gcd = mip_gcd(g->shared_size[i], b.gcd);
        sum += g->shared_size[i];
    }
    b.gcd = b.gcd ? b.gcd : 1;
    b.unit = b.gcd;
    while (sum / b.unit / places >= 1024)
        b.unit *= 1024;
    return b;
}

double mip_byte_units(const struct mip_bytes *b, int64_t bytes)
{
    return (double)bytes / (double)b->unit;
}

double mip_room(const struct mip_bytes *b, int64_t room)
{
    /* half a gcd is added: the bytes of a set are a multiple of the gcd, so the largest multiple that fits is well
     * below the limit and the next multiple well above it, and rounding in a solver cannot confuse the two */
    return ((double)(room / b->gcd) + 0.5) * (double)b->gcd / (double)b->unit;
}
