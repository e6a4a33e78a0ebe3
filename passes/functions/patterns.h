/* Matches names and paths (ir/model/path.h) of nodes with regular expressions of the user.  An expression matches a
 * node if it matches the node's name or path. */
#ifndef PCC_PASSES_FUNCTIONS_PATTERNS_H
#define PCC_PASSES_FUNCTIONS_PATTERNS_H

#include "passes/functions/opened.h"

/* A compiled expression. */
struct regex;

struct pattern {
    const char *text; /* the expression as the user wrote it */
    const struct regex *re;
    uint32_t group; /* the caller's number for names that match: of a device or a block */
    uint32_t hits;  /* number of names for which this was the first matching pattern */
};

/* A list of patterns.  If all fields are zero, it is empty. */
struct patterns {
    struct pattern *at; /* [n] */
    uint32_t n, cap;
    struct arena *own; /* memory of the compiled expressions; NULL: none yet */
};

enum { PATTERN_WHY = 128 }; /* bytes for a reason, with the final NUL */
/* Compiles an extended regular expression and returns it; it is freed with the arena a.  Returns NULL, and writes the
 * reason to why, if the text is no such expression, or if compiling or matching could take long: with references back,
 * more than 3 repeats inside each other, or more than 2000 characters with its repeats written out. */
const struct regex *pattern_compile(const char *text, struct arena *a,
                                    char why[static PATTERN_WHY]);
/* Whether the expression matches anywhere in the name.  If memory runs out, that is reported through arena a. */
bool pattern_matches(const struct regex *re, const char *name, struct arena *a);
/* Whether the expression matches the name or the path of node n. */
bool pattern_matches_node(const struct regex *re, const struct module *m, nid n, struct arena *a);

/* Returns an array, in a: [node of x->scene.m] 1: the expression matches the node, which is placed, or an open call
 * (opened.h) around it.  Inside such a call a Shape (follows[node] is 1: place_follows) does not count, since it goes
 * where its operand is made.  *hits: the number of such nodes. */
uint8_t *pattern_nodes(const struct regex *re, const struct ctx *x, const uint8_t *follows,
                       struct arena *a, uint32_t *hits);

/* Compiles text as pattern_compile() does and adds it to the list.  Returns 0, or -1 and reports an error in d, which
 * begins with `where`.  text must live as long as the list. */
int patterns_add(struct patterns *p, struct arena *a, const char *text, uint32_t group,
                 const char *where, struct diag *d);
/* Returns an array, in a: [node of x->scene.m] the first pattern that matches the node, or an open call (opened.h)
 * around it.  NULL: no pattern matches; or the node is not placed; or a pattern matches a call around the node, but
 * the node is a Shape that must be with the producer of its operand.  O((nodes + calls) * patterns). */
struct pattern **patterns_nodes(struct patterns *p, const struct ctx *x, struct arena *a);
/* Warns of each pattern without hits; the warnings begin with `where`. */
void patterns_warn_idle(const struct patterns *p, const char *where, struct diag *d);
/* Empties the list and frees its expressions, earlier than the arena given to patterns_add() would. */
void patterns_free(struct patterns *p);

#endif
