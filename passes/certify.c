/* Better lower bounds for plans of any shape, by integer programs (certify.h).
 *
 * "No plan takes less than `part` below the best known" is asked first, with half of the time: that is what
 * most people want to know, and a high threshold has the smallest kernel (kernel.h).  If the solver does
 * not answer in time, a threshold half way to the bound is asked with half of what is left, and so on;
 * after an answer the bound is there, and the threshold goes up again. */
#include "passes/certify.h"

#include "passes/ip_refute.h"
#include "ir/units.h"

#include <inttypes.h>

enum { ROUNDS = 12, MILLION = 1000000 };
#define SHORTEST INT64_C(500000000) /* ns that an attempt gets at least */

static void keep_quiet(void *user, enum diag_level level, enum warning w, const char *line)
{
    (void)user, (void)level, (void)w, (void)line;
}

static const char *argue(const struct ip_refutation *r, uint32_t n, uint32_t kernel, int64_t limit,
                         struct arena *mem)
{
    char text[UNIT_TEXT];
    return arena_fmt(
        mem,
        "suppose that a plan takes %s or less; then %u vertices are %u, since parts of the others would "
        "take longer\n"
        "integer program: any sets (placement paper, 5.2) of these; %u columns and %u rows; %s %s, "
        "%" PRIu64 " nodes\n"
        "question: is there a plan of at most %s? answer: no, within the solver's tolerance\n"
        "the model of the whole for any other solver: -p 'ip-place{contiguous=none:limit=%s:"
        "solve=false:write=model.mps}'\n",
        time_print(text, limit), n, kernel, r->ncol, r->nrow, r->solver->name,
        r->solver->version(mem), r->nodes, text, text);
}

/* Whether no plan takes `limit` or less; then that is the bound. */
static bool refute(struct wdag *g, const struct chain *c, int64_t limit, struct chain_clock *clock,
                   struct bound *b, struct arena *mem, struct arena *scratch)
{
    struct arena_mark mark = arena_mark(scratch);
    struct diag quiet = {.emit = keep_quiet};
    struct ip_refutation r;
    uint64_t work = BOUNDS_WORK;
    bool none = false;
    struct wdag *k = kernel_contract(g, c, limit + 1, &work, clock, scratch);
    if (!k) { /* bounds_best tries that, too, at thresholds of its own */
        b->value = limit + 1;
        b->why = "least loads of devices around single nodes";
        arena_release(scratch, mark);
        return true;
    }
    struct chain *small = chain_build(k, c->cluster, -1, scratch, &quiet);
    if (small && ip_refute(small, limit, clock, scratch, &r)) {
        none = true;
        *b = (struct bound){
            limit + 1,
            arena_fmt(mem, "no plan of an integer program is below, says %s", r.solver->name),
            argue(&r, g->n, k->n, limit, mem)};
    }
    arena_release(scratch, mark);
    return none;
}

void certify(struct wdag *g, const struct chain *c, int64_t upper, int64_t part,
             struct chain_clock *clock, struct bound *b, struct arena *mem, struct arena *scratch)
{
    int64_t goal = upper - mul_div_ceil(upper, part, MILLION), at = goal;
    for (uint32_t i = 0; i < ROUNDS && clock->deadline && b->value < goal && !chain_out(clock);
         i++) {
        int64_t now = chain_now(), time = (clock->deadline - now) / 2;
        struct chain_clock slice = *clock;
        slice.deadline = time > SHORTEST ? now + time : clock->deadline;
        bool none = refute(g, c, at, &slice, b, mem, scratch);
        if (!none && at - b->value <= upper / 200)
            return; /* little is to be gained */
        at = none ? goal : b->value + (at - b->value) / 2;
    }
}
