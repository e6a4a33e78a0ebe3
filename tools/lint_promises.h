/* For clang-analyzer alone (tools/lint.sh --analyzer), which looks into one file at a time: what functions of other
 * files promise.  Taken in before each file but those that define them. */
#ifndef PCC_TOOLS_LINT_PROMISES_H
#define PCC_TOOLS_LINT_PROMISES_H

#include "ir/base/diag.h"

/* They always return -1. */
#define diag_error(...) (diag_error(__VA_ARGS__), -1)

#ifdef PCC_LINT_TEXT /* the files of ir/text */
#include "ir/text/parse.h"
#define text_error(...) (text_error(__VA_ARGS__), -1)
#define text_expected(...) (text_expected(__VA_ARGS__), -1)
#endif

#endif
