/* Facts that a file of measured times has about its measurement: the sizes of dimensions, and what ran (costs.md).
 *
 * A file of pcc-profile has facts as members.  In a table, facts are the first rows.  Each of these rows has a name
 * that begins with "#" and a time of 0, so that a reader that knows no facts takes them for nodes that no model has and
 * that take no time. */
#ifndef PCC_PASSES_COST_TABLE_FACTS_H
#define PCC_PASSES_COST_TABLE_FACTS_H

#include "passes/passes.h"

/* The key of a JSON object that says the version of its form: a file that pcc-profile has written. */
#define MEASURED_KEY "pcc_measured"
/* The name of the first fact of a table, with the version of the form. */
#define FACTS_FIRST "#pcc_measured 1"

/* Where a reader of a table is.  The first rows of a table may be facts about the whole table.  BEFORE: before the
 * first row; HERE: at a fact; BEHIND: behind all facts. */
enum facts { FACTS_BEFORE, FACTS_HERE, FACTS_BEHIND };

/* Returns where a row called `name` (NULL: it has no name) stands; was: where the row before it stood. */
enum facts facts_next(enum facts was, const char *name);

struct table_facts {
    const char *path;         /* the file */
    bool said;                /* the file has facts */
    struct dim_binding *dims; /* [ndims] sizes at which the table was measured */
    uint32_t ndims, capdims;
};

/* Returns FILE of text, FILE or FILE:CLASS,..., in a, and writes CLASS,... to *classes.  *classes is NULL if the text
 * names no classes, or if there is a file whose name is the whole text. */
const char *table_path(const char *text, const char **classes, struct arena *a);
/* Reads the facts of a file into *f, in a.  text: FILE or FILE:CLASS,...  A file that cannot be read, or is no
 * table, has no facts.  Returns 0; -1 after an error: a fact is malformed. */
int table_facts_read(struct table_facts *f, const char *text, struct arena *a, struct diag *d);

#endif
