/* The interner of a module: text <-> dense ids, in the order of first use; id 0 is "". */
#ifndef PCC_IR_BASE_STRINGS_H
#define PCC_IR_BASE_STRINGS_H

#include "ir/base/arena.h"

#include <stdbool.h>

struct strings;

struct strings *strings_new(struct arena *a);
/* Id of s[0 .. n); copies it if it is new.  Expected O(n). */
uint32_t strings_id(struct strings *t, const char *s, size_t n);
/* Text of an id; "" for ids that were never given out. */
const char *strings_text(const struct strings *t, uint32_t id);
/* Its bytes without the final NUL (strings of attributes may hold others). */
size_t strings_size(const struct strings *t, uint32_t id);
uint32_t strings_count(const struct strings *t);

/* Does s end with `end`? */
bool str_ends(const char *s, const char *end);
/* For qsort and bsearch over arrays of const char *. */
int str_order(const void *a, const void *b);
/* The part of the path after the last slash. */
const char *path_base(const char *path);

#endif
