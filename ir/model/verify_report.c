/* Reporting violations, and replacing slices that are out of range by empty ones (verify.h).  O(1) each. */
#include "ir/model/verify.h"

#include <stdarg.h>

void verify_fail(struct check *c, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    struct arena_mark mark = arena_mark(c->mem);
    diag_error(c->d, "verify: %s", arena_vfmt(c->mem, fmt, ap));
    arena_release(c->mem, mark);
    va_end(ap);
    c->bad = true;
}

bool verify_inside(struct slice s, uint32_t count)
{
    return s.n <= count && s.at <= count - s.n;
}

struct slice verify_safe(struct slice s, uint32_t count)
{
    return verify_inside(s, count) ? s : (struct slice){0, 0};
}

void verify_slice(struct check *c, const char *what, uint32_t id, const char *field, struct slice s,
                  uint32_t count)
{
    if (!verify_inside(s, count)) {
        verify_fail(c, "%s %u: %s is [%u, %u + %u) of a pool of %u", what, id, field, s.at, s.at,
                    s.n, count);
    }
}

void verify_index(struct check *c, const char *what, uint32_t id, const char *field, uint32_t i,
                  uint32_t count)
{
    if (i >= count)
        verify_fail(c, "%s %u: %s is %u, expected less than %u", what, id, field, i, count);
}
