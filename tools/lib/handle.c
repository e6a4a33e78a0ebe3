/* Handles: messages, settings, and the frame of every call (pcc.h).
 *
 * A call runs in the C locale of its own thread, so that numbers have points in files and settings wherever the
 * program around it lives.  O(settings) each, besides what the call does. */
#include "tools/lib/handle.h"

#include "ir/base/nearest.h"
#include "ir/base/warning_switch.h"
#include "tools/lib/settings.h"

#include <stdlib.h>
#include <string.h>

const char *pcc_version(void)
{
    return PCC_VERSION;
}

/* ---- messages --------------------------------------------------------------------------------- */

static void emit(void *user, enum diag_level level, enum warning w, const char *line)
{
    struct pcc *p = user;
    if (level == DIAG_ERROR && !p->spoke) {
        snprintf(p->error, sizeof p->error, "%s", line);
        p->spoke = true;
    }
    if (p->listener.message)
        p->listener.message(p->listener.user, (enum pcc_level)level, warning_text(w).name, line);
}

void pcc_listen(struct pcc *p, const struct pcc_listener *l)
{
    p->listener = l ? *l : (struct pcc_listener){0};
}

const char *pcc_error(const struct pcc *p)
{
    return p->error;
}

enum pcc_status check_warned(struct pcc *p)
{
    uint32_t n = p->diag.failures;
    if (!n)
        return PCC_OK;
    diag_error(&p->diag, "-Werror: %u warning%s", n, n > 1 ? "s" : "");
    return PCC_BAD_INPUT;
}

/* ---- settings --------------------------------------------------------------------------------- */

const char *given(const struct pcc *p, const char *name)
{
    for (uint32_t i = p->ngiven; i-- > 0;)
        if (!strcmp(p->given[i].name, name))
            return p->given[i].value;
    return NULL;
}

const char *given_nth(const struct pcc *p, const char *name, uint32_t i)
{
    for (uint32_t k = 0; k < p->ngiven; k++)
        if (!strcmp(p->given[k].name, name) && i-- == 0)
            return p->given[k].value;
    return NULL;
}

static void forget(struct pcc *p, const char *name)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->ngiven; i++)
        if (strcmp(p->given[i].name, name))
            p->given[n++] = p->given[i];
    p->ngiven = n;
}

static enum pcc_status set(struct pcc *p, const char *name, const char *value)
{
    const char *known = setting_named(name);
    if (!known) {
        diag_error(&p->diag, "there is no setting '%s'%s", name, setting_hint(name, p->mem));
        return PCC_BAD_USE;
    }
    if (!value) {
        forget(p, known);
        return PCC_OK;
    }
    if (!strcmp(known, "warnings"))
        return warning_switch(&p->diag, value, p->mem) ? PCC_BAD_USE : PCC_OK;
    p->given = vec_grow(p->mem, p->given, &p->capgiven, p->ngiven + 1, sizeof *p->given);
    p->given[p->ngiven++] = (struct given){known, arena_strdup(p->mem, value, strlen(value))};
    return PCC_OK;
}
