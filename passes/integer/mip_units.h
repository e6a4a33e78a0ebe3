/* Chooses the units of integer programs: figures should lie near 1, and a solver's tolerance must not change what fits
 * a memory. */
#ifndef PCC_PASSES_INTEGER_MIP_UNITS_H
#define PCC_PASSES_INTEGER_MIP_UNITS_H

#include "ir/dag/wdag.h"

/* Returns the greatest common divisor of a and b; if one of them is 0, the other one. */
int64_t mip_gcd(int64_t a, int64_t b);

/* Returns the unit of time, ps: a power of 1000, at most 1 s, in which `value` ps (>= 1) lies in 1 .. 1000. */
int64_t mip_time_unit(int64_t value);
/* Returns the name of a unit that mip_time_unit() returned, such as "ms". */
const char *mip_time_unit_name(int64_t unit);

/* The unit of bytes; all sizes are whole multiples of their greatest common divisor. */
struct mip_bytes {
    int64_t gcd;  /* greatest common divisor of all sizes; 1 if there are none */
    int64_t unit; /* gcd times a power of 1024 */
};
/* Returns the unit for g's vertices and shared items: it is so large that each of `places` devices would hold less than
 * 1024 units if all bytes were divided evenly.  O(V + shared). */
struct mip_bytes mip_bytes_of(const struct wdag *g, uint32_t places);
/* Converts bytes to b->unit, as figures of the integer program are. */
double mip_byte_units(const struct mip_bytes *b, int64_t bytes);
/* Returns the right side, in b->unit, of the row that limits the bytes on a device to `room` bytes: room rounded down
 * to a multiple of the divisor, plus half a divisor, so that a solver's tolerance can neither admit nor refuse a set
 * wrongly. */
double mip_room(const struct mip_bytes *b, int64_t room);

#endif
