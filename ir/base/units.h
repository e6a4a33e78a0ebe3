/* Units: int64 picoseconds and bytes inside, "12.5us", "16GiB" and "25GB/s" outside.
 *
 * Printing is exact (print, then parse, gives the same number) unless a function says "short".
 * Parsing is exact or fails; no floating point is used. */
#ifndef PCC_IR_BASE_UNITS_H
#define PCC_IR_BASE_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { UNIT_TEXT = 32 }; /* room for any printed quantity, with the final NUL */

#define PS_PER_S INT64_C(1000000000000)

/* Each parser reads all of s; false: not such a quantity, or not an integer number of ps, B, B/s. */
bool time_parse(const char *s, int64_t *ps); /* ps ns us ms s */
/* none B kB MB GB TB KiB MiB GiB TiB (K M G T: binary) */
bool bytes_parse(const char *s, int64_t *b);
bool rate_parse(const char *s, int64_t *bps); /* a size, then "/s" */
bool count_parse(const char *s, int64_t *n);  /* digits, then none k M G T (powers of ten) */
bool share_parse(const char *s, int64_t *millionths); /* "0.35": in 0.000001..1 */

/* Each printer fills buf[UNIT_TEXT] and returns it. */
char *time_print(char *buf, int64_t ps);  /* exact: "1.29us" */
char *bytes_print(char *buf, int64_t b);  /* exact: "16GiB", "1234B" */
char *rate_print(char *buf, int64_t bps); /* exact: "25GB/s" */
char *time_short(char *buf, int64_t ps);  /* four digits: "12.35 ms" */
char *bytes_short(char *buf, int64_t b);  /* four digits: "118.3 MiB" */
/* a size that a user is to pass to an option, rounded up if at all: "1.490 MiB (1561900 bytes)", or "12.00 MiB";
 * fills buf[BYTES_BOTH] */
enum { BYTES_BOTH = 64 };
char *bytes_both(char *buf, int64_t b);
char *count_short(char *buf, int64_t n); /* four digits: "124.4 M" */

/* Saturating arithmetic on quantities >= 0: the sum or product, or INT64_MAX. */
int64_t sat_add(int64_t a, int64_t b);
int64_t sat_mul(int64_t a, int64_t b);
/* ceil(a * b / c) for a, b >= 0, c > 0 through 128 bits, saturating. */
int64_t mul_div_ceil(int64_t a, int64_t b, int64_t c);

/* Whole per cent, rounded down: 100 only if part is all of it; 0 of nothing.  part, all >= 0. */
int percent_of(int64_t part, int64_t all);

#endif
