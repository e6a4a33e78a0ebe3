/* Writes lines on stderr that are no diagnostics: with --diag=json these, too, are JSON objects. */
#ifndef PCC_TOOLS_STDERR_LINES_H
#define PCC_TOOLS_STDERR_LINES_H

#include "cli.h"

/* Writes a line {"level": ..., "name": ..., "message": ...} to stderr, where each byte that is not UTF-8 becomes
 * U+FFFD.  name: NULL: none. */
void stderr_json(const char *level, const char *name, const char *message);
/* Writes a text of one line or more, which ends in a newline, to stderr; with --diag=json as one line of level
 * "report", without that newline.  name: the option that asks for it, or "reports" for the tables that stand on stdout
 * otherwise. */
void stderr_report(const struct cli *c, const char *name, const char *text);

#endif
