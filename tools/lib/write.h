/* Writes a model and its plan to files, folders or text in memory.  Settings give the options of writers
 * (backends.h). */
#ifndef PCC_TOOLS_LIB_WRITE_H
#define PCC_TOOLS_LIB_WRITE_H

#include "tools/lib/handle.h"

/* Returns the struct of w's options, in a, with the values of the settings; on a wrong value reports an error and
 * returns NULL. */
void *write_options(const struct pcc *p, const struct writer *w, struct arena *a, struct diag *d);
/* Checks the path of an output before planning: it must be neither the model's own file nor look like a format that
 * pcc does not write.  model: path of the model; NULL: it is no file.  Returns 0; or reports an error and returns
 * -1. */
int write_check_path(const char *model, const char *path, struct arena *a, struct diag *d);
/* Checks before planning that the open model can be written to `path` by the writer that the path's ending names;
 * writes nothing.  Returns 0; or reports an error and returns -1. */
int write_probe(struct pcc *p, const char *path);
/* Writes p->judged.r to `path` with writer w; "-": to the stream p->judged.r.out.  Returns 0; or reports an error and
 * returns -1. */
int write_one(struct pcc *p, const struct writer *w, const char *path);

/* A stream whose text is collected in memory. */
struct memory {
    FILE *f; /* callers write to it; NULL: it could not be opened, memory_end() reports the error */
    char *text;        /* the text so far, as open_memstream() keeps it */
    size_t n;          /* bytes of text */
    struct arena *own; /* closes the stream if this arena is freed before memory_end() */
};
/* Opens m->f, until memory_end() or until `of` is freed.  *m must stay at its place until then. */
void memory_begin(struct memory *m, struct arena *of);
/* Closes the stream.  Returns its text, in a; NULL if the caller's work failed (ok == false); or, if the stream
 * failed, reports an error about `what` and returns NULL. */
const char *memory_end(struct memory *m, bool ok, const char *what, struct arena *a,
                       struct diag *d);

/* Whether the path is '-' and the ending of a writer, which stands for stdout: "-.svg" does, "./-.svg" is a file. */
bool write_is_stdout(const char *path);
/* Whether the path has no ending of a writer, so that it names the folder of a split. */
bool write_is_folder(const char *path);
/* Returns the table of the plan, in p->x.use.mem; NULL after an error.  path: the run's other output, for the table's
 * hint on how to run a split; NULL: there is none. */
const char *table_text(struct pcc *p, const char *path);

#endif
