/* Prints and parses modules and plans as textual IR (grammar: ir/text/text.md).
 *
 * Parsing what was printed gives an equal module, and printing that module gives the same text. */
#ifndef PCC_IR_TEXT_TEXT_H
#define PCC_IR_TEXT_TEXT_H

#include "ir/plan/plan.h"

#include <stdio.h>

/* Prints the module of the scene, its cluster and execution model (unless the cluster is NULL) and the plan (unless
 * NULL) to f.  Without a cluster, devices of the plan are printed as numbers. */
void module_print(FILE *f, const struct scene *s, const struct plan *plan);

/* The contents of a text. */
struct text_module {
    /* module, cluster (NULL: the text has none) and execution model; place is NULL */
    struct scene scene;
    struct plan *plan; /* NULL: the text has none */
};
/* A text in memory, such as the contents of a file. */
struct named_text {
    const char *name; /* for messages: the path of the file */
    const char *text;
    size_t n; /* bytes of text */
    /* execution models that the text may name: exec_model.kinds */
    const struct exec_kind *const *kinds;
};
/* Parses `in` into *out: a module made by module_new(of, d), in whose memory everything else lives.  Returns 0, or -1
 * after an error, and then frees all.  Errors are "path:line:column: message", with the line and a caret below it. */
int module_parse(struct text_module *out, const struct named_text *in, struct arena *of,
                 struct diag *d);

#endif
