/* DAPPLE's latency (stage_formula.h).
 *
 * Source: the paper's formulas (1) to (3).  The pivot is the stage that no other one holds up: from the last stage on,
 * another one takes over if its steady phase is longer even with what lies between.  An iteration is the first forward
 * passes up to the pivot, the pivot's steady phase, and the longest of the AllReduces with the backward passes before
 * it.  The formula as printed takes from the ending of a stage behind the pivot all backward passes from the pivot to
 * it; but that stage has done its last one before the pivot does, so what counts is what lies between the two
 * (of the stages from Q + 1 to s - 1), and the pivot's own last backward pass has to be added where s = Q. */
#include "passes/stages/stage_formula.h"

#include "ir/base/numbers.h"
#include "ir/base/units.h"

#include <assert.h>

static int64_t steady_time(const struct formula_stage *s, uint32_t micro_batches)
{
    return sat_mul(micro_batches - 1, s->forward + s->backward);
}

struct formula stage_formula(const struct formula_stage *s, uint32_t n, uint32_t micro_batches,
                             bool literal)
{
    struct formula r = {.pivot = n - 1, .ending = INT64_MIN};
    int64_t between = 0; /* of the stages between s and the pivot */
    assert(n > 0 && micro_batches > 0);
    for (uint32_t i = n - 1; i-- > 0;) {
        int64_t own = steady_time(&s[i], micro_batches);
        if (own > sat_add(steady_time(&s[r.pivot], micro_batches), between)) {
            r.pivot = i;
            between = 0;
        } else {
            between += s[i].forward + s[i].backward;
        }
    }
    for (uint32_t i = 0; i <= r.pivot; i++)
        r.warm_up += s[i].forward;
    r.steady = steady_time(&s[r.pivot], micro_batches);
    int64_t end = 0;
    for (uint32_t i = r.pivot + 1; i-- > 0;) {
        end += literal && i == r.pivot ? -s[i].backward : s[i].backward;
        int64_t own = s[i].reduce + end + (literal && i < r.pivot ? 2 * s[r.pivot].backward : 0);
        r.ending = larger(own, r.ending);
    }
    end = literal ? -s[r.pivot].backward : 0;
    for (uint32_t i = r.pivot + 1; i < n; i++) {
        end -= literal ? s[i].backward : 0;
        r.ending = larger(s[i].reduce + end, r.ending);
        end -= literal ? 0 : s[i].backward;
    }
    int64_t begin = sat_add(r.warm_up, r.steady);
    r.latency = r.ending < 0 ? begin + r.ending : sat_add(begin, r.ending);
    return r;
}
