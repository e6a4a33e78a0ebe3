/* Names and meanings of the warnings (warnings.h).  O(1). */
#include "ir/base/warnings.h"

static const struct warning_text texts[WARN_COUNT] = {
    [WARN_ANNOTATION] = {"annotation",
                         "device configurations that look wrong (--check-annotations)"},
    [WARN_DOUBLE_DEFINITION] = {"double-definition", "a file defines a name more than once"},
    [WARN_FUNCTION_COST] = {"function-cost", "calls of functions, whose cost is only estimated"},
    [WARN_GUESSED_DIM] = {"guessed-dim", "sizes of dimensions that were guessed, not given"},
    [WARN_INVALID_PLAN] = {"invalid-plan", "a plan from elsewhere that does not hold"},
    [WARN_LARGE_CLASS] = {"large-class", "nodes that must stay together and take much of the time"},
    [WARN_LEFT_BEHIND] = {"left-behind", "a replaced folder that could not be removed"},
    [WARN_LOOP_COUNT] = {"loop-count", "loops whose trip count is not known, or beyond counting"},
    [WARN_MISSING_LAYERS] = {"missing-layers", "layers were asked for and none were found"},
    [WARN_MISSING_VALUES] = {"missing-values",
                             "a tensor that says shapes and lies in a file that is not there"},
    [WARN_MOVED_WEIGHTS] = {"moved-weights", "a model written away from its external weights"},
    [WARN_ONE_SIZE] = {"one-size", "nodes that --profile-at files measure at one batch size only"},
    [WARN_OVER_MEMORY] = {"over-memory", "a plan that was asked for and does not fit"},
    [WARN_PICTURE] = {"picture", "a picture that could not be drawn"},
    [WARN_REPRODUCER] = {"reproducer", "a fault of pcc, and the file that shows it again"},
    [WARN_SHAPE_CONFLICT] = {"shape-conflict", "shapes in the file that cannot be right"},
    [WARN_STALE_ANNOTATION] = {"stale-annotation", "a model that tells of an earlier plan"},
    [WARN_UNKNOWN_SIZE] = {"unknown-size", "results whose size is not known"},
    [WARN_UNMATCHED_COST] = {"unmatched-cost",
                             "rows of --costs, --profile-at or --support that name nothing"},
    [WARN_UNMATCHED_DIM] = {"unmatched-dim", "a --dim that no dimension has as its name"},
    [WARN_UNMATCHED_PATTERN] =
        {"unmatched-pattern",
         "a pattern in a file, of --cut-at or of --no-cut that matches nothing"},
    [WARN_UNMATCHED_PIN] = {"unmatched-pin", "a --pin that matches no node"},
    [WARN_UNSIZED_COST] = {"unsized-cost", "measured times that do not say at which sizes"},
    [WARN_UNUSED_OPTION] = {"unused-option", "options that change nothing in this run"},
    [WARN_WHOLE_BODY] = {"whole-body", "an If, Loop or the like that takes most of the time"},
    [WARN_WHOLE_CALL] = {"whole-call", "calls of functions that stay whole and take much time"}};

struct warning_text warning_text(enum warning w)
{
    return texts[w];
}
