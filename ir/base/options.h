/* Options of passes and writers: a table of rows, each a field of a struct, its values in words. */
#ifndef PCC_IR_BASE_OPTIONS_H
#define PCC_IR_BASE_OPTIONS_H

#include "ir/base/arena.h"

#include <stdbool.h>
#include <stddef.h>

/* SET: some of the names, "a,b", or "none". */
enum opt_kind { OPT_INT, OPT_BOOL, OPT_BYTES, OPT_TIME, OPT_TEXT, OPT_CHOICE, OPT_SET };

/* One option: a field of the struct of options at `off`: int64_t, bool, const char *; of CHOICE an int64_t, the
 * place in names, which ends in NULL; of SET an int64_t, bits by such places. */
struct opt {
    enum opt_kind kind;
    const char *name;
    size_t off;
    const char *def;          /* text of the default */
    const char *lo, *hi;      /* INT, BYTES, TIME: inclusive; NULL: none */
    const char *const *names; /* CHOICE, SET; of INT names[0] stands for 0 */
    const char *help;
};

/* The defaults of all rows of a table (NULL: none); opts has room for them. */
void opts_reset(const struct opt *table, void *opts);
/* Stores what text says into its field of opts; false: text does not fit.  TEXT keeps the pointer. */
bool opt_set(const struct opt *o, void *opts, const char *text);
/* The field in words that opt_set takes; lives in a or as long as opts. */
const char *opt_get(const struct opt *o, const void *opts, struct arena *a);
/* What it takes, for messages and help: "an integer in 1..5", "one of shared inline". */
const char *opt_wants(const struct opt *o, struct arena *a);
/* The names of a CHOICE or SET, all but the last two joined by sep: "devices, blocks or nodes". */
const char *opt_names(const struct opt *o, const char *sep, const char *last, struct arena *a);

#endif
