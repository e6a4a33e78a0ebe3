/* Tables as CSV (RFC 4180).  Fields are names from files, which spreadsheets must not run: one that begins with =, +,
 * -, @ or an apostrophe gets an apostrophe before it, which readers of costs take off again (costs.md). */
#ifndef PCC_BACKENDS_REPORT_CSV_H
#define PCC_BACKENDS_REPORT_CSV_H

#include "ir/base/arena.h"

#include <stdio.h>

/* A field, in quotes where it needs them, as utf8_text shows it.  Memory is taken in a. */
void csv_text(FILE *f, const char *s, struct arena *a);

#endif
