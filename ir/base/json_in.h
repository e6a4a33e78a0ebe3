/* Reading JSON: documents with the lifetime of an arena, and typed access to members. */
#ifndef PCC_IR_BASE_JSON_IN_H
#define PCC_IR_BASE_JSON_IN_H

#include "ir/base/arena.h"

#include <jansson.h>

/* Ties the caller's reference to root to a: arena_free() drops the reference.  Returns root; does nothing for NULL. */
json_t *json_keep(struct arena *a, json_t *root);
/* Parses text[0 .. n) as JSON.  Returns the document, which is freed with a; or NULL if the text is not JSON or an
 * object has a key twice, with the reason in *e (e may be NULL). */
json_t *json_read(struct arena *a, const char *text, size_t n, json_error_t *e);
/* Returns the string value of o's member `key`; NULL: o is not an object, or has no member `key`, or its value is no
 * string. */
const char *json_get_text(const json_t *o, const char *key);
/* If j is an integer from low to high, both included, writes it to *x and returns true; else returns false. */
bool json_int_in(const json_t *j, int64_t low, int64_t high, int64_t *x);

#endif
