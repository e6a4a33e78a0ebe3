/* Assigns devices to the nodes that a plan file names.  Used by all readers of plan files: plan_json.h, plan_read.h. */
#ifndef PCC_IR_PLAN_ASSIGN_H
#define PCC_IR_PLAN_ASSIGN_H

#include "ir/base/map.h"
#include "ir/dag/scene.h"
#include "ir/plan/stages.h"

/* Nodes first .. end - 1, which replaced an opened call.  A plan may name all of them by the call's name. */
struct node_range {
    sid name;
    nid first, end;
};

/* A plan file that is being read.  The caller fills in the fields up to nrange (a zero field means none) and calls
 * assign_begin(). */
struct assignment {
    const struct scene *scene;
    const char *path; /* for messages */
    struct arena *a;  /* lives as long as the module */
    struct diag *diag;
    const struct node_range *range; /* NULL: no call was opened */
    uint32_t nrange;

    int32_t *dev; /* [node] device of the node; -1: none so far */
    /* [node] position of the node among the nodes that the file names: 1, 2, ...; 0: not named so far */
    uint32_t *place;
    uint32_t nplaced; /* number of nodes named so far */
    /* [node] slot of the node's subgraph (struct plan), 0: none; NULL: the file has no slots */
    uint32_t *slot;
    uint32_t *copies; /* [device] as in struct plan; NULL: the file has no copies */
    /* the file states that each device runs its nodes in the order of the file */
    bool ordered;
    /* how the figures in the file were computed */
    struct {
        /* set of the settings that the file gives, whose values are in `model`: exec_bit() is the bit of a setting */
        uint64_t bits;
        struct exec_model model; /* the settings under which the figures were computed */
        double bound; /* seconds: lower bound that the planner claimed for all plans in `scope` */
        /* word as of plan_scope_name(): "contiguous"; NULL: the file has no bound */
        const char *scope;
    } said;
    /* the stages of a training plan (said.model.training has its settings); NULL: the file has no stages */
    struct stages *stages;
    int32_t *stage_of; /* [node] stage of the node, -1: none so far; NULL: no node has a stage */
    /* [node] 1: a Shape or Size node, which must be on the device of its operand's producer */
    const uint8_t *follows;
    struct map named; /* name -> node */
    /* name of a copy that is made when the plan is written (so that the model need not have the name) -> 1 + the name
     * of the node that is copied */
    struct map left_out;
    struct map numbered; /* 1 + id of a node of a workload -> node */
    struct map ranges;   /* name -> 1 + index in range[] */
};

/* Makes dev[], place[] and follows[]: no node has a device yet. */
void assign_begin(struct assignment *r);
/* Fill the tables that the functions below search: assign_by_name() the names of nodes and ranges, assign_by_id() the
 * ids of a workload's nodes. */
void assign_by_name(struct assignment *r);
void assign_by_id(struct assignment *r);
/* Returns the node of a name; 0: no node has the name.  Also sets *range: 0 if a node has the name or no range has
 * it, else 1 + the index in range[] of the range of that name.  Needs assign_by_name(). */
nid assign_find(const struct assignment *r, sid name, uint32_t *range);
/* Returns the number of the device with that name; -1 and an error if there is none. */
int assign_device(const struct assignment *r, const char *name);
/* Sets the number of devices, from `dev` on, that take turns with the nodes of `dev`: from 1 to the number of devices
 * that there are from `dev` on. Returns 0, or -1 and an error. */
int assign_copies(struct assignment *r, int dev, int64_t copies);
/* Put a node, or all nodes of range[range] that do not follow their operands, on a device.  A node that is not placed
 * gets no device, but is counted in place[].  Return 0, or -1 and an error if a node is on another device already. */
int assign_node(struct assignment *r, nid n, int dev);
int assign_range(struct assignment *r, uint32_t range, int dev);
/* Do the same for the node or range of a name, and for the node of an id; return -1 and an error also if there is no
 * such node or range.  A name of left_out stands for the node that the copy was made from, if the model has that node
 * and it has no device so far; else the name is passed over. */
int assign_named(struct assignment *r, const char *name, int dev);
int assign_numbered(struct assignment *r, int64_t id, int dev);
/* Sets the stage of the node or range of a name; a name of left_out as for assign_named().  Returns 0, or -1 and an
 * error if there is no such node or range. */
int assign_stage(struct assignment *r, const char *name, uint32_t stage);
/* Set the slot (>= 1) of the node or range of a name, and of the node of an id.  Return 0, or -1 and an error if
 * there is no such node or range. */
int assign_slot_named(struct assignment *r, const char *name, uint32_t slot);
int assign_slot_numbered(struct assignment *r, int64_t id, uint32_t slot);
/* Puts each placed node without a device on the device of the other nodes of its colour (colocation class of a
 * profile), if these have a device.  Returns 0, or -1 and an error if these nodes are on two devices. */
int assign_by_color(struct assignment *r);
/* Puts the Shape and Size nodes of ranges on the devices of their operands' producers.  Then checks that each placed
 * node has a device and, in an ordered file, a position in place[].  Returns 0, or -1 and an error. */
int assign_end(struct assignment *r);
/* Returns the order of the nodes as in plan.rank; NULL: the file gives no order. */
uint32_t *assign_rank(const struct assignment *r);

#endif
