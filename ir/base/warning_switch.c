/* The option -W, which shows or hides warnings or lets them fail the run (warning_switch.h).  O(number of warnings). */
#include "ir/base/warning_switch.h"

#include "ir/base/nearest.h"

#include <string.h>

/* Returns the warning of that name; WARN_NONE: there is none. */
static enum warning find_warning(const char *name)
{
    for (int w = WARN_NONE + 1; w < WARN_COUNT; w++)
        if (!strcmp(name, warning_text((enum warning)w).name))
            return (enum warning)w;
    return WARN_NONE;
}

/* Returns the rest of s after the prefix, or NULL if s does not begin with it. */
static const char *skip_prefix(const char *s, const char *prefix)
{
    size_t n = strlen(prefix);
    return strncmp(s, prefix, n) == 0 ? s + n : NULL;
}

int warning_switch(struct diag *d, const char *text, struct arena *a)
{
    /* rest: the text behind "no-"; name: the text without "no-" and "error="; error: the text behind "error" */
    const char *rest = skip_prefix(text, "no-"), *name = rest ? rest : text;
    const char *error = skip_prefix(name, "error");
    bool on = rest == NULL, all = error && !*error;
    if (error && *error == '=')
        name = error + 1;
    enum warning one = find_warning(name);
    if (!all && !one) {
        struct nearest t = nearest_to(name, strlen(name));
        for (int w = WARN_NONE + 1; w < WARN_COUNT; w++)
            nearest_try(&t, warning_text((enum warning)w).name);
        nearest_try(&t, "error");
        return diag_error(d, "-W%s: there is no warning '%s'%s (see --help=all)", text, name,
                          nearest_hint(&t, a));
    }
    for (int w = WARN_NONE + 1; w < WARN_COUNT; w++) {
        if (!all && w != (int)one)
            continue;
        /* error=NAME also shows the warning; no-error=NAME, error and no-error leave hidden[] as it is */
        if (!error || (!all && on))
            d->hidden[w] = !on;
        if (error)
            d->fatal[w] = on;
    }
    return 0;
}

void warning_reset(struct diag *d)
{
    memset(d->hidden, 0, sizeof d->hidden);
    memset(d->fatal, 0, sizeof d->fatal);
}
