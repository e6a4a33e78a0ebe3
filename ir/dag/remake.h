/* Re-computation: forward nodes run once more before the backward nodes that read their results, so that these results
 * need no memory from the forward pass to the backward pass. */
#ifndef PCC_IR_DAG_REMAKE_H
#define PCC_IR_DAG_REMAKE_H

#include "ir/dag/placeable.h"

/* Which results are made again. */
struct remake_rule {
    const struct place *place; /* what is to be placed of the module */
    /* [node] segment of the node. A node is made again from values of its own segment; what it reads of other segments
     * is kept. -1: the results of the node are kept */
    const int32_t *segment;
    /* [value] 1: the value is kept; NULL: only `segment` keeps values */
    const uint8_t *kept;
    /* true: backward nodes read only copies of nodes of their own segment; false: of all segments */
    bool within;
};

/* What remake() has made. */
struct remade {
    uint32_t copies; /* number of nodes made again; 0: the module is as it was */
    /* [node of the new module] the same node in the old module; of a copy: the node that was copied */
    nid *origin;
    /* number of nodes that the rule would have made again if they could run twice: random operators, calls, nodes
     * with bodies, operators that are not of ONNX */
    uint32_t spared;
    sid first_spared; /* name of the first of these nodes; 0: none */
};

/* Edits m, whose backward pass must be marked, by the rule: forward nodes whose results backward nodes read are
 * copied to the place before the first backward node that needs them, and so are the nodes of the same segment that
 * the copies need; the backward nodes then read the copies.  Copies are backward nodes, with the costs, layers and
 * colours of the forward nodes; their names end in "_again".  Without anything to copy, m is not touched.  Returns
 * what was made; origin lives in a.  O(nodes + operands), expected. */
struct remade remake(struct module *m, const struct remake_rule *rule, struct arena *a);

#endif
