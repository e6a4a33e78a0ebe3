/* State and functions shared by the files of the editing interface; private to ir/model/edit*.c. */
#ifndef PCC_IR_MODEL_EDIT_STATE_H
#define PCC_IR_MODEL_EDIT_STATE_H

#include "ir/base/map.h"
#include "ir/model/edit.h"

/* A node during an edit: its place in the order of its graph, and its origin and fate. */
struct edit_slot {
    nid prev, next;  /* 0: none */
    uint32_t set_at; /* time at which its operands were set; 0: before the edit */
    /* the node of before the edit that it was made from; 0: from none, or not a new node */
    nid from;
    bool is_new, gone;
    bool copy; /* a copy of `from`, with its costs, or a copy of such a copy */
};

/* From `time` on, readers of a value read `to`; next: a later change of the same value, 0: none. */
struct edit_change {
    uint32_t time;
    vid to;
    uint32_t next;
};

/* A value: how it was replaced. */
struct edit_value {
    uint32_t change, latest; /* its first and last change, 0: none */
    /* cache: what readers from before all changes read, after the first known_at changes of the module */
    vid known;
    uint32_t known_at;
    vid stands; /* the output in its place from time `stood` on; 0: none */
    uint32_t stood;
    vid like; /* of a new value: the value whose type and sizes it takes; 0: none */
};

/* The lists of a graph. */
enum graph_list { BORDER_IN, BORDER_INIT, BORDER_OUT };

/* A value appended to a list of a graph. */
struct edit_border {
    gid graph;
    vid value;
    enum graph_list list;
    uint32_t set_at; /* time at which the entry was added */
    uint32_t next;   /* 1 + the next entry for the same graph, 0: none */
};

struct edit {
    struct module *m;
    struct arena *a;
    nid nnode0; /* numbers of nodes, values and graphs when the edit began */
    vid nval0;
    uint32_t ngraph0;
    uint32_t time;
    bool sweep, any_names;

    struct edit_slot *slot; /* [node] */
    uint32_t capslot;
    nid *first, *last; /* [graph] first and last node in its order */
    uint32_t capfirst, caplast;
    struct edit_value *value; /* [value] */
    uint32_t capvalue;
    uint8_t *read;            /* [value of before] 1: the value had a reader */
    struct edit_change *list; /* from 1 */
    uint32_t nlist, caplist;
    struct edit_border *border;
    uint32_t nborder, capborder;
    uint32_t *come, *latest; /* [graph] 1 + its first and last entry in `border`, 0: none */
    uint32_t capcome, caplatest;
    /* all names, collected when the first fresh name is needed -> the number to try next as a suffix */
    struct map taken;
    struct map function; /* (domain, name) -> function, likewise */
};

/* The value read now by an operand that was set to v at time set_at. */
vid edit_resolve(struct edit *e, vid v, uint32_t set_at);
/* The current output of graph g where v was put at time set_at. */
vid edit_output_now(struct edit *e, gid g, vid v, uint32_t set_at);
/* A string similar to `like` that no value (EDIT_VALUE) or node (EDIT_NODE) of the module, its bodies and its
 * functions has. */
enum { EDIT_VALUE = 1, EDIT_NODE = 2 };
sid edit_fresh(struct edit *e, sid like, uint32_t what);
/* A new value of graph g with a name similar to `like`. */
vid edit_new_value(struct edit *e, gid g, sid like, uint32_t flags);
/* A new node of graph g behind another one (0: at the beginning). */
nid edit_new_node(struct edit *e, gid g, nid after, const char *op);
/* Notes that v comes to the end of a list of graph g: BORDER_IN, ... */
void edit_append(struct edit *e, gid g, vid v, enum graph_list list);
/* Grows the arrays by graph to the module's number of graphs. */
void edit_grow_graphs(struct edit *e);
/* Node n does not make v any more. */
void edit_forget(struct edit *e, nid n, vid v);
/* Graphs that attribute a refers to: how many; body i. */
uint32_t edit_nbody(const struct attr *a);
gid edit_body(const struct module *m, const struct attr *a, uint32_t i);
/* A copy of a tensor under a name: others may have the tensor itself.  The values of a sparse one have the name,
 * too. */
tid edit_tensor_named(struct edit *e, tid t, sid name);
/* Takes node n out of the order of its graph, or puts it behind another node (0: at the beginning). */
void edit_unlink(struct edit *e, nid n);
void edit_link_after(struct edit *e, gid g, nid at, nid n);

#endif
