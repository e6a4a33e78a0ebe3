/* Plans that were made elsewhere: read from files, for plan{from} and --compare. */
#ifndef PCC_PASSES_PLAN_READ_H
#define PCC_PASSES_PLAN_READ_H

#include "ir/map.h"
#include "passes/passes.h"

/* The device of each placed node (others: -1), in x->mem; NULL and an error if `from` cannot be read,
 * names unknown nodes or devices, gives a node two devices or leaves a placed node without one.
 * `from` is a plan JSON, a split folder or its manifest, a split of the placement paper, an annotated
 * ONNX model (`self`: the input's own annotations), or a text of lines regex=device of which the
 * first that matches a node counts.  The base level is built if it is not there yet. */
int32_t *plan_read(struct ctx *x, const char *from);

/* The file of a plan: the manifest of a split folder, else `from` itself. */
const char *plan_file(struct ctx *x, const char *from);

/* The names of nodes that such a plan has (string -> 1), and whether it says that calls were whole when
 * it was made, for those who ask before there is a base level; false if it is no plan by name or cannot
 * be read, of which nothing is said here. */
bool plan_names(struct ctx *x, const char *from, struct map *names, bool *whole);

/* A plan as plan_read takes it, from n bytes of JSON or text, followed by a NUL; `path` is for messages. */
int32_t *plan_read_text(struct ctx *x, const char *path, char *text, size_t n);

#endif
