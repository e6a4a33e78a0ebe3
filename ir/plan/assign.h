/* Devices for nodes as a file names both: what the readers of plans share. */
#ifndef PCC_IR_PLAN_ASSIGN_H
#define PCC_IR_PLAN_ASSIGN_H

#include "ir/base/map.h"
#include "ir/dag/scene.h"
#include "ir/plan/stages.h"

/* A range of nodes that a plan may name as one: the nodes in place of an open call. */
struct node_range {
    sid name;
    nid first, end;
};

/* The caller fills in the first part; zero means none. */
struct assignment {
    const struct scene *scene;
    const char *path; /* for messages */
    struct arena *a;  /* lives as long as the module */
    struct diag *diag;
    const struct node_range *range; /* NULL: no call was opened */
    uint32_t nrange;

    int32_t *dev; /* [node] device, -1: not said */
    /* [node] 1 + how many were named before it, 0: it was not named */
    uint32_t *place;
    uint32_t nplaced;
    uint32_t *slot; /* [node] the slot of its subgraph, 0: not said; NULL: the file gives none */
    /* the file states that each device runs its nodes in the order of the file */
    bool ordered;
    /* settings under which the file's figures were computed: of said.model, as exec_bit() */
    struct {
        uint64_t bits;
        struct exec_model model;
        double bound;      /* seconds that its planner claimed no plan of the scope to be below */
        const char *scope; /* "contiguous", ...; NULL: it claims none */
    } said;
    /* how the plan trains, with said.model.training; NULL: the file gives none */
    struct stages *stages;
    int32_t *stage_of;      /* [node] its stage, -1: not said; NULL: of none */
    const uint8_t *follows; /* [node] 1: a Shape or Size, which stays where its operand is made */
    struct map named;       /* name -> node */
    struct map numbered;    /* id of a workload's node, + 1 -> node */
    struct map ranges;      /* name -> place in range, + 1 */
};

/* Makes dev and follows. */
void assign_begin(struct assignment *r);
/* Makes nodes known by their names (and ranges), or by the ids of a workload. */
void assign_by_name(struct assignment *r);
void assign_by_id(struct assignment *r);
/* The node of a name, 0: none; then *range is the place of a range of that name, + 1, or 0.  After assign_by_name. */
nid assign_find(const struct assignment *r, sid name, uint32_t *range);
/* The device of a name; -1 and an error if there is none. */
int assign_device(const struct assignment *r, const char *name);
/* Puts a node on a device, or all of a range but what follows its operands elsewhere; 0, or -1 and an error if it
 * is on another one.  Nodes that are not placed stay without. */
int assign_node(struct assignment *r, nid n, int dev);
int assign_range(struct assignment *r, uint32_t range, int dev);
/* The same by the name of a node or range, or by id; an error if there is none. */
int assign_named(struct assignment *r, const char *name, int dev);
int assign_numbered(struct assignment *r, int64_t id, int dev);
/* Says the stage of the node, or nodes, of a name; an error if there is none. */
int assign_stage(struct assignment *r, const char *name, uint32_t stage);
/* The slot (1, ...) of a node or range by its name, or of a node by id; an error if there is none. */
int assign_slot_named(struct assignment *r, const char *name, uint32_t slot);
int assign_slot_numbered(struct assignment *r, int64_t id, uint32_t slot);
/* Puts each node without a device on the device of its colour's nodes; an error if they are on two devices. */
int assign_by_color(struct assignment *r);
/* Shapes of ranges go where their operands are; then an error if a placed node has no device, or, in an ordered file,
 * no place in the order. */
int assign_end(struct assignment *r);
/* The order of the nodes as struct plan has it; NULL: the file gives none. */
uint32_t *assign_rank(const struct assignment *r);

#endif
