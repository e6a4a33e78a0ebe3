/* Units of integer programs: their figures should lie near 1, and bytes must not be lost to a solver's tolerance. */
#ifndef PCC_PASSES_INTEGER_MIP_UNITS_H
#define PCC_PASSES_INTEGER_MIP_UNITS_H

#include "ir/dag/wdag.h"

/* gcd(0, a) is a. */
int64_t mip_gcd(int64_t a, int64_t b);

/* The unit of time: a power of 1000 ps such that `value` is in 1 .. 1000. */
int64_t mip_time_unit(int64_t value);
/* "ms" of such a unit. */
const char *mip_time_unit_name(int64_t unit);

/* Bytes are whole multiples of their greatest common divisor. */
struct mip_bytes {
    int64_t gcd;  /* of all sizes; 1 if there are none */
    int64_t unit; /* gcd times a power of 1024 */
};
/* Of g's vertices and shared items, which `places` devices hold.  O(V + shared). */
struct mip_bytes mip_bytes_of(const struct wdag *g, uint32_t places);
/* Bytes as a number of b->unit: the figure that the integer program has for them. */
double mip_byte_units(const struct mip_bytes *b, int64_t bytes);
/* Right side of a memory row: `room` bytes plus half of the divisor, so that a solver's tolerance cannot admit or
 * refuse a set. */
double mip_room(const struct mip_bytes *b, int64_t room);

#endif
