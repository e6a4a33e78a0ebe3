/* Calls of the model's functions replaced by their bodies: for the pass inline-functions, and for the
 * passes that want to know what happens inside a call (opened_calls.h). */
#ifndef PCC_PASSES_FUNCTIONS_INLINER_H
#define PCC_PASSES_FUNCTIONS_INLINER_H

#include "ir/base/map.h"
#include "passes/passes.h"

/* Whether the calls of a function can be replaced. */
enum fate {
    FATE_FREE,    /* calls can be replaced */
    FATE_CYCLE,   /* the function calls itself, directly or through others */
    FATE_DEEP,    /* calls in calls in calls, more than CALL_DEPTH of them */
    FATE_OPSET,   /* it was written for another version of an operator */
    FATE_UNWANTED /* the caller's choice */
};
enum { CALL_DEPTH = 256 };

/* What is known of the functions of a module, [function]. */
struct functions {
    uint32_t n;      /* entry 0 included */
    uint32_t *order; /* callers before callees; those in or above a cycle are missing */
    uint32_t norder;
    uint8_t *fate; /* enum fate */
    /* depth of calls when it is called: 1 if it calls nothing; not set for FATE_CYCLE */
    uint32_t *depth;
    uint8_t *returns; /* 1: some graph in it returns an input of the function as it is */
    /* nodes of its body when all calls in it are replaced, the replaced calls counted, too; saturating */
    uint64_t *nodes;
    uint64_t *entries; /* the same for all entries that take memory */
};

/* Studies the functions of m, in a; fates become FREE, CYCLE or DEEP.  O(functions + their nodes). */
struct functions *functions_study(const struct module *m, struct arena *a);
/* Works out depth, nodes and entries again, after fates were changed. */
void functions_measure(const struct module *m, struct functions *f);
/* Nodes and entries of the whole model when the calls that fates allow are replaced. */
void functions_total(const struct module *m, const struct functions *f, uint64_t *nodes,
                     uint64_t *entries);
/* Sets FATE_OPSET, with a note from `who`, for each function that calls of m reach and whose nodes would mean
 * something else under the opsets of m.  Adds the opsets that the other functions import, and m does not, to m. */
void functions_fit(struct module *m, struct functions *f, const char *who, struct arena *scratch,
                   struct diag *d);
/* Adds to m the opsets that the functions with entered[function] != 0 import and m does not, in the same order. */
void functions_import(struct module *m, const struct functions *f, const uint8_t *entered,
                      struct arena *scratch);
/* "domain:name:overload"; lives in a. */
const char *function_name(const struct module *m, uint32_t f, struct arena *a);
/* Why `call`, a node of `from` (m, or the body of one of its functions), cannot be replaced although the fate of its
 * function allows it; NULL: it can. */
const char *call_obstacle(const struct module *m, const struct functions *f,
                          const struct module *from, nid call);

/* The place of a replaced call.  Sites are numbered from 1 in the order in which calls are entered, so those inside
 * a site follow it. */
struct site {
    sid name;          /* of the call */
    uint32_t function; /* the called function */
    uint32_t parent;   /* the innermost site around this one; 0: none */
    nid call;          /* in the body of the function of that site, or in the original */
    uint32_t after;    /* the first later site outside of this one */
    nid first, end;    /* its nodes, in the graph that the call was in */
    /* of module.arg: what the call was given, 0: omitted; its results, 0: lost */
    struct slice in, out;
};

struct inlined_module {
    struct module m; /* shares all unchanged arrays with the original; values keep their numbers */
    uint32_t nnode0, ngraph0; /* counts of the original */
    bool names;               /* nodes have names of their own */
    /* [node of m] the same node in the original, or the replaced call that brought the node */
    nid *origin;
    uint32_t caporigin;
    int64_t *opset; /* [node of m] the version of ai.onnx that it was written for; -1: not said */
    uint32_t capopset;
    uint32_t *within; /* [node of m] the innermost site that it is in, also in bodies; 0: none */
    uint32_t capwithin;
    struct site *site; /* [nsite], entry 0 unused */
    uint32_t nsite, capsite;
};

/* Which calls with FATE_FREE are replaced, and how. */
struct inline_how {
    const struct functions *functions; /* of the module, with their fates */
    /* nodes and values get names of their own, call/inner; without, they keep the inner ones, which
       is enough to look at sizes */
    bool names;
    bool main_only; /* calls in bodies stay */
    /* Asked about each call that could be replaced, in the order of sites: node `call` of the body of
     * function `in` (0: of the model), which has that name; false: it stays.  NULL: all are replaced. */
    bool (*enters)(void *user, uint32_t in, nid call, sid name);
    void *user;
};

/* Writes to *out a copy of m with calls replaced.  The new arrays live in mem; m is not changed (but its strings
 * are).  0, or -1: the names take too much memory (a diagnostic in d).  O(the result), hashing expected. */
int inline_calls(const struct module *m, const struct inline_how *how, struct arena *mem,
                 struct arena *scratch, struct diag *d, struct inlined_module *out);

#endif
