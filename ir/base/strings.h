/* Interned strings of a module: equal strings have the same id.  Ids are 0, 1, 2, ... in the order of first use; id 0
 * is "".  Also some functions for C strings. */
#ifndef PCC_IR_BASE_STRINGS_H
#define PCC_IR_BASE_STRINGS_H

#include "ir/base/arena.h"

#include <stdbool.h>

struct strings;

/* Returns a table that holds only "", in a. */
struct strings *strings_new(struct arena *a);
/* Returns the id of s[0 .. n), which is copied if it is new.  Expected O(n). */
uint32_t strings_id(struct strings *t, const char *s, size_t n);
/* Returns the text of an id, with a final NUL; "" for ids that do not exist. */
const char *strings_text(const struct strings *t, uint32_t id);
/* Returns the size of an id's text in bytes, without the final NUL (strings of attributes may contain NULs); 0 for ids
 * that do not exist. */
size_t strings_size(const struct strings *t, uint32_t id);
/* Returns the number of ids, that of "" included. */
uint32_t strings_count(const struct strings *t);

/* Whether s ends with `end`. */
bool str_ends(const char *s, const char *end);
/* Comparison function for qsort and bsearch over arrays of const char *: ascending by strcmp(). */
int str_order(const void *a, const void *b);
/* Returns the part of the path after its last slash; without a slash, the path. */
const char *path_base(const char *path);

#endif
