/* Stages and slots of plans in the textual IR (grammar: text.md).  O(text). */
#include "ir/text/parse.h"
#include "ir/text/print.h"

#include <assert.h>
#include <string.h>

/* Takes '=' and a number in least..most into *out.  Returns 0, or -1 after an error. */
static int take_number(struct parser *p, int64_t least, int64_t most, int64_t *out)
{
    return text_want(p, '=', "'='") < 0 ? -1 : text_int(p, least, most, out, "a number");
}

/* ---- slots --------------------------------------------------------------------------------------- */

int text_slot(struct parser *p, struct plan *plan, nid n)
{
    assert(n > 0 && n < p->m->nnode);
    int64_t slot = 0;
    if (!text_take_word(p, "slot"))
        return 0;
    if (take_number(p, 1, SLOTS_MOST, &slot) < 0)
        return -1;
    if (!plan->slot)
        plan->slot = arena_array(p->m->mem, p->m->nnode, sizeof *plan->slot);
    plan->slot[n] = (uint32_t)slot;
    return 0;
}

/* ---- stages ------------------------------------------------------------------------------------- */

/* Reads "[0,1,2 ahead=2 recompute]" for each stage, the numbers of its devices and its fields `ahead` and
 * `recompute`, into plan->stages.  Returns 0, or -1 after an error. */
int text_stages(struct parser *p, struct plan *plan)
{
    struct stages *s = arena_alloc(p->m->mem, sizeof *s);
    /* cap: capacities of the four arrays of s; n: number of devices of all stages so far */
    uint32_t ndev = p->cluster ? p->cluster->ndev : 0, cap[4] = {0}, n = 0;
    size_t at = p->tok.at;
    int64_t dev, ahead;
    while (text_take(p, '[')) {
        s->device.at = vec_grow(p->m->mem, s->device.at, &cap[0], s->n + 2, sizeof *s->device.at);
        s->ahead = vec_grow(p->m->mem, s->ahead, &cap[1], s->n + 1, sizeof *s->ahead);
        s->recompute = vec_grow(p->m->mem, s->recompute, &cap[2], s->n + 1, 1);
        do {
            if (text_int(p, 0, (int64_t)ndev - 1, &dev, "the number of a device") < 0)
                return -1;
            s->device.to = vec_grow(p->m->mem, s->device.to, &cap[3], n + 1, sizeof *s->device.to);
            s->device.to[n++] = (uint32_t)dev;
        } while (text_take(p, ','));
        if (!text_take_word(p, "ahead"))
            return text_expected(p, "',' or 'ahead='");
        if (take_number(p, 1, UINT32_MAX, &ahead) < 0)
            return -1;
        s->ahead[s->n] = (uint32_t)ahead;
        s->recompute[s->n] = text_take_word(p, "recompute");
        s->device.at[++s->n] = n;
        if (text_want(p, ']', "']'") < 0)
            return -1;
    }
    if (!s->n)
        return text_expected(p, "'['");
    const char *why = stages_refuse(s, ndev, p->m->mem);
    if (why)
        return text_error(p, at, "%s", why);
    plan->stages = s;
    return 0;
}

int text_placed_stage(struct parser *p, struct plan *plan, nid n)
{
    assert(n > 0 && n < p->m->nnode);
    int64_t stage = 0;
    if (!text_take_word(p, "stage"))
        return 0;
    if (take_number(p, 0, plan->stages ? (int64_t)plan->stages->n - 1 : -1, &stage) < 0)
        return -1;
    if (!plan->stage_of) {
        plan->stage_of = arena_array(p->m->mem, p->m->nnode, sizeof *plan->stage_of);
        memset(plan->stage_of, 0xff, p->m->nnode * sizeof *plan->stage_of); /* -1: none */
    }
    plan->stage_of[n] = (int32_t)stage;
    return 0;
}

void text_put_stages(const struct printer *p, const struct stages *s)
{
    assert(s->n > 0);
    text_put(p, " stages");
    for (uint32_t k = 0; k < s->n; k++) {
        for (uint32_t i = s->device.at[k]; i < s->device.at[k + 1]; i++)
            fprintf(p->f, "%s%u", i > s->device.at[k] ? "," : " [", s->device.to[i]);
        fprintf(p->f, " ahead=%u%s]", s->ahead[k], s->recompute[k] ? " recompute" : "");
    }
}
