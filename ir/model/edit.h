/* Editing a module: nodes, values and weights come, change and go; order, captures and all that is kept by node follow.
 *
 *     struct edit *e = edit_begin(m, scratch);
 *     nid n = edit_after(e, maker, "Relu");              a node behind another one
 *     edit_operands(e, n, &v, 1);
 *     vid r = edit_result(e, n, "relu", v);              a value of v's type under a name like that
 *     edit_replace(e, v, r);                             all that read v until now, but for n, read r
 *     const nid *now = edit_end(e);                      new numbers of nodes
 *
 * In between, nodes that are there keep their numbers, and so do values for good.  What a node reads is edit_in(): the
 * module itself shows replaced operands only after edit_end(), which
 *  - puts every graph into an order in which it can run: each node where it was or was put, unless an operand of its is
 *    made later, and then behind the maker;
 *  - works out anew what bodies capture, and takes the bodies of dropped nodes away;
 *  - lets costs, layers, colours, devices and slots follow their nodes; a new node has those of the node that it was
 *    made from (costs only if it is a copy), a new value the sizes of the value that it is like.
 * A batch of n edits costs O(n + nodes + operands), expected; where an order has to be found, times log nodes.
 *
 * Nothing is refused here that module_verify() finds: a circle, an operand that nothing makes, a slice that is larger
 * than its weight.  Names that are asked for are made different from all others of the module, its bodies and its
 * functions. */
#ifndef PCC_IR_MODEL_EDIT_H
#define PCC_IR_MODEL_EDIT_H

#include "ir/model/module.h"

struct edit;

/* Begins an edit of m; its memory is in a.  All changes of m until edit_end() go through the edit. */
struct edit *edit_begin(struct module *m, struct arena *a);
/* Names are taken as they are asked for, even if several things then have one: for a module that is only looked at. */
void edit_any_names(struct edit *e);
/* Ends the edit.  Returns [old node number] the new number; 0: the node was dropped.  Lives in a. */
const nid *edit_end(struct edit *e);

/* ---- nodes ---- */

/* A new node of ai.onnx without operands, results and attributes: at the end of graph g, or before or behind a
 * node.  It is made from no node. */
nid edit_add(struct edit *e, gid g, const char *op);
nid edit_before(struct edit *e, nid at, const char *op);
nid edit_after(struct edit *e, nid at, const char *op);
/* A copy of node n behind it: the same operands and attributes, new results of the same types, copies of its bodies. */
nid edit_copy(struct edit *e, nid n);
/* The node goes.  Its results must not be read at the end. */
void edit_drop(struct edit *e, nid n);
/* The node goes to the end of another graph, with its results and bodies. */
void edit_move(struct edit *e, nid n, gid g);
/* Another operator.  domain: "" or NULL is ai.onnx; one that the model does not import is imported in that version. */
void edit_set_operator(struct edit *e, nid n, const char *op, const char *domain, int64_t version);
/* Notes that n was made from node `from`: n takes its layer, its place in pictures and, unless n is named, its name
 * from there. */
void edit_made_from(struct edit *e, nid n, nid from);
/* A name like `like` that is free in the module, and stays reserved. */
sid edit_take_name(struct edit *e, const char *like);
/* Names the node `like`, or similarly if that name is taken; a new node without a name is named after its operator and
 * the node it was made from. */
void edit_name_node(struct edit *e, nid n, const char *like);
/* Documentation of the node; an entry of its metadata, added or in place of the one under that key. */
void edit_set_doc(struct edit *e, nid n, const char *doc);
void edit_set_meta(struct edit *e, nid n, const char *key, const char *value);

/* ---- operands and results ---- */

/* The current operand i of a node (0: omitted, or beyond the formal operands); the number of its formal operands. */
vid edit_in(struct edit *e, nid n, uint32_t i);
uint32_t edit_nin(const struct edit *e, nid n);
/* Replaces the formal operands of a node. */
void edit_operands(struct edit *e, nid n, const vid *v, uint32_t count);
void edit_set_operand(struct edit *e, nid n, uint32_t i, vid v);
/* Adds a result with a name similar to `name` (NULL: to the name of `like`, else of the node), of the type and sizes
 * of value `like` (0: of unknown type). */
vid edit_result(struct edit *e, nid n, const char *name, vid like);
/* Adds an omitted result. */
void edit_omit_result(struct edit *e, nid n);
/* A new value of graph g without a maker, for edit_results(): with a name similar to `name`, and the type and sizes of
 * value `like` (0: unknown). */
vid edit_value(struct edit *e, gid g, const char *name, vid like);
/* Replaces the results of a node; 0: omitted.  A result of another node is taken from that node. */
void edit_results(struct edit *e, nid n, const vid *v, uint32_t count);
/* Sets the type of a value; replaces a type given in the file, too. */
void edit_set_type(struct edit *e, vid v, uint32_t type);
/* Renames a value to `like`, or to a similar name if that is taken.  Outputs of the main graph keep their names. */
void edit_name_value(struct edit *e, vid v, const char *like);
/* All nodes that read v, but for the one that makes w, read w from now on (those in its bodies, too); a node that is
 * set to read v later reads v.  Where v is an output of its graph w becomes the output, under the name that v has,
 * and v gets another name. false, and nothing changes: v is an output, and w, being an input, an initializer, an
 * output or of another graph, cannot take its name. */
bool edit_replace(struct edit *e, vid v, vid w);
/* edit_end() will also drop nodes and initializers that had readers before the edit and have none after it. */
void edit_sweep(struct edit *e);

/* ---- attributes ---- */

/* Adds an attribute, or replaces the attribute of the same name. */
void edit_set_attr(struct edit *e, nid n, struct attr a);
void edit_set_int(struct edit *e, nid n, const char *name, int64_t v);
void edit_set_float(struct edit *e, nid n, const char *name, float v);
void edit_set_string(struct edit *e, nid n, const char *name, const char *v);
void edit_set_ints(struct edit *e, nid n, const char *name, const int64_t *v, uint32_t count);
void edit_set_tensor(struct edit *e, nid n, const char *name, tid t);
/* An empty body of the node, as that attribute. */
gid edit_set_body(struct edit *e, nid n, const char *name);
/* One more empty body, at the end of that attribute, a list of graphs, which comes to be if it is not there. */
gid edit_add_body(struct edit *e, nid n, const char *name);
void edit_drop_attr(struct edit *e, nid n, const char *name);
/* An empty graph that node n owns: an attribute of its has to refer to it. */
gid edit_graph(struct edit *e, nid n, sid name);

/* ---- graphs ---- */

/* One more input or output of a graph.  An output of the main graph has the value's name; what replaces the value later
 * becomes the output. */
vid edit_input(struct edit *e, gid g, const char *name, uint32_t type);
void edit_output(struct edit *e, gid g, vid v);
/* The opset of a domain, added if it is not there. */
void edit_import(struct edit *e, const char *domain, int64_t version);

/* ---- from another module ---- */

/* Another module with the same strings and files, such as the body of a function, whose things may come into the
 * module.  Its lists, types and tensors are copied at once; names of dimensions are its own and count as unknown. */
struct edit_source;
struct edit_source *edit_source(struct edit *e, const struct module *from);
/* What an entry of the other module is here; 0 stays 0. */
uint32_t edit_source_type(const struct edit_source *s, uint32_t type);
tid edit_source_tensor(const struct edit_source *s, tid t);
uint32_t edit_source_about(const struct edit_source *s, uint32_t about);
/* An attribute of the other module, but for the graphs in it. */
struct attr edit_source_attr(struct edit_source *s, struct attr a);
/* Node n is what node `from` of the other module is: its operator and all that is said about it.  Operands, results and
 * attributes are left alone. */
void edit_take_node(struct edit *e, nid n, const struct edit_source *s, nid from);

/* ---- weights ---- */

/* A tensor of len bytes, copied: little endian, packed as ONNX raw_data; as many as the shape dims[rank] wants. */
tid edit_tensor(struct edit *e, enum elem elem, const int64_t *dims, uint32_t rank,
                const void *data, size_t len);
/* A tensor of strings, as many as the shape wants. */
tid edit_strings(struct edit *e, const int64_t *dims, uint32_t rank, const sid *s);
/* A sparse tensor: values at indices (64-bit integers: places in the flat tensor, or rank of them for each value). */
tid edit_sparse(struct edit *e, const int64_t *dims, uint32_t rank, tid values, tid indices);
/* The elements of another tensor whose positions along the axis lie in ranges[2 * n], from and to, one range after the
 * other.  Its bytes are read when they are wanted. */
tid edit_slice(struct edit *e, tid of, uint32_t axis, const int64_t *range, uint32_t n);
/* An initializer of graph g with that tensor, under a name like that. */
vid edit_weight(struct edit *e, gid g, const char *name, tid t);
/* Value v, which a node makes, is an initializer of its graph from now on, with that tensor, and keeps its name.  The
 * node makes it no longer, and goes with the last of its results. */
void edit_fix(struct edit *e, vid v, tid t);
/* 64-bit integers as an initializer: a shape, axes, sizes. */
vid edit_ints(struct edit *e, gid g, const char *name, const int64_t *v, uint32_t count);

#endif
