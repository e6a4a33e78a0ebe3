/* The passes of each device in an iteration, in their order (iteration.h).  O(passes). */
#include "ir/exec/iteration/iteration.h"

#include "ir/base/numbers.h"

#include <assert.h>

/* Returns the number of devices that take the micro-batches of a stage in turn. */
static uint32_t turns_of(const struct stage_work *w)
{
    return w->turns ? w->turns : 1;
}

uint32_t iteration_turns(const struct iteration *x, uint32_t place)
{
    assert(place < x->nplace);
    /* stage[place] is the place's first stage; later stages of the place are on the same devices */
    return turns_of(&x->stage[place]);
}

uint32_t iteration_devices(const struct iteration *x)
{
    uint32_t n = 0;
    for (uint32_t p = 0; p < x->nplace; p++)
        n += iteration_turns(x, p);
    return n;
}

uint32_t iteration_ahead_a(uint32_t nstage, uint32_t stage, uint32_t most)
{
    assert(stage < nstage && most >= 1);
    uint32_t want = nstage - stage;
    return smaller_u32(want, most);
}

uint32_t iteration_ahead_b(uint32_t nstage, uint32_t stage, uint32_t most)
{
    assert(stage < nstage && most >= 1);
    uint32_t want = 2 * (nstage - stage) - 1;
    return smaller_u32(want, most);
}

uint32_t iteration_ahead_turns(const struct stage_work *stage, uint32_t nstage, uint32_t at)
{
    uint32_t devices = 0, own = turns_of(&stage[at]);
    for (uint32_t s = at; s < nstage; s++)
        devices += turns_of(&stage[s]);
    return (devices + own - 1) / own;
}

uint32_t iteration_ahead_interleaved(const struct iteration *x, uint32_t place)
{
    /* stages: number of stages of a place; all: number of its forward passes.  By Megatron-LM's rule these passes come
     * before the first backward pass: nplace micro-batches through each stage of the place but its last, then two for
     * each place behind this one, and the micro-batch whose backward pass comes first.  With as many micro-batches as
     * places, all forward passes come before */
    uint64_t stages = x->nstage / x->nplace, all = stages * x->micro_batches;
    uint64_t ahead = 2 * (x->nplace - place - 1) + (stages - 1) * x->nplace + 1;
    assert(place < x->nplace);
    return (uint32_t)(ahead > all || x->micro_batches == x->nplace ? all : ahead);
}

void iteration_settle_ahead(struct stage_work *stage, uint32_t nstage)
{
    for (uint32_t s = 1; s < nstage; s++) {
        uint64_t before = (uint64_t)stage[s - 1].ahead * turns_of(&stage[s - 1]);
        /* the largest `ahead` of stage s with (ahead - 1) * turns < before */
        uint64_t most = (before - 1) / turns_of(&stage[s]) + 1;
        assert(stage[s - 1].ahead >= 1);
        if (stage[s].ahead > most)
            stage[s].ahead = (uint32_t)most;
    }
}

/* Returns the number of micro-batches that device `turn` of a place runs: micro-batches turn, turn + turns, turn + 2
 * turns, ... where `turns` is the number of devices of the place. */
static uint32_t count_micro_batches(const struct iteration *x, uint32_t place, uint32_t turn)
{
    uint32_t turns = iteration_turns(x, place);
    return turn < x->micro_batches ? (x->micro_batches - turn - 1) / turns + 1 : 0;
}

uint32_t iteration_length(const struct iteration *x, uint32_t place, uint32_t turn)
{
    uint32_t kinds = x->forward_only ? 1 : x->order == ITERATION_ZB_H1 ? 3 : 2;
    return kinds * (x->nstage / x->nplace) * count_micro_batches(x, place, turn);
}

/* The list of passes of one device, under construction. */
struct list {
    const struct iteration *x;
    /* the device: number `turn` of the devices of the place that take micro-batches in turn */
    uint32_t place, turn;
    struct iteration_entry *entry; /* the n passes so far, in order */
    uint32_t n;
};

/* Adds a pass of the device for its k-th micro-batch.  The place must have one stage only, whose number is that of the
 * place. */
static void put_pass(struct list *l, enum iteration_kind kind, uint32_t k)
{
    l->entry[l->n++] =
        (struct iteration_entry){kind, l->place, l->turn + k * iteration_turns(l->x, l->place)};
}

/* Adds the k-th forward or the k-th backward pass of a place, counted over all its stages: nplace micro-batches go
 * through its first stage (backward: its last stage), then through the next one. */
static void put_interleaved(struct list *l, enum iteration_kind kind, uint32_t k)
{
    uint32_t places = l->x->nplace;
    /* number of passes in which nplace micro-batches go through all stages of the place */
    uint32_t round = l->x->nstage;
    uint32_t own_stage = k % round / places; /* number of the stage among the stages of the place */
    if (kind == ITERATION_BACKWARD)
        own_stage = round / places - 1 - own_stage;
    l->entry[l->n++] = (struct iteration_entry){kind, own_stage * places + l->place,
                                                k / round * places + k % places};
}

/* Lists the n passes of a device for an iteration without backward passes. */
static void list_forward(struct list *l, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++)
        if (l->x->order == ITERATION_INTERLEAVED)
            put_interleaved(l, ITERATION_FORWARD, k);
        else
            put_pass(l, ITERATION_FORWARD, k);
}

/* Lists the passes of a device with n micro-batches for GPIPE. */
static void list_gpipe(struct list *l, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++)
        put_pass(l, ITERATION_FORWARD, k);
    for (uint32_t k = n; k-- > 0;)
        put_pass(l, ITERATION_BACKWARD, k);
}

/* Lists the passes of a device with n micro-batches for 1F1B or ZB_H1. */
static void list_1f1b(struct list *l, uint32_t n)
{
    const struct stage_work *s = &l->x->stage[l->place];
    bool weight_pass = l->x->order == ITERATION_ZB_H1;
    uint32_t ahead = smaller_u32(s->ahead, n), made = 0; /* made: number of WEIGHT passes so far */
    assert(s->ahead >= 1);
    for (uint32_t k = 0; k < ahead; k++)
        put_pass(l, ITERATION_FORWARD, k);
    for (uint32_t k = 0; k < n; k++) {
        put_pass(l, ITERATION_BACKWARD, k);
        if (weight_pass && k >= s->lag)
            put_pass(l, ITERATION_WEIGHT, made++);
        if (ahead + k < n)
            put_pass(l, ITERATION_FORWARD, ahead + k);
    }
    while (weight_pass && made < n)
        put_pass(l, ITERATION_WEIGHT, made++);
}

/* Lists the passes of a device for INTERLEAVED. */
static void list_interleaved(struct list *l)
{
    uint32_t all = l->x->micro_batches * (l->x->nstage / l->x->nplace);
    /* forward passes before a forward and a backward pass take turns, which begin with a forward pass */
    uint32_t ahead = iteration_ahead_interleaved(l->x, l->place) - 1;
    assert(l->x->micro_batches % l->x->nplace == 0);
    for (uint32_t k = 0; k < ahead; k++)
        put_interleaved(l, ITERATION_FORWARD, k);
    for (uint32_t k = 0; k < all; k++) {
        if (ahead + k < all)
            put_interleaved(l, ITERATION_FORWARD, ahead + k);
        put_interleaved(l, ITERATION_BACKWARD, k);
    }
}

struct iteration_entry *iteration_list(const struct iteration *x, uint32_t place, uint32_t turn,
                                       struct arena *a)
{
    struct list l = {.x = x, .place = place, .turn = turn};
    uint32_t n = iteration_length(x, place, turn);
    assert(turn < iteration_turns(x, place));
    assert(x->order == ITERATION_INTERLEAVED || x->nstage == x->nplace);
    l.entry = arena_array(a, (size_t)n + 1, sizeof *l.entry);
    if (x->forward_only)
        list_forward(&l, n);
    else if (x->order == ITERATION_INTERLEAVED)
        list_interleaved(&l);
    else if (x->order == ITERATION_GPIPE)
        list_gpipe(&l, n / 2);
    else
        list_1f1b(&l, count_micro_batches(x, place, turn));
    assert(l.n == n);
    return l.entry;
}
