/* A reference that an arena holds (json_keep.h): nothing is lost when work on the document is left early. */
#include "ir/base/json_keep.h"

static void drop(void *root)
{
    json_decref(root);
}

json_t *json_keep(struct arena *a, json_t *root)
{
    if (root)
        arena_defer(a, drop, root);
    return root;
}
