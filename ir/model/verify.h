/* What the files of the verifier share; private to ir/model/verify*.c. */
#ifndef PCC_IR_MODEL_VERIFY_H
#define PCC_IR_MODEL_VERIFY_H

#include "ir/model/module.h"

struct check {
    const struct module *m; /* the model's, then its functions' */
    struct diag *d;
    struct arena *mem; /* the verifier's own */
    uint32_t nstr;     /* strings in the module */
    uint32_t ncallee;  /* functions of the model, 0 included */
    /* [string] scratch: the value or node of that name; all 0 between two uses */
    uint32_t *named;
    bool bad; /* a violation was reported */
};

/* Reports a violation. */
void verify_fail(struct check *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Whether the slice lies in a pool of count entries. */
bool verify_inside(struct slice s, uint32_t count);
/* The slice, or an empty one if it does not lie in a pool of count entries. */
struct slice verify_safe(struct slice s, uint32_t count);
/* Reports a slice or an index that is out of range, as "WHAT ID: FIELD is ...". */
void verify_slice(struct check *c, const char *what, uint32_t id, const char *field, struct slice s,
                  uint32_t count);
void verify_index(struct check *c, const char *what, uint32_t id, const char *field, uint32_t i,
                  uint32_t count);
/* Reports indices out of range in a list of attributes of c->m; of: name of the node or function that has them. */
void verify_attrs(struct check *c, struct slice list, const char *of);
/* The first round: verify_ranges.c. */
void verify_ranges(struct check *c);

#endif
