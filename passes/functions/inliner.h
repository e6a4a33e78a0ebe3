/* Replaces calls of the model's functions by the functions' nodes. Users are the pass inline-functions, passes that
 * look inside calls (opened_calls.h), and planning with open calls (opened.h). */
#ifndef PCC_PASSES_FUNCTIONS_INLINER_H
#define PCC_PASSES_FUNCTIONS_INLINER_H

#include "ir/base/map.h"
#include "passes/passes.h"

/* Whether the calls of a function can be replaced. */
enum fate {
    FATE_FREE, /* calls can be replaced */
    FATE_CYCLE, /* the function calls itself, or calls lead from it to a function that calls itself */
    FATE_DEEP,    /* calls inside the function are nested too deep: depth > CALL_DEPTH */
    FATE_OPSET,   /* a node of the function would mean something else under the model's opsets */
    FATE_UNWANTED /* the user excludes the function: option `only` of inline-functions */
};
enum { CALL_DEPTH = 256 };

/* Facts about the functions of a module. */
struct functions {
    uint32_t n; /* number of functions + 1: entry 0 is none */
    /* [norder] callers before callees; functions on a cycle of calls, or leading to one, are missing */
    uint32_t *order;
    uint32_t norder;
    uint8_t *fate; /* [function] enum fate */
    /* [function] levels of nested calls when it is called: 1 if it calls no function; meaningless for FATE_CYCLE */
    uint32_t *depth;
    uint8_t *returns; /* [function] 1: some graph in it has an input of the function as an output */
    /* [function] nodes of its body when all calls in it are replaced, plus the replaced calls; at most UINT64_MAX */
    uint64_t *nodes;
    uint64_t *entries; /* [function] as `nodes`, for entries of all arrays: nodes, values, ... */
};

/* Returns facts about the functions of m, in a; fates become FREE, CYCLE or DEEP.  O(functions + their nodes). */
struct functions *functions_study(const struct module *m, struct arena *a);
/* Sets f->nodes and f->entries again after fates were changed: only calls of functions that are FREE are replaced. */
void functions_measure(const struct module *m, struct functions *f);
/* Writes to *nodes and *entries the numbers of nodes and of array entries that m would have if all calls of functions
 * with FATE_FREE were replaced (the replaced calls are counted, too); at most UINT64_MAX. */
void functions_total(const struct module *m, const struct functions *f, uint64_t *nodes,
                     uint64_t *entries);
/* Sets the fate FATE_OPSET for each function that calls in m reach and whose nodes would mean something else under the
 * opsets of m; notes in d, which begin with `who`, name the first of them.  Adds to m the opsets that the other
 * reached functions import, but m does not import yet. */
void functions_fit(struct module *m, struct functions *f, const char *who, struct arena *scratch,
                   struct diag *d);
/* Adds to m the opsets that the functions with entered[function] != 0 import and m does not; callers come first. */
void functions_import(struct module *m, const struct functions *f, const uint8_t *entered,
                      struct arena *scratch);
/* Returns "domain:name:overload", without empty parts, in a. */
const char *function_name(const struct module *m, uint32_t f, struct arena *a);
/* Returns why `call`, a node of `from` (m, or the body of one of its functions), cannot be replaced although the fate
 * of the called function allows it: a clause for messages.  NULL: it can be replaced. */
const char *call_obstacle(const struct module *m, const struct functions *f,
                          const struct module *from, nid call);

/* The place of a replaced call in the new module, and the nodes there.  Sites are numbered from 1 in the order of
 * the calls; the sites of calls inside a replaced call follow the site of that call. */
struct site {
    sid name;          /* name of the call */
    uint32_t function; /* the called function */
    uint32_t parent;   /* the innermost site around this site; 0: none */
    nid call; /* the call, a node in the body of the parent's function; without a parent, of the original */
    uint32_t after; /* the first later site that does not lie within this site */
    /* the nodes that stand in the call's place: first .. end - 1, in the graph that had the call */
    nid first, end;
    /* in module.arg of the new module: the call's operands (0: omitted) and results (0: lost) */
    struct slice in, out;
};

/* A copy of a module, the original, with calls replaced. */
struct inlined_module {
    struct module m; /* shares all unchanged arrays with the original; values keep their numbers */
    uint32_t nnode0, ngraph0; /* nnode and ngraph of the original */
    bool names;               /* new nodes and values have names of their own (inline_how.names) */
    /* [node of m] the node's number in the original; a new node: the call of the original in whose place it stands */
    nid *origin;
    uint32_t caporigin;
    /* [node of m] the version of ai.onnx that the node was written for; -1: not given */
    int64_t *opset;
    uint32_t capopset;
    /* [node of m] the innermost site around the node, also for nodes of bodies; 0: none */
    uint32_t *within;
    uint32_t capwithin;
    struct site *site; /* [nsite], entry 0 unused */
    uint32_t nsite, capsite;
};

/* Says which calls of functions with FATE_FREE are replaced, and whether new names are made. */
struct inline_how {
    const struct functions *functions; /* facts about the module's functions, with their fates */
    /* true: new nodes and values get names of their own, call/inner; false: they keep the names inside the function,
     * even if several are equal, which is enough for finding sizes */
    bool names;
    bool main_only; /* only calls in the main graph are replaced */
    /* Called for each call that could be replaced, in the order of sites: node `call` of the body of function `in`
     * (0: of the model), whose name in the new module is `name`.  Returns whether to replace the call.  NULL: all
     * calls are replaced. */
    bool (*enters)(void *user, uint32_t in, nid call, sid name);
    void *user; /* first argument of `enters` */
};

/* Writes to *out a copy of m with calls replaced.  The new arrays are allocated in mem; m gets new strings, but is not
 * changed otherwise.  Returns 0, or -1 and reports an error in d: the names take too much memory.
 * O(size of the new module), expected (hashing). */
int inline_calls(const struct module *m, const struct inline_how *how, struct arena *mem,
                 struct arena *scratch, struct diag *d, struct inlined_module *out);

#endif
