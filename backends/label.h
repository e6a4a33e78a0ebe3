/* Names from models as text of a picture. */
#ifndef PCC_BACKENDS_PICTURE_LABEL_H
#define PCC_BACKENDS_PICTURE_LABEL_H

#include "ir/cluster/cluster.h"
#include "ir/plan/stages.h"

/* s[0 .. n) for a label or tooltip of DOT, also inside an SVG: control characters and those that turn
 * the direction of writing are left out, bytes that are no UTF-8 become '?', backslashes and '&' are
 * escaped.  More than `most` characters: the middle is left out.  Lives in a.  O(n). */
const char *label_text(struct arena *a, const char *s, size_t n, size_t most);
/* All of s for other formats: nothing is escaped. */
char *label_plain(struct arena *a, const char *s);
/* The devices of stage k: "acc0 to acc7", or "3 of acc0 to acc7".  Lives in a. */
const char *label_stage(const struct cluster *c, const struct stages *s, uint32_t k,
                        struct arena *a);

#endif
