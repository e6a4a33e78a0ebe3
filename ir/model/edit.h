/* Editing a module: adding, changing and dropping nodes, values and weights.  The order of nodes, captures, and all
 * tables by node or value are updated at the end of the edit.
 *
 *     struct edit *e = edit_begin(m, scratch);
 *     nid n = edit_after(e, maker, "Relu");              a new node behind the node `maker`
 *     edit_operands(e, n, &v, 1);
 *     vid r = edit_result(e, n, "relu", v);              a result with the type of v and a name like "relu"
 *     edit_replace(e, v, r);                             all readers of v but n now read r
 *     const nid *now = edit_end(e);                      new numbers of the nodes
 *
 * During the edit nodes keep their numbers; values keep theirs for good.  edit_in() says what a node reads: the
 * module itself shows replaced operands only after edit_end(), which
 *  - orders every graph so that it can run: a node stays where it was or was put, unless one of its operands is made
 *    later; then it comes after the maker of that operand;
 *  - finds the captures of all bodies anew, and removes the bodies of dropped nodes;
 *  - moves costs, layers, colours, devices and slots along with their nodes.  A new node gets those of the node from
 *    which it was made (costs only if it is a copy); a new value gets the sizes of the value `like` given for it.
 * n changes in one edit cost O(n + nodes + operands), expected; where an order has to be found, times log nodes.
 *
 * The editing functions do not check what module_verify() finds: a cycle, an operand that nothing makes, a slice that
 * is larger than its weight.  A new name is changed, if need be, so that it differs from all others in the module,
 * its bodies and its functions. */
#ifndef PCC_IR_MODEL_EDIT_H
#define PCC_IR_MODEL_EDIT_H

#include "ir/model/module.h"

struct edit;

/* Begins an edit of m, with memory from a, and returns it. Until edit_end() m must be changed only through the edit. */
struct edit *edit_begin(struct module *m, struct arena *a);
/* Makes the rest of the edit leave new names as they are, even if several things get the same name: for modules that
 * are only read, not written. */
void edit_any_names(struct edit *e);
/* Ends the edit.  Returns an array, in the memory of edit_begin(): [number of a node during the edit] its new number;
 * 0: the node was dropped. */
const nid *edit_end(struct edit *e);

/* ---- nodes ---- */

/* Add a node with operator op of ai.onnx, without operands, results and attributes: at the end of graph g, or before
 * or behind node `at`.  Return the node, which does not count as made from another one (edit_made_from). */
nid edit_add(struct edit *e, gid g, const char *op);
nid edit_before(struct edit *e, nid at, const char *op);
nid edit_after(struct edit *e, nid at, const char *op);
/* Adds a copy of node n behind n and returns it: with the same operands and attributes, new results of the same
 * types, and copies of n's bodies. */
nid edit_copy(struct edit *e, nid n);
/* Does the same; the names of the copy, of its results and of what its bodies have end in `suffix` (NULL: nothing). */
nid edit_copy_named(struct edit *e, nid n, const char *suffix);
/* Drops node n.  When the edit ends, nothing may read its results. */
void edit_drop(struct edit *e, nid n);
/* Moves node n to the end of graph g, with its bodies and results.  Results that are no graph outputs get new
 * names. */
void edit_move(struct edit *e, nid n, gid g);
/* Moves node n to the place before node `at` of the same graph. */
void edit_put_before(struct edit *e, nid n, nid at);
/* Changes the operator of node n; a function of the model with that name is called.  domain: "" or NULL is ai.onnx;
 * if the model does not import the domain, imports it in that version. */
void edit_set_operator(struct edit *e, nid n, const char *op, const char *domain, int64_t version);
/* Notes that node n was made from node `from`: n gets the layer, colour, device and slot of `from`, stands where `from`
 * does in pictures and, unless n is named, gets a name that begins with the name of `from`. */
void edit_made_from(struct edit *e, nid n, nid from);
/* Returns a name for a node, `like` or similar, that no node has or gets later. */
sid edit_take_name(struct edit *e, const char *like);
/* Gives node n the name `like`, or a similar one if that name is taken. edit_end() names new nodes without a name after
 * their operator and the node from which they were made. */
void edit_name_node(struct edit *e, nid n, const char *like);
/* Set the documentation of node n, or an entry of its metadata, which replaces an entry with the same key. */
void edit_set_doc(struct edit *e, nid n, const char *doc);
void edit_set_meta(struct edit *e, nid n, const char *key, const char *value);

/* ---- operands and results ---- */

/* edit_in: returns the current operand i of node n; 0: omitted, or beyond the formal operands.  edit_nin: returns the
 * number of its formal operands. */
vid edit_in(struct edit *e, nid n, uint32_t i);
uint32_t edit_nin(const struct edit *e, nid n);
/* Replace all formal operands of node n, or operand i. */
void edit_operands(struct edit *e, nid n, const vid *v, uint32_t count);
void edit_set_operand(struct edit *e, nid n, uint32_t i, vid v);
/* Adds a result to node n and returns it.  Its name is similar to `name` (NULL: to the name of value `like`, or of n
 * if like is 0); its type and sizes are those of value `like` (0: unknown). */
vid edit_result(struct edit *e, nid n, const char *name, vid like);
/* Adds an omitted result to node n. */
void edit_omit_result(struct edit *e, nid n);
/* Returns a new value of graph g that no node makes yet, for edit_results(), with a name similar to `name` and the
 * type and sizes of value `like` (0: unknown). */
vid edit_value(struct edit *e, gid g, const char *name, vid like);
/* Replaces the results of node n by v[count] (0: omitted).  A value that another node makes is removed from that
 * node's results.  Earlier results of n that are not in v are made by no node then: when the edit ends, nothing may
 * read them. */
void edit_results(struct edit *e, nid n, const vid *v, uint32_t count);
/* Sets the type (index in module.type) of value v, also if the file gives another type. */
void edit_set_type(struct edit *e, vid v, uint32_t type);
/* Renames value v to `like`, or similarly if that name is taken.  Inputs and outputs of the main graph keep their
 * names. */
void edit_name_value(struct edit *e, vid v, const char *like);
/* Replaces v by w in the operands of all nodes that read v now, except for the node that makes w (nodes in the bodies
 * of that node read w, too).  A node whose operands are set to v later reads v.  If v is an output of its graph, w
 * becomes the output and gets the name of v, and v gets another name.  Returns false and changes nothing if v is an
 * output and w cannot become one: w or v is an input or initializer, w is an output already, or is in another
 * graph. */
bool edit_replace(struct edit *e, vid v, vid w);
/* Makes edit_end() also drop nodes and initializers that had readers before the edit and have none after it. */
void edit_sweep(struct edit *e);

/* ---- attributes ---- */

/* Add an attribute to node n, or replace the attribute of the same name. */
void edit_set_attr(struct edit *e, nid n, struct attr a);
void edit_set_int(struct edit *e, nid n, const char *name, int64_t v);
void edit_set_float(struct edit *e, nid n, const char *name, float v);
void edit_set_string(struct edit *e, nid n, const char *name, const char *v);
void edit_set_ints(struct edit *e, nid n, const char *name, const int64_t *v, uint32_t count);
void edit_set_tensor(struct edit *e, nid n, const char *name, tid t);
/* Adds an empty graph as a body of node n, in the attribute `name`, and returns the graph. */
gid edit_set_body(struct edit *e, nid n, const char *name);
/* Adds an empty graph as a body of node n, at the end of the attribute `name`, a list of graphs, which is added if it
 * is missing.  Returns the graph. */
gid edit_add_body(struct edit *e, nid n, const char *name);
/* Removes the attribute `name` of node n; does nothing if n has no such attribute. */
void edit_drop_attr(struct edit *e, nid n, const char *name);
/* Adds an empty graph called `name`, owned by node n, and returns it. The caller must set an attribute of n that refers
 * to it. */
gid edit_graph(struct edit *e, nid n, sid name);

/* ---- graphs ---- */

/* Add to graph g, behind the others, an input with a name similar to `name` and a type (an index in module.type), whose
 * value is returned; or value v as an output. If the output's value is replaced later, the new value becomes the
 * output. */
vid edit_input(struct edit *e, gid g, const char *name, uint32_t type);
void edit_output(struct edit *e, gid g, vid v);
/* Removes v from the inputs and outputs of its graph.  When the edit ends, nothing may read an input that was
 * removed. */
void edit_withdraw(struct edit *e, vid v);
/* Imports the opset of a domain ("", NULL: ai.onnx) in that version, unless the model imports the domain already. */
void edit_import(struct edit *e, const char *domain, int64_t version);

/* ---- copying from another module ---- */

/* Another module with the same strings and files, such as the body of a function, from which things are copied into
 * the edited module.  edit_source() copies its pools, types and tensors at once; its symbolic dimensions become
 * unknown, since their names mean nothing in the edited module. */
struct edit_source;
struct edit_source *edit_source(struct edit *e, const struct module *from);
/* Return the index in the edited module of a type, tensor or about of the other module; 0 stays 0. */
uint32_t edit_source_type(const struct edit_source *s, uint32_t type);
tid edit_source_tensor(const struct edit_source *s, tid t);
uint32_t edit_source_about(const struct edit_source *s, uint32_t about);
/* Returns a copy of an attribute of the other module.  Graphs in it are not translated: the caller must replace
 * them. */
struct attr edit_source_attr(struct edit_source *s, struct attr a);
/* Gives node n the operator, flags, documentation and metadata of node `from` of the other module, but not its
 * operands, results and attributes. */
void edit_take_node(struct edit *e, nid n, const struct edit_source *s, nid from);

/* ---- weights ---- */

/* Adds a tensor of shape dims[rank] and returns it.  Its len bytes of data are copied: little endian, packed as ONNX
 * raw_data; len must fit the shape. */
tid edit_tensor(struct edit *e, enum elem elem, const int64_t *dims, uint32_t rank,
                const void *data, size_t len);
/* Adds a tensor of the strings s[], one for each element of the shape dims[rank], and returns it. */
tid edit_strings(struct edit *e, const int64_t *dims, uint32_t rank, const sid *s);
/* Adds a sparse tensor of shape dims[rank] and returns it. values: a tensor of the elements that are not 0; indices: a
 * tensor of 64-bit integers that gives for each of these elements its position in the flat tensor, or `rank`
 * coordinates. */
tid edit_sparse(struct edit *e, const int64_t *dims, uint32_t rank, tid values, tid indices);
/* Adds a tensor with part of tensor `of`, and returns it: the elements whose positions along the axis lie in the n
 * ranges [range[2 * i], range[2 * i + 1]), one range after the other.  The bytes are read only when they are
 * needed. */
tid edit_slice(struct edit *e, tid of, uint32_t axis, const int64_t *range, uint32_t n);
/* Adds an initializer with tensor t to graph g, with a name similar to `name`, and returns its value. */
vid edit_weight(struct edit *e, gid g, const char *name, tid t);
/* Turns value v, a node's result, into an initializer of its graph with tensor t; v keeps its name and gets t's type.
 * The result of the node becomes omitted; a node without other results is dropped. */
void edit_fix(struct edit *e, vid v, tid t);
/* Adds an initializer of `count` 64-bit integers (a shape, axes, sizes) to graph g, and returns its value, as
 * edit_weight() does. */
vid edit_ints(struct edit *e, gid g, const char *name, const int64_t *v, uint32_t count);

#endif
