/* Groups of vertices that the user wants on one device (user_groups.h): layers by scope or profile, layers that
 * repeat, blocks from a file.  O(nodes), with blocks O(nodes * expressions). */
#include "passes/coarsen/user_groups.h"

#include "ir/base/infile.h"
#include "ir/base/json_in.h"
#include "ir/model/layers.h"
#include "ir/base/strings.h"
#include "passes/functions/patterns.h"

#include <string.h>

enum { KINDS_SHOWN = 4 }; /* the most kinds of repeated layers that a note lists */

void groups_by_layer(struct ctx *x, uint32_t *group)
{
    const struct wdag *g = x->levels.base;
    struct layers l = layers_find(x->scene.m, x->use.scratch);
    uint32_t outside = 0;
    for (uint32_t v = 0; v < g->n; v++) {
        group[v] = l.of[g->node[v]];
        outside += group[v] == 0;
    }
    if (l.n)
        diag_note(x->use.diag, "contract: %u layers, %u of %u placed nodes outside them", l.n,
                  outside, g->n);
    else
        diag_warning(x->use.diag, WARN_MISSING_LAYERS,
                     "contract: by=layer finds no layers: no node's name has a scope such as "
                     "'/h.3/', and neither metadata nor a profile give them");
}

void groups_by_repeat(struct ctx *x, uint32_t *group)
{
    const struct wdag *g = x->levels.base;
    struct layers l = layers_find(x->scene.m, x->use.scratch);
    struct repeat *r;
    uint32_t kinds = layers_repeats(x->scene.m, &l, x->use.scratch, &r), kept = 0, shown = 0;
    const char *each = ""; /* text of the note: "12 x 30 nodes, 2 x 7 nodes" */
    for (uint32_t k = 0; k < kinds; k++) {
        if (r[k].count < 2 || r[k].nodes < 2) /* a layer of one node is whole anyway */
            continue;
        kept += r[k].count;
        if (++shown <= KINDS_SHOWN)
            each = arena_fmt(x->use.scratch, "%s%s%u x %u nodes", each, *each ? ", " : "",
                             r[k].count, r[k].nodes);
    }
    for (uint32_t v = 0; v < g->n; v++) {
        uint32_t layer = l.of[g->node[v]];
        bool repeated = layer && r[l.kind[layer]].count > 1 && r[l.kind[layer]].nodes > 1;
        group[v] = repeated ? layer : 0;
    }
    if (kept)
        diag_note(x->use.diag, "contract: %u of %u layers repeat and stay whole: %s%s", kept, l.n,
                  each, shown > KINDS_SHOWN ? ", ..." : "");
    else
        diag_warning(
            x->use.diag, WARN_MISSING_LAYERS,
            "--keep-blocks: no repeated layers were found (%u layers by names such as "
            "'/h.3/attn/MatMul', metadata or a profile, none like another): nothing is kept together",
            l.n);
}

/* Adds the regular expressions of `line` to *p, all of them for block `number` of the file; cuts the line into
 * words.  Returns 0, or -1 after an error. */
static int add_line(struct ctx *x, struct patterns *p, char *line, const char *file,
                    uint32_t number)
{
    char *save = NULL, *where = arena_fmt(x->use.mem, "%s:%u", file, number);
    for (char *s = strtok_r(line, " \t\r", &save); s; s = strtok_r(NULL, " \t\r", &save))
        if (patterns_add(p, x->use.mem, s, number, where, x->use.diag))
            return -1;
    return 0;
}

/* Adds the blocks of a text file, one per line; a line that starts with '#' is skipped, but counted.  Cuts the text
 * into lines.  Returns 0, or -1 after an error. */
static int read_lines(struct ctx *x, struct patterns *p, char *text, const char *file)
{
    uint32_t number = 1;
    for (char *line = text, *end; *line; line = end, number++) {
        size_t n = strcspn(line, "\n");
        end = line + n + (line[n] == '\n');
        line[n] = 0;
        if (*line != '#' && add_line(x, p, line, file, number))
            return -1;
    }
    return 0;
}

/* Adds a block of a JSON file: a regular expression, or a list of them.  Returns 0, or -1 after an error. */
static int add_block(struct ctx *x, struct patterns *p, const json_t *block, const char *file,
                     uint32_t number)
{
    size_t n = json_is_array(block) ? json_array_size(block) : 1;
    for (size_t i = 0; i < n; i++) {
        const char *s = json_string_value(json_is_array(block) ? json_array_get(block, i) : block);
        if (!s)
            return diag_error(x->use.diag,
                              "%s: block %u: expected a regular expression or a list of them", file,
                              number);
        if (patterns_add(p, x->use.mem, arena_strdup(x->use.mem, s, strlen(s)), number, file,
                         x->use.diag))
            return -1;
    }
    return 0;
}

/* Adds the blocks of a JSON file, whose text has n bytes.  Returns 0, or -1 after an error. */
static int read_json(struct ctx *x, struct patterns *p, const char *text, size_t n,
                     const char *file)
{
    json_error_t e;
    struct arena *own = arena_new(x->use.scratch);
    json_t *root = json_read(own, text, n, &e);
    uint32_t number = 0;
    int rc = 0;
    if (!root) {
        rc = diag_error(x->use.diag, "%s:%d: %s", file, e.line, e.text);
    } else if (json_is_object(root)) {
        for (void *it = json_object_iter(root); it && !rc; it = json_object_iter_next(root, it))
            rc = add_block(x, p, json_object_iter_value(it), file, ++number);
    } else {
        rc = json_is_array(root) ? 0
                                 : diag_error(x->use.diag, "%s: expected a list of blocks", file);
        for (size_t i = 0; i < json_array_size(root) && !rc; i++)
            rc = add_block(x, p, json_array_get(root, i), file, ++number);
    }
    arena_free(own);
    return rc;
}

int groups_by_block(struct ctx *x, const char *file, uint32_t *group)
{
    const struct wdag *g = x->levels.base;
    struct patterns p = {0};
    size_t n;
    char *text = infile_read(file, INFILE_LIST, x->use.mem, &n, x->use.diag);
    if (!text)
        return -1;
    int rc =
        str_ends(file, ".json") ? read_json(x, &p, text, n, file) : read_lines(x, &p, text, file);
    struct pattern **hit = rc ? NULL : patterns_nodes(&p, x, x->use.scratch);
    for (uint32_t v = 0; v < g->n && !rc; v++)
        group[v] = hit[g->node[v]] ? hit[g->node[v]]->group : 0;
    if (!rc)
        patterns_warn_idle(&p, file, x->use.diag);
    patterns_free(&p);
    return rc;
}
