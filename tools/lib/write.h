/* Writes a model and its plan as files, folders or text, as the settings say. */
#ifndef PCC_TOOLS_LIB_WRITE_H
#define PCC_TOOLS_LIB_WRITE_H

#include "tools/lib/handle.h"

/* The writer's options as the settings have them, in a; NULL and an error. */
void *write_options(const struct pcc *p, const struct writer *w, struct arena *a, struct diag *d);
/* Whether a path makes sense as an output: -1 and an error if it is that of the model itself (NULL: it has none), or
 * promises what there is not. */
int write_check_path(const char *model, const char *path, struct arena *a, struct diag *d);
/* Whether the open model can be written in the form of the path's ending; writes nothing. 0 or -1. */
int write_probe(struct pcc *p, const char *path);
/* p->judged.r to path; "-": r.out.  0, or -1 and an error. */
int write_one(struct pcc *p, const struct writer *w, const char *path);

/* A stream into memory. */
struct memory {
    FILE *f; /* NULL: no memory, which memory_end tells */
    char *text;
    size_t n;
    struct arena *own; /* closes it if it is freed before memory_end */
};
/* It must not be moved until memory_end. */
void memory_begin(struct memory *m, struct arena *of);
/* What was written to it, in a; NULL if not ok, or NULL and an error about `what`.  The stream is closed. */
const char *memory_end(struct memory *m, bool ok, const char *what, struct arena *a,
                       struct diag *d);

/* Whether the path is '-' and the ending of a file: "-.svg" is stdout, "./-.svg" a file. */
bool write_is_stdout(const char *path);
/* Whether the path is that of a folder for a split. */
bool write_is_folder(const char *path);
/* The table of the plan, NULL and an error; lives in p->x.use.mem.  path: what is written beside it; NULL: nothing. */
const char *table_text(struct pcc *p, const char *path);

#endif
