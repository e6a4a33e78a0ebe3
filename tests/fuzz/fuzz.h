/* What the fuzz targets share: quiet diagnostics, and what must hold for any bytes at all.
 *
 * A target is one function that libFuzzer calls (PCC_FUZZ, clang) or replay.c (every compiler).  It
 * aborts when a promise is broken; memory errors are the sanitizers' to find. */
#ifndef PCC_TESTS_FUZZ_FUZZ_H
#define PCC_TESTS_FUZZ_FUZZ_H

#include "passes/pipeline.h"

#include <stddef.h>
#include <stdint.h>

/* Always 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* A target's own mutations, of data[0, n) within data[0, most): the new length.  libFuzzer calls it, and replay.c. */
__attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t most,
                                                     unsigned seed);
/* libFuzzer's; NULL without it. */
__attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t *data, size_t n, size_t most);

/* Diagnostics that nobody sees; each line is checked to be one line without control characters, and not
 * the line `user`, if that is not NULL. */
struct diag fuzz_diag(void);
/* Aborts with a line on stderr. */
void fuzz_check(bool holds, const char *promise);
/* Checks that rc != 0 goes with at least one error in d, and rc == 0 with none. */
void fuzz_check_result(int rc, const struct diag *d);
/* A copy that ends in '\0'; lives in a. */
char *fuzz_text(struct arena *a, const uint8_t *data, size_t size);

/* A fresh folder with the bytes as file `name`; paths live in a. */
struct fuzz_folder {
    const char *path, *file;
};
struct fuzz_folder fuzz_folder_make(struct arena *a, const char *name, const uint8_t *data,
                                    size_t size);
/* Adds "w.bin", 64 bytes of weights. */
void fuzz_folder_weights(struct arena *a, struct fuzz_folder folder);
/* Removes the folder and all that is in it. */
void fuzz_folder_remove(struct fuzz_folder folder);

/* A context with the target's own graph, textual IR, and the cluster in it; free with arena_free(mem). */
struct ctx fuzz_graph(const char *graph, struct arena *scratch, struct diag *d);
/* Prints, parses, prints again: equal texts.  The module must be verified. */
void fuzz_check_text(const struct scene *s, const struct plan *plan);
/* Prints and parses; free with arena_free(m->mem).  m must be verified. */
struct module *fuzz_reparse(struct module *m);
/* Whether JSON can hold the names of all nodes. */
bool fuzz_names_are_utf8(const struct module *m);
/* Completes and runs a pipeline on x->m (x needs m, cluster and diag): 0, -1 or PASS_INFEASIBLE; no
 * planner may be caught by the judge. */
int fuzz_run(struct ctx *x, const char *passes);

#endif
