/* Declarations shared by the files of the verifier; private to ir/model/verify*.c. */
#ifndef PCC_IR_MODEL_VERIFY_H
#define PCC_IR_MODEL_VERIFY_H

#include "ir/model/module.h"

/* State of module_verify(). */
struct check {
    /* module that is being checked: the model, then the body of each function */
    const struct module *m;
    struct diag *d;    /* where violations are reported */
    struct arena *mem; /* scratch memory */
    uint32_t nstr;     /* number of strings in the module */
    uint32_t ncallee;  /* number of the model's functions, with entry 0 */
    /* [string] scratch: the value or node with that name; all entries are 0 between two uses */
    uint32_t *named;
    bool bad; /* a violation was reported */
};

/* Reports a violation and sets c->bad. */
void verify_fail(struct check *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Whether slice s lies within a pool of `count` entries. */
bool verify_inside(struct slice s, uint32_t count);
/* Returns slice s, or an empty slice if s does not lie within a pool of `count` entries. */
struct slice verify_safe(struct slice s, uint32_t count);
/* Report slice s or index i if it lies outside an array of `count` entries, as "WHAT ID: FIELD is ...". */
void verify_slice(struct check *c, const char *what, uint32_t id, const char *field, struct slice s,
                  uint32_t count);
void verify_index(struct check *c, const char *what, uint32_t id, const char *field, uint32_t i,
                  uint32_t count);
/* Reports indices that are out of range in a list of attributes of c->m.  of: name of the node or function that has
 * the attributes. */
void verify_attrs(struct check *c, struct slice list, const char *of);
/* Runs the first round of checks: all indices, slices and enumerations (verify_ranges.c). */
void verify_ranges(struct check *c);

#endif
