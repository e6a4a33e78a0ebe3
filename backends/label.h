/* Turns names from models into text that pictures, charts and tables can show. */
#ifndef PCC_BACKENDS_PICTURE_LABEL_H
#define PCC_BACKENDS_PICTURE_LABEL_H

#include "ir/cluster/cluster.h"
#include "ir/plan/stages.h"

/* Returns s[0 .. n) as text for a label or tooltip of DOT, also inside an SVG: control characters and marks of writing
 * direction are left out, bytes that are not UTF-8 become '?', backslashes and '&' are escaped.  Of more than `most`
 * characters, those in the middle become "...".  Lives in a.  O(n). */
const char *label_text(struct arena *a, const char *s, size_t n, size_t most);
/* Returns all of s for formats other than DOT, in a: as label_text(), but nothing is escaped or shortened. */
char *label_plain(struct arena *a, const char *s);
/* Returns the names of the devices of stage k, in a: "acc0"; "acc0 to acc7"; "3 of acc0 to acc7" if some between are
 * not among them. */
const char *label_stage(const struct cluster *c, const struct stages *s, uint32_t k,
                        struct arena *a);

#endif
