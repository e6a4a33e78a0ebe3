/* For clang-analyzer alone (tools/lint.sh --analyzer), which looks into one file at a time: tells it what functions of
 * other files return.  Included before each file that does not define these functions. */
#ifndef PCC_TOOLS_LINT_PROMISES_H
#define PCC_TOOLS_LINT_PROMISES_H

#include "ir/base/diag.h"

/* Functions that report an error and always return -1. */
#define diag_error(...) (diag_error(__VA_ARGS__), -1)

#ifdef PCC_LINT_TEXT /* the files of ir/text */
#include "ir/text/parse.h"
#define text_error(...) (text_error(__VA_ARGS__), -1)
#define text_expected(...) (text_expected(__VA_ARGS__), -1)
#endif

#endif
