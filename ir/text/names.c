/* The table of the names in a text: it gives the index that a name has in a name space (parse.h: text_lookup,
 * text_bind). Expected O(1). */
#include "ir/text/parse.h"

#include <assert.h>

uint32_t text_lookup(const struct parser *p, uint32_t space, sid name)
{
    return map_get(&p->names, map_key(space, name));
}

void text_bind(struct parser *p, uint32_t space, sid name, uint32_t index)
{
    assert(index != 0); /* text_lookup() returns 0 for names that are not bound */
    map_set(&p->names, p->a, map_key(space, name), index);
}
