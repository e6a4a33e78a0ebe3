/* State and functions shared by the files of the editing interface; private to ir/model/edit*.c. */
#ifndef PCC_IR_MODEL_EDIT_STATE_H
#define PCC_IR_MODEL_EDIT_STATE_H

#include "ir/base/map.h"
#include "ir/model/edit.h"

/* A node during an edit: its place in its graph's list, the node from which it was made, and whether it was
 * dropped. */
struct edit_slot {
    nid prev, next;  /* neighbours in the list of the graph's nodes; 0: none */
    uint32_t set_at; /* edit.time when the node's operands were set; 0: before the edit */
    /* of a new node: the node that it was made from, which was there before the edit; 0: none, or not a new node */
    nid from;
    bool is_new, gone; /* added in this edit; dropped in this edit */
    /* the node is a copy of `from`, or a copy of such a copy: it has the costs of `from` */
    bool copy;
};

/* A replacement of a value: operands that were set before `time` read `to` instead. */
struct edit_change {
    uint32_t time;
    vid to;
    uint32_t next; /* next change of the same value, in edit.change; 0: none */
};

/* A value during an edit: its replacements. */
struct edit_value {
    uint32_t first_change, last_change; /* in edit.change; 0: the value was not replaced */
    /* cache: the value that operands set before all changes of this value read; valid while edit.nchange is
     * resolved_at */
    vid resolved;
    uint32_t resolved_at;
    vid new_output; /* the graph's output instead of this value, from output_time on; 0: none */
    uint32_t output_time;
    bool withdrawn; /* the value is no longer an input or output of its graph (edit_withdraw) */
    vid like;       /* of a new value: the value whose type and sizes the new one got; 0: none */
};

/* The lists of values of a graph: its inputs, initializers and outputs. */
enum graph_list { BORDER_IN, BORDER_INIT, BORDER_OUT };

/* A value that the edit appends to a list of a graph. */
struct edit_border {
    gid graph;
    vid value;
    enum graph_list list;
    uint32_t set_at; /* edit.time when the entry was added */
    uint32_t next;   /* 1 + index of the next entry for the same graph, 0: none */
};

struct edit {
    struct module *m;
    struct arena *a;
    nid nnode0; /* nnode, nval and ngraph of the module when the edit began */
    vid nval0;
    uint32_t ngraph0;
    uint32_t time;         /* number of replacements (edit_replace) so far */
    bool sweep, any_names; /* edit_sweep() or edit_any_names() was called */

    struct edit_slot *slot; /* [node] the node's state in the edit */
    uint32_t capslot;
    nid *first, *last; /* [graph] first and last node in its list; 0: none */
    uint32_t capfirst, caplast;
    struct edit_value *value; /* [value] the value's replacements */
    uint32_t capvalue;
    uint8_t *read;              /* [value < nval0] 1: the value had a reader when the edit began */
    struct edit_change *change; /* replacements, from index 1 on */
    uint32_t nchange, capchange;
    struct edit_border *border; /* values appended to lists of graphs */
    uint32_t nborder, capborder;
    /* [graph] 1 + its first and last entry in `border`, 0: none */
    uint32_t *border_first, *border_last;
    uint32_t capborder_first, capborder_last;
    /* (EDIT_VALUE or EDIT_NODE, name in use) -> number to try next as a suffix; empty until a new name is needed */
    struct map taken;
    /* (domain + 1, name) -> function of the model; empty until a function is looked up */
    struct map function;
};

/* Returns the value that an operand reads now if it was set to v at time set_at: v, or what replaced v since. */
vid edit_resolve(struct edit *e, vid v, uint32_t set_at);
/* Returns the value that is now the output of graph g where v was put at time set_at. */
vid edit_output_now(struct edit *e, gid g, vid v, uint32_t set_at);
/* Kinds of things that have names: values and nodes. */
enum { EDIT_VALUE = 1, EDIT_NODE = 2 };
/* Returns a name, `like` or similar, that no value (what == EDIT_VALUE) or node (EDIT_NODE) of the module, its bodies
 * and its functions has, and reserves it. */
sid edit_fresh(struct edit *e, sid like, uint32_t what);
/* Adds a value with a name similar to `like` and flags VALUE_... to graph g, without a maker and a type; returns
 * it. */
vid edit_new_value(struct edit *e, gid g, sid like, uint32_t flags);
/* Adds a node to graph g behind node `after` (0: at the beginning), as edit_after() does, and returns it. */
nid edit_new_node(struct edit *e, gid g, nid after, const char *op);
/* Appends v to a list of graph g (in edit.border; edit_end() appends it to the graph's own list). */
void edit_append(struct edit *e, gid g, vid v, enum graph_list list);
/* Grows the edit's [graph] arrays to the module's number of graphs. */
void edit_grow_graphs(struct edit *e);
/* Makes the result v of node n an omitted result. */
void edit_remove_result(struct edit *e, nid n, vid v);
/* edit_nbody() returns the number of graphs to which an attribute refers; edit_body() returns the i-th of these
 * graphs. */
uint32_t edit_nbody(const struct attr *a);
gid edit_body(const struct module *m, const struct attr *a, uint32_t i);
/* Adds a copy of tensor t with that name and returns it; t itself may be in use elsewhere.  Of a sparse tensor, the
 * tensor of its values is copied and named, too. */
tid edit_tensor_named(struct edit *e, tid t, sid name);
/* edit_unlink: removes node n from the list of its graph.  edit_link_after: inserts node n into the list of graph g
 * behind node `at` (0: at the beginning). */
void edit_unlink(struct edit *e, nid n);
void edit_link_after(struct edit *e, gid g, nid at, nid n);

#endif
