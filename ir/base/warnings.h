/* The warnings that pcc can give.  Each has a name, by which -W selects it and --diag=json reports it. */
#ifndef PCC_IR_BASE_WARNINGS_H
#define PCC_IR_BASE_WARNINGS_H

#include "ir/base/arena.h"

/* The meaning of each warning is its help text in warnings.c. */
enum warning {
    WARN_NONE, /* stands with notes and errors, which are no warnings */
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
    WARN_UNSIZED_COST,
    WARN_UNUSED_OPTION,
    WARN_WHOLE_BODY,
    WARN_WHOLE_CALL,
    WARN_COUNT
};

/* The name and the meaning of a warning. */
struct warning_text {
    const char *name; /* such as "loop-count": lower case; must not begin with "no-" or "error" */
    const char *help; /* what the warning is about, for --help */
};

/* Returns the name and meaning of a warning; both are NULL for WARN_NONE. */
struct warning_text warning_text(enum warning w);

#endif
