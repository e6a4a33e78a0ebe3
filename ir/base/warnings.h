/* The warnings that pcc can give, each with a name: what -W switches and --diag=json know them by. */
#ifndef PCC_IR_BASE_WARNINGS_H
#define PCC_IR_BASE_WARNINGS_H

#include "ir/base/arena.h"

enum warning {
    WARN_NONE, /* notes and errors */
    WARN_ANNOTATION,
    WARN_DOUBLE_DEFINITION,
    WARN_FUNCTION_COST,
    WARN_GUESSED_DIM,
    WARN_INVALID_PLAN,
    WARN_LARGE_CLASS,
    WARN_LEFT_BEHIND,
    WARN_LOOP_COUNT,
    WARN_MISSING_LAYERS,
    WARN_MISSING_VALUES,
    WARN_MOVED_WEIGHTS,
    WARN_ONE_SIZE,
    WARN_OVER_MEMORY,
    WARN_PICTURE,
    WARN_REPRODUCER,
    WARN_SHAPE_CONFLICT,
    WARN_STALE_ANNOTATION,
    WARN_UNKNOWN_SIZE,
    WARN_UNMATCHED_COST,
    WARN_UNMATCHED_DIM,
    WARN_UNMATCHED_PATTERN,
    WARN_UNMATCHED_PIN,
    WARN_UNUSED_OPTION,
    WARN_WHOLE_BODY,
    WARN_WHOLE_CALL,
    WARN_COUNT
};

struct warning_text {
    const char *name, *help;
};

/* Name and meaning; names are lower case, none begins with "no-" or "error". */
struct warning_text warning_text(enum warning w);

#endif
