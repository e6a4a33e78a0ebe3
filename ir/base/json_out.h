/* JSON that is written as it is made, where a tree would be too large or its numbers not exact. */
#ifndef PCC_IR_BASE_JSON_OUT_H
#define PCC_IR_BASE_JSON_OUT_H

#include <stdint.h>
#include <stdio.h>

/* A string in quotes; bytes that are not UTF-8 become U+FFFD, each. */
void json_put_string(FILE *f, const char *text);
/* v / 10^digits as a plain decimal, exact, with one digit behind the point at least and no other zeros at its end;
 * v < 0: null.  0 < digits < 19. */
void json_put_decimal(FILE *f, int64_t v, int digits);

#endif
