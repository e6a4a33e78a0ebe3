/* Tables as CSV (RFC 4180). */
#ifndef PCC_BACKENDS_REPORT_CSV_H
#define PCC_BACKENDS_REPORT_CSV_H

#include <stdio.h>

/* A field, in quotes where it needs them. */
void csv_text(FILE *f, const char *s);

#endif
