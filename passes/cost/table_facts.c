/* Reads the facts of a table about its measurement (table_facts.h).  Only the rows up to the first node are looked at;
 * a file is read as a whole first.  O(bytes of the file). */
#include "passes/cost/table_facts.h"

#include "ir/base/csv_in.h"
#include "ir/base/infile.h"
#include "ir/base/json_in.h"
#include "ir/base/units.h"

#include <string.h>
#include <unistd.h>

/* The most columns of a table (measured.c); the most sizes among the facts of a table. */
enum { COLUMNS = 64, SIZES_MOST = 1000 };

enum facts facts_next(enum facts was, const char *name)
{
    bool first = was == FACTS_BEFORE && name && strcmp(name, FACTS_FIRST) == 0;
    bool next = was == FACTS_HERE && name && *name == '#';
    return first || next ? FACTS_HERE : FACTS_BEHIND;
}

const char *table_path(const char *text, const char **classes, struct arena *a)
{
    const char *colon = strrchr(text, ':');
    bool none = !colon || colon == text || strchr(colon, '/') || access(text, F_OK) == 0;
    *classes = none ? NULL : colon + 1;
    return none ? text : arena_strdup(a, text, (size_t)(colon - text));
}

/* Adds the size of the dimension `name` to *f.  where: the row or key that gives the size, for errors.  Returns 0; -1
 * after an error: there are too many sizes. */
static int add_size(struct table_facts *f, const char *name, int64_t size, const char *where,
                    struct arena *a, struct diag *d)
{
    if (f->ndims == SIZES_MOST)
        return diag_error(d, "%s: '%s': expected at most %d sizes", f->path, where, SIZES_MOST);
    f->dims = vec_grow(a, f->dims, &f->capdims, f->ndims + 1, sizeof *f->dims);
    f->dims[f->ndims++] = (struct dim_binding){name, size, f->path};
    return 0;
}

/* Adds the fact in a row with this name to *f.  "#dim NAME=N" is the size of a dimension; other facts are for people
 * and are passed over.  Returns 0; -1 after an error. */
static int take_fact(struct table_facts *f, const char *name, struct arena *a, struct diag *d)
{
    static const char word[] = "#dim ";
    int64_t size;
    f->said = true;
    if (strncmp(name, word, sizeof word - 1) != 0)
        return 0;
    char *dim = arena_strdup(a, name + sizeof word - 1, strlen(name) - (sizeof word - 1));
    char *eq = strrchr(dim, '=');
    if (!eq || eq == dim || !count_parse(eq + 1, &size))
        return diag_error(d, "%s: '%s': expected #dim NAME=N with N >= 0", f->path, name);
    *eq = 0;
    return add_size(f, dim, size, name, a, d);
}

/* Reads a row of CSV.  Finds the field whose text is `wanted` or, if wanted is NULL, field number `at`, and sets *field
 * to its text.  Returns the number of the field, from 0; or -1 with *field NULL: the row has no such field, or is not
 * well formed. */
static int row_field(char **s, const char *wanted, int at, const char **field)
{
    char *cell, stop = ',';
    int found = -1;
    *field = NULL;
    for (int i = 0; stop == ',' && i < COLUMNS; i++) {
        if (!csv_field(s, &cell, &stop))
            return -1;
        if (wanted ? strcmp(cell, wanted) == 0 : i == at) {
            found = i;
            *field = csv_plain(cell);
        }
    }
    return found;
}

/* Takes the facts of a table in CSV, the text s, which is overwritten.  Returns 0; -1 after an error. */
static int facts_of_csv(struct table_facts *f, char *s, struct arena *a, struct diag *d)
{
    const char *name;
    enum facts where = FACTS_BEFORE;
    s += strncmp(s, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0; /* a byte order mark */
    int column = row_field(&s, "name", 0, &name);
    if (column < 0)
        return 0;
    for (;;) {
        s += strspn(s, "\r\n"); /* empty lines are no rows */
        if (*s == 0 || row_field(&s, NULL, column, &name) != column)
            return 0;
        where = facts_next(where, name);
        if (where != FACTS_HERE)
            return 0;
        if (take_fact(f, name, a, d) != 0)
            return -1;
    }
}

/* Takes the facts of a file that pcc-profile has written: the object "dims".  Returns 0; -1 after an error. */
static int facts_of_object(struct table_facts *f, json_t *root, struct arena *a, struct diag *d)
{
    const char *name;
    json_t *v;
    f->said = true;
    json_object_foreach(json_object_get(root, "dims"), name, v)
    {
        int64_t size;
        if (!*name || !json_int_in(v, 0, INT64_MAX, &size))
            return diag_error(d, "%s: dims: '%s': expected a name and an integer >= 0", f->path,
                              name);
        if (add_size(f, arena_strdup(a, name, strlen(name)), size, "dims", a, d))
            return -1;
    }
    return 0;
}

/* Takes the facts of a table that is a JSON list of objects, or of a file that pcc-profile has written.  Returns 0; -1
 * after an error. */
static int facts_of_json(struct table_facts *f, const char *s, size_t n, struct arena *a,
                         struct diag *d)
{
    json_error_t e;
    struct arena *own = arena_new(a);
    json_t *list = json_read(own, s, n, &e);
    enum facts where = FACTS_BEFORE;
    int rc = json_object_get(list, MEASURED_KEY) ? facts_of_object(f, list, a, d) : 0;
    for (size_t i = 0; i < json_array_size(list) && !rc; i++) {
        const char *name = json_get_text(json_array_get(list, i), "name");
        if ((where = facts_next(where, name)) != FACTS_HERE)
            break;
        rc = take_fact(f, name, a, d);
    }
    arena_free(own);
    return rc;
}

int table_facts_read(struct table_facts *f, const char *text, struct arena *a, struct diag *d)
{
    struct diag quiet = diag_silent();
    const char *classes;
    size_t n = 0;
    struct arena *own = arena_new(a);
    *f = (struct table_facts){.path = table_path(text, &classes, a)};
    char *s = infile_read(f->path, INFILE_TABLE, own, &n, &quiet);
    int rc = 0;
    if (s && strlen(s) == n) {
        const char *first = s + strspn(s, " \t\r\n");
        bool json = *first == '[' || *first == '{';
        if (!json)
            rc = facts_of_csv(f, s, a, d);
        /* facts have MEASURED_KEY in them, in an object and in a list: a text without it is not parsed */
        else if (strstr(s, MEASURED_KEY))
            rc = facts_of_json(f, s, n, a, d);
    }
    arena_free(own);
    return rc;
}
