/* Sets other sizes for a split (resize.h): the library reads the whole model and infers its shapes. */
#include "tools/run/resize.h"

#include "ir/base/json_in.h"
#include "ir/base/units.h"
#include "tools/lib/pcc.h"

#include <string.h>

/* Passes on errors and warnings of the library, except warnings about guessed sizes: these sizes come from the
 * manifest. */
static void pass_on(void *user, enum pcc_level level, const char *name, const char *line)
{
    if (level == PCC_ERROR)
        diag_error(user, "%s", line);
    else if (level == PCC_WARNING && strcmp(name, "guessed-dim") != 0)
        diag_note(user, "%s [-W%s]", line, name);
}

/* arena_defer(): frees a handle. */
static void free_handle(void *p)
{
    pcc_free(p);
}

struct pcc *library_handle(struct arena *a)
{
    struct pcc *p = pcc_new();
    if (!p)
        arena_exhausted(a, 1);
    arena_defer(a, free_handle, p);
    return p;
}

bool split_names_dim(const struct split *s, const char *dim)
{
    size_t i, k;
    json_t *row, *size;
    if (strchr(dim, ','))
        return false;
    if (!strpbrk(dim, "+-*/%(' "))
        return true;
    /* a name that is no word stands in quotes in a shape, an expression stands there as it is */
    json_array_foreach((json_t *)(uintptr_t)split_list(s, "inputs"), i, row)
    {
        json_array_foreach(json_object_get(row, "shape"), k, size)
        {
            if (json_is_string(size) && !strcmp(json_string_value(size), dim))
                return false;
        }
    }
    return true;
}

struct pcc *split_model(const struct split *s, const char *path, const char *const *dim,
                        uint32_t ndim, struct arena *a, struct diag *d)
{
    const char *name;
    json_t *size;
    struct pcc *p = library_handle(a);
    pcc_listen(p, &(struct pcc_listener){.user = d, .message = pass_on});
    enum pcc_status rc = pcc_set(p, "devices", "1xcpu");
    /* only the engine, which runs the model, needs to check links */
    if (!rc)
        rc = pcc_set(p, "allow-links", "");
    json_object_foreach(json_object_get(s->manifest, "dims"), name, size)
    {
        const char *text = arena_fmt(a, "%s=%lld", name, (long long)json_integer_value(size));
        if (split_names_dim(s, name) && !rc)
            rc = pcc_set(p, "dim", text);
    }
    for (uint32_t i = 0; i < ndim && !rc; i++)
        rc = pcc_set(p, "dim", dim[i]);
    return rc || pcc_open(p, path) || pcc_plan(p, "cost") ? NULL : p;
}

/* Returns what pcc --emit=sizes says of the model in the folder, as JSON in a.  dim[ndim]: sizes, each NAME=N, in place
 * of the manifest's.  Returns NULL after an error. */
static json_t *ask_sizes(const struct split *s, const char *const *dim, uint32_t ndim,
                         struct arena *a, struct diag *d)
{
    const char *file = json_get_text(json_object_get(s->manifest, "model"), "file");
    if (!file || strchr(file, '/')) {
        diag_error(d, "%s/manifest.json: expected \"model\" with a \"file\" of the folder",
                   s->folder);
        return NULL;
    }
    struct pcc *p = split_model(s, arena_fmt(a, "%s/%s", s->folder, file), dim, ndim, a, d);
    const char *text = p ? pcc_text(p, "sizes") : NULL;
    return text ? json_read(a, text, strlen(text), NULL) : NULL;
}

/* Sets the sizes of the whole inputs that parts have in pieces: along the axis that is cut, the size of a piece times
 * the number of pieces; else the size of a piece.  NULL if the sizes of the pieces are not known. */
static void resize_whole(struct split *s, struct arena *a)
{
    for (uint32_t k = 0; k < s->ncut; k++) {
        const struct split_value *piece = &s->value[*s->cut[k].piece];
        struct split_value *whole = &s->value[s->cut[k].whole];
        int64_t *size = arena_array(a, (size_t)piece->rank + 1, sizeof *size);
        whole->size = NULL;
        if (!piece->size || s->cut[k].axis >= piece->rank)
            continue;
        memcpy(size, piece->size, piece->rank * sizeof *size);
        size[s->cut[k].axis] = sat_mul(size[s->cut[k].axis], s->cut[k].ways);
        whole->size = size;
        whole->rank = piece->rank;
    }
}

int split_resize(struct split *s, const char *const *dim, uint32_t ndim, struct arena *a,
                 struct diag *d)
{
    json_t *said = ask_sizes(s, dim, ndim, a, d), *row;
    size_t i;
    if (!said)
        return -1;
    s->dims = json_object_get(said, "dims");
    json_array_foreach(json_object_get(said, "inputs"), i, row)
    {
        const char *name = json_get_text(row, "name");
        for (uint32_t k = 0; k < s->ninput && name; k++)
            if (!strcmp(s->value[s->input[k]].name, name))
                split_take_sizes(&s->value[s->input[k]], json_object_get(row, "sizes"), a);
    }
    resize_whole(s, a);
    for (uint32_t v = 0; v < s->nvalue; v++) /* the bytes were those at the planned sizes */
        s->value[v].bytes = -1;
    for (uint32_t k = 0; k < s->npart; k++)
        s->part[k].live_bytes = s->part[k].compute_ps = -1;
    return 0;
}
