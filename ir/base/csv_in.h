/* Reads CSV field by field. */
#ifndef PCC_IR_BASE_CSV_IN_H
#define PCC_IR_BASE_CSV_IN_H

#include <stdbool.h>

/* Reads a field of CSV at *s and moves *s behind it.  Writes to *out the field, unquoted in the same memory, and to
 * *stop the character that ended it: ',', '\n' or 0.  Returns false if a quote does not end, or has text behind it. */
bool csv_field(char **s, char **out, char *stop);
/* Returns s without the apostrophe that csv_text() (backends/report/csv.h) puts before texts that a spreadsheet would
 * take for a formula. */
const char *csv_plain(const char *s);

#endif
