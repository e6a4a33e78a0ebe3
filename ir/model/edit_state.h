/* What the files of the editing interface share; private to ir/model/edit*.c. */
#ifndef PCC_IR_MODEL_EDIT_STATE_H
#define PCC_IR_MODEL_EDIT_STATE_H

#include "ir/base/map.h"
#include "ir/model/edit.h"

/* A node: its place in the order of its graph, and what is to become of it. */
struct edit_slot {
    nid prev, next;  /* 0: none */
    uint32_t set_at; /* the time at which its operands were set; 0: it had them before */
    nid from;        /* made from this one of before the edit; 0: from none, or it was there */
    bool is_new, gone;
    bool copy; /* a copy of `from`, with its costs, or a copy of such a copy */
};

/* From `time` on, readers of a value read `to`; next: a later one for the same value, 0: none. */
struct edit_change {
    uint32_t time;
    vid to;
    uint32_t next;
};

/* A value: how it was replaced. */
struct edit_value {
    uint32_t change, latest; /* the first and last of its changes, 0: none */
    vid known; /* what a reader from before them reads, as of known_at changes in all */
    uint32_t known_at;
    vid stands; /* the output in its place from time `stood` on; 0: none */
    uint32_t stood;
    vid like; /* what a new one is like; 0: nothing */
};

/* What comes to the end of a list of a graph. */
struct edit_border {
    gid graph;
    vid value;
    enum { BORDER_IN, BORDER_INIT, BORDER_OUT } list;
    uint32_t set_at; /* the time at which it came */
    uint32_t next;   /* 1 + the next one of the graph, 0: none */
};

struct edit {
    struct module *m;
    struct arena *a;
    nid nnode0; /* counts when it began */
    vid nval0;
    uint32_t ngraph0;
    uint32_t time;
    bool sweep, any_names;

    struct edit_slot *slot; /* [node] */
    uint32_t capslot;
    nid *first, *last; /* [graph] of its order */
    uint32_t capfirst, caplast;
    struct edit_value *value; /* [value] */
    uint32_t capvalue;
    uint8_t *read;            /* [value of before] 1: something read it */
    struct edit_change *list; /* from 1 */
    uint32_t nlist, caplist;
    struct edit_border *border;
    uint32_t nborder, capborder;
    uint32_t *come, *latest; /* [graph] 1 + the first and last of its borders, 0: none */
    uint32_t capcome, caplatest;
    struct map taken;    /* names, once one is asked for; the number to try next behind one */
    struct map function; /* (domain, name) -> function, likewise */
};

/* Whom a reader that was set at that time reads instead of v. */
vid edit_resolve(struct edit *e, vid v, uint32_t set_at);
/* The output of graph g that stands where v was put at that time. */
vid edit_output_now(struct edit *e, gid g, vid v, uint32_t set_at);
/* A string like that which no value or node of the module, its bodies and functions has. */
enum { EDIT_VALUE = 1, EDIT_NODE = 2 };
sid edit_fresh(struct edit *e, sid like, uint32_t what);
/* A new value of graph g with a name like that. */
vid edit_new_value(struct edit *e, gid g, sid like, uint32_t flags);
/* A new node of graph g behind another one (0: at the beginning). */
nid edit_new_node(struct edit *e, gid g, nid after, const char *op);
/* Notes that v comes to the end of a list of graph g: BORDER_IN, ... */
void edit_append(struct edit *e, gid g, vid v, int list);
/* Room for what has been added to the module. */
void edit_grow_graphs(struct edit *e);
/* Node n does not make v any more. */
void edit_forget(struct edit *e, nid n, vid v);
/* Graphs that attribute a refers to: how many; body i. */
uint32_t edit_nbody(const struct attr *a);
gid edit_body(const struct module *m, const struct attr *a, uint32_t i);
/* A copy of a tensor under a name: others may have the tensor itself.  The values of a sparse one have the name, too. */
tid edit_tensor_named(struct edit *e, tid t, sid name);
/* Takes node n out of the order of its graph, or puts it behind another node (0: at the beginning). */
void edit_unlink(struct edit *e, nid n);
void edit_link_after(struct edit *e, gid g, nid at, nid n);

#endif
