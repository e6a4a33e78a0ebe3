/* Computes the time of an iteration by DAPPLE's formula (stage_formula.h).
 *
 * Source: the paper's formulas (1) to (3).  The word stage is used here for stages that compute and for the links
 * between them.  The pivot Q is the stage that no other one holds up: first the last stage; then, from back to
 * front, an earlier stage replaces it if its steady phase is longer than that of Q and the passes of the stages
 * between the two.  An iteration takes the forward passes of one micro-batch up to Q (warm_up), the passes of all
 * other micro-batches on Q (steady), and the longest time until a stage s has ended its AllReduce (ending).  Before
 * that AllReduce a stage s <= Q waits for the last backward passes of the stages s .. Q; a stage s > Q has begun it
 * earlier, by the backward passes of the stages Q + 1 .. s - 1.  The formula as printed subtracts those of Q .. s
 * for s > Q, and at s = Q subtracts Q's own last backward pass instead of adding it. */
#include "passes/stages/stage_formula.h"

#include "ir/base/numbers.h"
#include "ir/base/units.h"

#include <assert.h>

/* Returns the ps that all micro-batches but one take on a stage, forward and backward. */
static int64_t steady_time(const struct formula_stage *s, uint32_t micro_batches)
{
    return sat_mul(micro_batches - 1, sat_add(s->forward, s->backward));
}

struct formula stage_formula(const struct formula_stage *s, uint32_t n, uint32_t micro_batches,
                             bool literal)
{
    struct formula r = {.pivot = n - 1, .ending = INT64_MIN};
    /* ps of the passes of one micro-batch on the stages between i and the pivot */
    int64_t between = 0;
    assert(n > 0 && micro_batches > 0);
    for (uint32_t i = n - 1; i-- > 0;) {
        int64_t own = steady_time(&s[i], micro_batches);
        if (own > sat_add(steady_time(&s[r.pivot], micro_batches), between)) {
            r.pivot = i;
            between = 0;
        } else {
            between = sat_add(between, sat_add(s[i].forward, s[i].backward));
        }
    }
    for (uint32_t i = 0; i <= r.pivot; i++)
        r.warm_up += s[i].forward;
    r.steady = steady_time(&s[r.pivot], micro_batches);
    /* end: ps from the end of the steady phase to the AllReduce of stage i; with `literal` the signs as printed.  First
     * the pivot and the stages before it, then the stages behind, whose AllReduces began earlier */
    int64_t end = 0;
    for (uint32_t i = r.pivot + 1; i-- > 0;) {
        end += literal && i == r.pivot ? -s[i].backward : s[i].backward;
        /* the pivot's backward pass, subtracted above, counts before the stages in front of the pivot */
        int64_t more = literal && i < r.pivot ? 2 * s[r.pivot].backward : 0;
        /* no overflow: see FORMULA_MOST; `end` may be negative, so no sat_add() */
        int64_t own = s[i].reduce + end + more;
        r.ending = larger(own, r.ending);
    }
    end = literal ? -s[r.pivot].backward : 0;
    for (uint32_t i = r.pivot + 1; i < n; i++) {
        end -= literal ? s[i].backward : 0;
        r.ending = larger(s[i].reduce + end, r.ending);
        end -= literal ? 0 : s[i].backward;
    }
    int64_t begin = sat_add(r.warm_up, r.steady);
    /* sat_add() takes no negative numbers */
    r.latency = r.ending < 0 ? begin + r.ending : sat_add(begin, r.ending);
    return r;
}
