/* A pcc that finds faults in itself: its judge finds a picosecond more than there is (PCC_LIE=judge), or
 * its verifier refuses every module that has costs (PCC_LIE=verify).  For test_repro.py.
 *
 * The linker puts __wrap_f in place of every call of f (--wrap). */
#include "ir/ir.h"

#include <stdlib.h>
#include <string.h>

struct verdict __real_judge(const struct scene *s, const int32_t *dev, const uint32_t *copies,
                            struct arena *a);
struct verdict __wrap_judge(const struct scene *s, const int32_t *dev, const uint32_t *copies,
                            struct arena *a);
int __real_module_verify(const struct module *m, struct diag *d);
int __wrap_module_verify(const struct module *m, struct diag *d);

static bool lies(const char *about)
{
    const char *s = getenv("PCC_LIE");
    return s && !strcmp(s, about);
}

struct verdict __wrap_judge(const struct scene *s, const int32_t *dev, const uint32_t *copies,
                            struct arena *a)
{
    struct verdict v = __real_judge(s, dev, copies, a);
    v.value += lies("judge");
    return v;
}

int __wrap_module_verify(const struct module *m, struct diag *d)
{
    if (lies("verify") && m->cost)
        return diag_error(d, "planted: the module has costs");
    return __real_module_verify(m, d);
}
