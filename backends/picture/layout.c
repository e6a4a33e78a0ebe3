/* Reads dot's layout from JSON (layout.h): boxes and frames by name, arrows by id.  O(length of the file). */
#include "backends/picture/layout.h"

#include "ir/base/infile.h"
#include "ir/base/json_in.h"
#include "ir/base/numbers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INCH = 72 }; /* points */

/* Returns the number in a text member of a JSON object; 0: there is none. */
static double number_of(const json_t *object, const char *key)
{
    const char *text = json_get_text(object, key);
    return text ? strtod(text, NULL) : 0;
}

/* Reads n numbers with ',' between them from the beginning of the text to v[n].  Returns false if the text is NULL or
 * does not begin with so many numbers. */
static bool read_numbers(const char *text, double *v, int n)
{
    char *end;
    for (int i = 0; text && i < n; i++, text = end + 1) {
        v[i] = strtod(text, &end);
        if (end == text || (i + 1 < n && *end != ','))
            return false;
    }
    return text != NULL;
}

/* Sets the place of the box, frame or arrow with this name or id to `spot`. */
static void add_spot(struct layout *l, const char *name, struct spot spot, struct arena *a)
{
    uint32_t id = strings_id(l->name, name, strlen(name));
    l->spot = vec_grow(a, l->spot, &l->cap, id + 1, sizeof *l->spot);
    l->spot[id] = spot;
    l->n = larger_u32(id + 1, l->n);
}

/* Notes the place of a frame or box that dot describes by a JSON object: of a frame its corners ("bb"), of a box
 * its middle ("pos") and its size in inches.  An object without a place is left out. */
static void read_object(struct layout *l, const json_t *object, struct arena *a)
{
    const char *name = json_get_text(object, "name");
    double v[4];
    if (name && read_numbers(json_get_text(object, "bb"), v, 4))
        add_spot(
            l, name,
            (struct spot){(v[0] + v[2]) / 2, (v[1] + v[3]) / 2, v[2] - v[0], v[3] - v[1], NULL}, a);
    else if (name && read_numbers(json_get_text(object, "pos"), v, 2))
        add_spot(l, name,
                 (struct spot){v[0], v[1], INCH * number_of(object, "width"),
                               INCH * number_of(object, "height"), NULL},
                 a);
}

int layout_read(const char *path, struct layout *l, struct arena *a, struct diag *d)
{
    size_t n;
    char *text = infile_read(path, INFILE_PLAN, a, &n, d);
    const json_t *root = text ? json_keep(a, json_loadb(text, n, 0, NULL)) : NULL;
    *l = (struct layout){.name = strings_new(a)};
    if (!root)
        return text ? diag_error(d, "%s: expected JSON of dot", path) : -1;
    const json_t *objects = json_object_get(root, "objects"),
                 *edges = json_object_get(root, "edges");
    for (size_t i = 0; i < json_array_size(objects); i++)
        read_object(l, json_array_get(objects, i), a);
    for (size_t i = 0; i < json_array_size(edges); i++) {
        const json_t *x = json_array_get(edges, i);
        const char *id = json_get_text(x, "id");
        const char *pos = json_get_text(x, "pos");
        if (id && pos)
            add_spot(l, id, (struct spot){.curve = arena_strdup(a, pos, strlen(pos))}, a);
    }
    return 0;
}

const struct spot *layout_find(const struct layout *l, const char *name)
{
    uint32_t id = strings_id(l->name, name, strlen(name));
    return id < l->n && (l->spot[id].curve || l->spot[id].high > 0) ? &l->spot[id] : NULL;
}

const char *layout_move_curve(const char *curve, double x, double y, struct arena *a)
{
    enum { POINT = 64 }; /* bytes that a point, "x,y", may take */
    /* a number of the curve may become longer, but hardly eight times as long */
    size_t room = 8 * strlen(curve) + POINT, k = 0;
    char *out = arena_alloc(a, room), *end;
    for (const char *at = curve; *at && room - k > POINT;) {
        double v = strtod(at, &end);
        if (*at == ' ' || end == at || *end != ',') {
            /* no point "x,y": a blank, or the mark "e," that DOT puts before the point of an arrow's tip */
            out[k++] = *at++;
            continue;
        }
        double w = strtod(end + 1, &end);
        k += (size_t)snprintf(out + k, room - k, "%.2f,%.2f", v + x, w + y);
        at = end;
    }
    return out;
}
