/* Small files in which the system describes the machine, such as those of /sys and /proc. */
#ifndef PCC_IR_CLUSTER_DETECT_MACHINE_FILE_H
#define PCC_IR_CLUSTER_DETECT_MACHINE_FILE_H

#include "ir/base/arena.h"

/* Returns the text of the file root + path, at most 64 KiB, without blanks and line breaks at its end, in a; NULL if
 * it cannot be read.  root: "" for this machine; in tests a folder. */
char *machine_text(const char *root, const char *path, struct arena *a);
/* Returns the number (whole, not negative) at the beginning of the file root + path; -1: the file cannot be read, or
 * does not begin with such a number. */
int64_t machine_number(const char *root, const char *path, struct arena *a);
/* Returns the line behind the one that begins at `line`; NULL: that is the last one. */
const char *machine_next_line(const char *line);
/* Returns the number behind the word `key` at the beginning of a line of text, with blanks or ':' between them; -1:
 * there is none. */
int64_t machine_field(const char *text, const char *key);
/* Returns the number (whole, not negative) at the beginning of s, after blanks; -1: there is none, or it is too
 * large. */
int64_t machine_parse(const char *s);

#endif
