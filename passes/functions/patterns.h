/* Lists of regular expressions over node names: plans by hand, blocks. */
#ifndef PCC_PASSES_FUNCTIONS_PATTERNS_H
#define PCC_PASSES_FUNCTIONS_PATTERNS_H

#include "passes/functions/opened.h"

/* A compiled expression. */
struct regex;

struct pattern {
    const char *text;
    const struct regex *re;
    uint32_t group; /* what the caller wants to know of a match: a device, a block */
    uint32_t hits;  /* names for which this was the first matching pattern */
};

/* Zeroed: empty. */
struct patterns {
    struct pattern *at;
    uint32_t n, cap;
    struct arena *own; /* has the compiled expressions */
};

enum { PATTERN_WHY = 128 };
/* Compiles an extended regular expression whose compilation and use stay cheap: no references back, at
 * most 3 repeats inside each other, at most 2000 characters with its repeats written out.  It goes with a.  NULL and
 * the reason in why. */
const struct regex *pattern_compile(const char *text, struct arena *a,
                                    char why[static PATTERN_WHY]);
/* Whether it matches anywhere in the name.  `a` is where memory is said to run out. */
bool pattern_matches(const struct regex *re, const char *name, struct arena *a);

/* Adds such an extended regular expression; `where` begins the error.  0 or -1. */
int patterns_add(struct patterns *p, struct arena *a, const char *text, uint32_t group,
                 const char *where, struct diag *d);
/* The first pattern that matches anywhere in the name, NULL: none.  O(patterns). */
struct pattern *patterns_match(struct patterns *p, const char *name);
/* [node of x->m] the first pattern that matches its name or that of an open call that it is in; NULL for nodes that
 * are not placed, and for a Shape in a call that some pattern matches, since it follows its operand.  Lives in a.
 * O((nodes + calls) * patterns). */
struct pattern **patterns_nodes(struct patterns *p, const struct ctx *x, struct arena *a);
/* A warning for each pattern that never was the first to match. */
void patterns_warn_idle(const struct patterns *p, const char *where, struct diag *d);
/* Frees the compiled expressions, which the C library made, before the arena that patterns_add was given. */
void patterns_free(struct patterns *p);

#endif
