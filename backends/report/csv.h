/* Writes tables as CSV (RFC 4180).  Spreadsheets must not run names from models as formulas: a text that begins with =,
 * +, -, @ or an apostrophe gets an apostrophe in front, which pcc's reader of cost tables removes (costs.md). */
#ifndef PCC_BACKENDS_REPORT_CSV_H
#define PCC_BACKENDS_REPORT_CSV_H

#include "ir/base/arena.h"

#include <stdio.h>

/* Writes the text s as a field, in quotes if needed; characters that cannot be shown are escaped as by utf8_text()
 * (utf8.h).  Takes memory from a. */
void csv_text(FILE *f, const char *s, struct arena *a);

#endif
