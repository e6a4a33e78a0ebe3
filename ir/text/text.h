/* The textual IR: printing and parsing modules and plans (grammar: ir/text/text.md).
 *
 * print -> parse gives an equal module, print(parse(print(m))) equal text. */
#ifndef PCC_IR_TEXT_TEXT_H
#define PCC_IR_TEXT_TEXT_H

#include "ir/plan/plan.h"

#include <stdio.h>

/* The module, its cluster (may be NULL) and the plan (may be NULL; needs the cluster for device names). */
void module_print(FILE *f, const struct scene *s, const struct plan *plan);

struct text_module {
    struct scene scene; /* the module; cluster NULL if the text has none; no place */
    struct plan *plan;  /* NULL: the text has none */
};
/* A text in memory, such as a file's. */
struct named_text {
    const char *name, *text;
    size_t n;
    /* execution models that the text may name: exec_model.kinds */
    const struct exec_kind *const *kinds;
};
/* Parses `in` into *out: a module made by module_new(of), and facts that live in the module's memory.  Returns 0; or -1
 * and frees all.  Errors are path:line:column: message, with the line and a caret below it. */
int module_parse(struct text_module *out, const struct named_text *in, struct arena *of,
                 struct diag *d);

#endif
