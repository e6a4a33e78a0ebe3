/* Quantities with units: pcc computes with int64_t numbers of ps and bytes; files and users write "12.5us", "16GiB",
 * "25GB/s".
 *
 * Printing is exact (parsing the printed text gives the same number) except in functions named "short".  Parsing is
 * exact or fails.  No floating point is used. */
#ifndef PCC_IR_BASE_UNITS_H
#define PCC_IR_BASE_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { UNIT_TEXT = 32 }; /* bytes of the longest printed quantity, with the final NUL */

#define PS_PER_S INT64_C(1000000000000)

/* Each parser parses all of s, a number and a unit without a blank between them.  Returns false if s is no such
 * quantity or not a whole number of ps, bytes, bytes per second, or millionths. */
bool time_parse(const char *s, int64_t *ps); /* units: ps ns us ms s */
/* units: none or B (bytes), kB or KB, MB GB TB (powers of 1000), KiB MiB GiB TiB or K M G T (powers of 1024) */
bool bytes_parse(const char *s, int64_t *b);
bool rate_parse(const char *s, int64_t *bps); /* bytes per second: a size, then "/s" */
bool count_parse(const char *s, int64_t *n);  /* units: none, k or K, M G T (powers of 1000) */
/* a share from 0.000001 to 1: "0.35" or "35%" */
bool share_parse(const char *s, int64_t *millionths);

/* Each printer fills buf[UNIT_TEXT] and returns it. */
char *time_print(char *buf, int64_t ps);  /* exact: "1.29us" */
char *bytes_print(char *buf, int64_t b);  /* exact: "16GiB", "1234B" */
char *rate_print(char *buf, int64_t bps); /* exact: "25GB/s" */
char *time_short(char *buf, int64_t ps);  /* rounded to four digits: "12.35 ms" */
char *bytes_short(char *buf, int64_t b);  /* rounded to four digits: "118.3 MiB" */
char *count_short(char *buf, int64_t n);  /* rounded to four digits: "124.4 M" */
/* Prints a size that the user can pass to an option into buf[BYTES_BOTH]: like bytes_short(), and exactly, too, if that
 * is rounded: "12.00 MiB", "1.490 MiB (1561900 bytes)". */
enum { BYTES_BOTH = 64 };
char *bytes_both(char *buf, int64_t b);

/* sat_add() returns the sum, sat_mul() the product of a, b >= 0; INT64_MAX if it overflows. */
int64_t sat_add(int64_t a, int64_t b);
int64_t sat_mul(int64_t a, int64_t b);
/* Returns a * b / c, rounded up, for a, b >= 0, c > 0; INT64_MAX if the result overflows.  The product may have 128
 * bits. */
int64_t mul_div_ceil(int64_t a, int64_t b, int64_t c);

/* Returns what percentage of `all` the number `part` is, rounded down, so that it is 100 or more only if part >= all;
 * 0 if all is 0.  part, all >= 0. */
int percent_of(int64_t part, int64_t all);

#endif
