/* Writes text into an HTML page.  Names come from models, so they may hold anything: "</script>", marks of writing
 * direction, 64 KiB in one name. */
#ifndef PCC_BACKENDS_HTML_TEXT_H
#define PCC_BACKENDS_HTML_TEXT_H

#include "ir/base/arena.h"

#include <stdio.h>

/* Returns a name that can be shown, in a: as utf8_text(), and of more than 200 characters those in the middle become
 * "...".  O(length). */
const char *html_name(struct arena *a, const char *s);
/* Writes text between tags or in a quoted attribute: characters with a meaning in HTML are escaped, lines stay, what
 * cannot be shown is written as utf8_text() does.  O(length). */
void html_put(FILE *f, struct arena *a, const char *s);
/* Writes a name (html_name) in the same way. */
void html_put_name(FILE *f, struct arena *a, const char *s);
/* Writes a name as a JSON string that may stand in a <script>: '<', '>' and '&' are written as \u003c and so on. */
void html_put_json(FILE *f, struct arena *a, const char *s);
/* Writes s, a label or tooltip of DOT (label.h), as html_put() writes text: DOT's escapes are undone first, and
 * `between` is written between two lines. */
void html_put_dot(FILE *f, struct arena *a, const char *s, const char *between);

#endif
