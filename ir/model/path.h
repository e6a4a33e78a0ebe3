/* The path of a node: its place in the model, such as "/encoder/layer.5/attention/node_linear_33". Everything that
 * looks for a node's place (layers, patterns of the user, pictures) takes it from here.
 *
 * A name with a '/' is the path: older exporters of PyTorch, TensorFlow and others write the place into the name.  A
 * name without one says no place; if metadata of the node do (PyTorch's exporter since 2.5), the path is the scope in
 * them, a '/' and the name.  The scope of a path is what stands before its last '/'. */
#ifndef PCC_IR_MODEL_PATH_H
#define PCC_IR_MODEL_PATH_H

#include "ir/model/module.h"

/* A scope, at[0 .. len), which no NUL ends; len 0: none. */
struct scope {
    const char *at;
    size_t len;
};

enum { SCOPE_MOST = 1000 }; /* bytes: a longer scope in metadata is not used */

/* Fills m->scope (NULL: no node has one) from the metadata of all nodes of m whose names have no '/'.  To be called
 * once, when the nodes have their names and metadata.  Expected O(nodes + bytes of names and metadata); the new
 * strings have at most as many bytes as the metadata, plus one for each component. */
void module_note_scopes(struct module *m);

/* Returns the scope of node n's path.  Its text lives as long as m's strings.  O(bytes of the name). */
struct scope node_scope(const struct module *m, nid n);

/* Returns scope/name, in a; if scope is 0, the name itself. */
const char *path_text(const struct module *m, sid scope, const char *name, struct arena *a);
/* Returns the path of node n: its name itself, or, if metadata give its scope, a text in a. */
const char *node_path(const struct module *m, nid n, struct arena *a);

#endif
