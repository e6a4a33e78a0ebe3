/* Reads JSON (json_in.h).  An arena frees each document, also when work on the document ends early. */
#include "ir/base/json_in.h"

/* Drops the reference to a JSON document; called when its arena is freed. */
static void drop_reference(void *root)
{
    json_decref(root);
}

json_t *json_keep(struct arena *a, json_t *root)
{
    if (root)
        arena_defer(a, drop_reference, root);
    return root;
}

json_t *json_read(struct arena *a, const char *text, size_t n, json_error_t *e)
{
    return json_keep(a, json_loadb(text, n, JSON_REJECT_DUPLICATES, e));
}

const char *json_get_text(const json_t *o, const char *key)
{
    return json_string_value(json_object_get(o, key));
}

bool json_int_in(const json_t *j, int64_t low, int64_t high, int64_t *x)
{
    bool in = json_is_integer(j) && json_integer_value(j) >= low && json_integer_value(j) <= high;
    if (in)
        *x = json_integer_value(j);
    return in;
}
