/* Replacing states of a manifest by their pieces (state_pieces.h).
 *
 * In a split whose states are in pieces, parts read and make the pieces, while the user of the split has whole
 * tensors.  After the replacement, readers that follow parts and lists see the pieces as inputs, outputs and states,
 * as in any other split; only the code that takes inputs and gives outputs knows the whole tensors.  The manifest may
 * hold anything: whatever does not have the expected form is an error.  O(rows + pieces), expected. */
#include "ir/plan/state_pieces.h"

#include <string.h>

/* The manifest while it is changed. */
struct piecing {
    json_t *manifest;
    /* objects: in has for the name of each state's input, out for the name of each state's output, the state's row of
     * sharding.states */
    json_t *in, *out;
    /* object: for the name of each piece of an output the file of the part that makes the piece; null: no part is known
     * yet */
    json_t *from;
    const char *path;
    struct arena *a;
    struct diag *d;
};

/* Returns j; if it is NULL, memory was short: reports that to the arena, which does not return. */
static json_t *need_made(const struct piecing *p, json_t *j)
{
    if (!j)
        arena_exhausted(p->a, 1);
    return j;
}

/* Sets the member `key` of o to v, whose reference it takes. */
static void set_member(const struct piecing *p, json_t *o, const char *key, json_t *v)
{
    if (json_object_set_new(o, key, need_made(p, v)))
        arena_exhausted(p->a, 1);
}

/* Adds v, whose reference it takes, to a list. */
static void append_entry(const struct piecing *p, json_t *list, json_t *v)
{
    if (json_array_append_new(list, need_made(p, v)))
        arena_exhausted(p->a, 1);
}

/* Reads sharding.states into p->in, p->out and p->from. ways: the member sharding.ways, the number of pieces. Returns
 * 0, or -1 and an error. */
static int read_states(struct piecing *p, json_t *states, json_t *ways)
{
    json_t *row, *piece;
    size_t i, k;
    int64_t run, axis, n;
    json_array_foreach(states, i, row)
    {
        json_t *pieces = json_object_get(row, "pieces");
        const char *in = json_get_text(row, "in"), *out = json_get_text(row, "out");
        bool good = in && out && json_int_in(json_object_get(row, "run"), 1, INT64_MAX, &run) &&
                    json_int_in(json_object_get(row, "axis"), 0, 63, &axis) &&
                    json_int_in(ways, 2, PIECES_MOST, &n) && json_is_array(pieces) &&
                    json_array_size(pieces) == (size_t)n;
        json_array_foreach(pieces, k, piece)
        {
            const char *name = json_get_text(piece, "out");
            good = good && name && json_get_text(piece, "in");
            if (name)
                set_member(p, p->from, name, json_null());
        }
        if (!good)
            return diag_error(p->d,
                              "%s: sharding: states: expected in each \"in\", \"out\", \"axis\", "
                              "\"run\", and \"pieces\", as many as \"ways\"",
                              p->path);
        set_member(p, p->in, in, json_incref(row));
        set_member(p, p->out, out, json_incref(row));
    }
    return 0;
}

/* Notes in p->from the file of the part that makes each piece of an output.  Returns 0; or -1 and an error, if such a
 * part has no file. */
static int find_makers(struct piecing *p)
{
    json_t *part, *name;
    size_t i, k;
    json_array_foreach(json_object_get(p->manifest, "parts"), i, part)
    {
        json_array_foreach(json_object_get(part, "outputs"), k, name)
        {
            const char *made = json_string_value(name), *file = json_get_text(part, "file");
            if (!made || !json_object_get(p->from, made))
                continue;
            if (!file)
                return diag_error(p->d, "%s: parts: expected \"file\" where '%s' is made", p->path,
                                  made);
            set_member(p, p->from, made, json_string(file));
        }
    }
    return 0;
}

/* Returns the row of "inputs" (input) or "outputs" (!input) for the piece of a state that is called `piece`, made from
 * `of`, the row of the whole state. Returns NULL after an error: the sizes are not those of a state in that many
 * pieces. */
static json_t *piece_row(const struct piecing *p, json_t *of, const char *piece,
                         const json_t *state, bool input)
{
    json_t *row = json_keep(p->a, need_made(p, json_copy(of))), *size, *shape;
    json_t *sizes = json_object_get(of, "sizes");
    int64_t ways = (int64_t)json_array_size(json_object_get(state, "pieces")), bytes, along = 0;
    size_t axis = (size_t)json_integer_value(json_object_get(state, "axis"));
    set_member(p, row, "name", json_string(piece));
    shape =
        json_object_get(json_object_get(json_object_get(p->manifest, "values"), piece), "shape");
    set_member(p, row, "shape", shape ? json_incref(shape) : json_null());
    if (json_int_in(json_object_get(of, "bytes"), 0, INT64_MAX, &bytes))
        set_member(p, row, "bytes", json_integer(bytes / ways));
    if (!input) {
        set_member(p, row, "from", json_incref(need_made(p, json_object_get(p->from, piece))));
        return row;
    }
    if (!json_is_array(sizes))
        return row;
    size = json_array_get(sizes, axis);
    bool known = json_is_integer(size); /* else a name, or null */
    if (!size || (known && (!json_int_in(size, 0, INT64_MAX, &along) || along % ways != 0))) {
        diag_error(p->d, "%s: inputs: '%s': expected sizes that \"axis\" and \"ways\" divide",
                   p->path, json_get_text(of, "name"));
        return NULL;
    }
    sizes = need_made(p, json_copy(sizes));
    set_member(p, row, "sizes", sizes);
    if (known && json_array_set_new(sizes, axis, need_made(p, json_integer(along / ways))))
        arena_exhausted(p->a, 1);
    return row;
}

/* Replaces each row of a state in the list `key` by rows of its pieces, and keeps the old list as member `key` of
 * `whole`.  Returns 0, or -1 and an error. */
static int replace_states(struct piecing *p, const char *key, json_t *whole)
{
    json_t *list = json_object_get(p->manifest, key), *to = json_keep(p->a, json_array());
    bool input = !strcmp(key, "inputs"), pairs = !strcmp(key, "states");
    json_t *row, *piece;
    size_t i, k;
    if (!json_is_array(list))
        return diag_error(p->d, "%s: expected a list \"%s\"", p->path, key);
    json_array_foreach(list, i, row)
    {
        const char *name = json_get_text(row, pairs ? "in" : "name");
        const json_t *state = name ? json_object_get(input || pairs ? p->in : p->out, name) : NULL;
        if (!state)
            append_entry(p, to, json_incref(row));
        json_array_foreach(json_object_get(state, "pieces"), k, piece)
        {
            json_t *one =
                pairs ? piece
                      : piece_row(p, row, json_get_text(piece, input ? "in" : "out"), state, input);
            if (!one)
                return -1;
            append_entry(p, to, json_incref(one));
        }
    }
    set_member(p, whole, key, json_incref(list));
    set_member(p, p->manifest, key, json_incref(to));
    return 0;
}

int state_pieces(json_t *manifest, const char *path, struct arena *a, struct diag *d)
{
    json_t *sharding = json_object_get(manifest, "sharding");
    json_t *states = json_object_get(sharding, "states");
    struct piecing p = {.manifest = manifest, .path = path, .a = a, .d = d};
    /* a file must not bring this member: only this function may add it */
    json_object_del(manifest, "whole");
    if (json_array_size(states) == 0)
        return 0;
    json_t *whole = json_keep(a, need_made(&p, json_object()));
    p.in = json_keep(a, need_made(&p, json_object()));
    p.out = json_keep(a, need_made(&p, json_object()));
    p.from = json_keep(a, need_made(&p, json_object()));
    if (read_states(&p, states, json_object_get(sharding, "ways")))
        return -1;
    if (find_makers(&p) || replace_states(&p, "inputs", whole) ||
        replace_states(&p, "outputs", whole) || replace_states(&p, "states", whole))
        return -1;
    set_member(&p, manifest, "whole", json_incref(whole));
    return 0;
}
