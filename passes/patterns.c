/* Lists of regular expressions over node names (patterns.h): POSIX extended ones, tried in order. */
#include "passes/patterns.h"

int patterns_add(struct patterns *p, struct arena *a, const char *text, uint32_t group,
                 const char *where, struct diag *d)
{
    regex_t *re = arena_alloc(a, sizeof *re);
    char why[128];
    int rc = regcomp(re, text, REG_EXTENDED | REG_NOSUB);
    if (rc) {
        regerror(rc, re, why, sizeof why);
        return diag_error(d, "%s: '%s' is not a regular expression: %s", where, text, why);
    }
    p->at = vec_grow(a, p->at, &p->cap, p->n + 1, sizeof *p->at);
    p->at[p->n++] = (struct pattern){.text = text, .re = re, .group = group};
    return 0;
}

struct pattern *patterns_match(struct patterns *p, const char *name)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (regexec(p->at[i].re, name, 0, NULL, 0) == 0) {
            p->at[i].hits++;
            return &p->at[i];
        }
    return NULL;
}

void patterns_warn_idle(const struct patterns *p, const char *where, struct diag *d)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (!p->at[i].hits)
            diag_warning(d, WARN_UNMATCHED_PATTERN,
                         "%s: '%s' matches no placed node that is still free", where,
                         p->at[i].text);
}

void patterns_free(struct patterns *p)
{
    for (uint32_t i = 0; i < p->n; i++)
        regfree(p->at[i].re);
    p->n = 0;
}
