/* States that go from one run of samples to the next, on the same split or another (runner.h).
 *
 * A state is an output of a sample that is an input of the next sample.  A run leaves a tensor for each of these
 * inputs.  The tensors are copied, because they belong to sessions, which end with the run.  O(bytes). */
#include "tools/run/runner.h"

#include "ir/model/module.h"

#include <inttypes.h>
#include <string.h>

/* Returns a copy of a tensor of plain numbers; NULL: v is no such tensor, or there is no memory. */
static struct engine_value *copy_of(struct engine *e, const struct engine_value *v)
{
    struct engine_shape s;
    struct engine_error err;
    int64_t size[ENGINE_AXES], bytes = value_bytes(e, v);
    if (bytes < 0 || e->face->value_shape(e, v, &s, size))
        return NULL;
    struct engine_value *to = e->face->value_new(e, &s, &err);
    const void *from = bytes ? e->face->value_data(e, (struct engine_value *)(uintptr_t)v) : NULL;
    void *at = to && bytes ? e->face->value_data(e, to) : NULL;
    if (bytes && to && (!from || !at)) {
        e->face->value_free(e, to);
        return NULL;
    }
    if (bytes && to)
        memcpy(at, from, (size_t)bytes);
    return to;
}

/* Returns the tensor of state i after sample r->given - 1, from the table of that sample or of the next sample; NULL:
 * neither has it any more. */
static const struct engine_value *left_behind(struct runner *r, uint32_t i)
{
    struct flight *last = flight_of(r, r->given - 1), *next = flight_of(r, r->given);
    const struct box *b = last->sample == r->given - 1 ? last->box[r->wires.state_out[i]] : NULL;
    if (!b && next->sample == r->given)
        b = next->box[r->wires.state_in[i]];
    return b ? b->value : NULL;
}

void states_free(struct engine *e, struct run_states *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        e->face->value_free(e, s->value[i]);
    s->n = 0;
}

struct run_states states_left(struct runner *r)
{
    struct run_states left = {0};
    if (!r->set.states || r->given == 0)
        return left;
    left.name = arena_array(r->a, (size_t)r->wires.nstate + 1, sizeof *left.name);
    left.value = arena_array(r->a, (size_t)r->wires.nstate + 1, sizeof *left.value);
    for (; left.n < r->wires.nstate && !left.lost; left.n++) {
        const struct engine_value *v = left_behind(r, left.n);
        left.name[left.n] = r->s.value[r->wires.state_in[left.n]].name;
        left.value[left.n] = v ? copy_of(r->e, v) : NULL;
        left.lost = !left.value[left.n] ? left.name[left.n] : NULL;
    }
    return left;
}

void states_keep(struct runner *r, const struct run_states *left)
{
    if (!r->set.states || r->given == 0) /* no sample has run: the states have not changed */
        return;
    states_free(r->e, r->set.states);
    *r->set.states = *left;
}

struct engine_value *states_from(const struct runner *r, uint32_t i)
{
    const struct run_states *s = r->set.states;
    for (uint32_t k = 0; s && k < s->n; k++)
        if (!strcmp(s->name[k], r->s.value[r->wires.state_in[i]].name))
            return s->value[k];
    return NULL;
}
