/* A pcc that finds faults in itself: its judge finds a picosecond more than there is (PCC_LIE=judge), or
 * its verifier refuses every module that has costs (PCC_LIE=verify).  For test_repro.py.
 *
 * The functions of these names here stand before the library's. */
#include "ir/ir.h"
#include "tests/planted/next.h"

#include <stdlib.h>
#include <string.h>

static bool lies(const char *about)
{
    const char *s = getenv("PCC_LIE");
    return s && !strcmp(s, about);
}

struct verdict load_verdict(const struct scene *s, const int32_t *dev, const uint32_t *copies,
                            struct arena *a)
{
    struct verdict (*real)(const struct scene *, const int32_t *, const uint32_t *,
                           struct arena *) = next_function("load_verdict");
    struct verdict v = real(s, dev, copies, a);
    v.value += lies("judge");
    return v;
}

int module_verify(const struct module *m, struct diag *d)
{
    int (*real)(const struct module *, struct diag *) = next_function("module_verify");
    if (lies("verify") && m->cost)
        return diag_error(d, "planted: the module has costs");
    return real(m, d);
}
