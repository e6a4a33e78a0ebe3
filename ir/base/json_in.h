/* Reading JSON: documents with the lifetime of an arena, and typed access to members. */
#ifndef PCC_IR_BASE_JSON_IN_H
#define PCC_IR_BASE_JSON_IN_H

#include "ir/base/arena.h"

#include <jansson.h>

/* Gives the caller's reference to root to a: arena_free() drops the reference.  Returns root; NULL: does nothing. */
json_t *json_keep(struct arena *a, json_t *root);
/* The document in n bytes of text, in a; NULL and why in e (NULL: not asked): it is none, or names a key twice. */
json_t *json_read(struct arena *a, const char *text, size_t n, json_error_t *e);
/* The text of a member; NULL: o is no object or has no text of that name. */
const char *json_get_text(const json_t *o, const char *key);
/* Whether j is an integer in low .. high: *x. */
bool json_int_in(const json_t *j, int64_t low, int64_t high, int64_t *x);

#endif
