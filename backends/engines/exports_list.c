/* Puts the member "exports", and hashes of the parts' files, into the text of a manifest (exports_put, hashes_put).
 *
 * The rest of the text stays byte for byte, because its times are decimal numbers that binary floating point would
 * not hold exactly, and because adding files to a folder must not change the plan in it.  So the old member is cut
 * out of its object, and the new one is put at the object's end.  A scan of brackets and quotes finds where members
 * begin and end.  The text must be valid JSON: callers have parsed it before.  O(bytes). */
#include "backends/engines/engines.h"

#include "ir/base/json_in.h"
#include "ir/base/memory.h"

#include <ctype.h>
#include <string.h>

/* Returns the offset behind the string whose opening quote is at `at`. */
static size_t string_end(const char *t, size_t at)
{
    for (at++; t[at] != '"'; at++)
        at += t[at] == '\\';
    return at + 1;
}

/* Returns the offset of the comma or closing bracket behind the member or element that begins at `at`. */
static size_t member_end(const char *t, size_t at)
{
    for (uint32_t depth = 0;; at++) {
        bool closes = t[at] == '}' || t[at] == ']';
        if (t[at] == '"')
            at = string_end(t, at) - 1; /* the closing quote */
        else if (t[at] == '{' || t[at] == '[')
            depth++;
        else if (!depth && (t[at] == ',' || closes))
            return at;
        else if (closes)
            depth--;
    }
}

/* Returns the offset of the first byte from `at` on that is no white space. */
static size_t skip_blanks(const char *t, size_t at)
{
    while (isspace((unsigned char)t[at]))
        at++;
    return at;
}

/* Whether the key of the member that begins at t, with a quote, is in the list `keys`, which ends with NULL. */
static bool has_key(const char *t, const char *const *keys)
{
    size_t n = string_end(t, 0) - 2; /* characters between the quotes */
    for (; *keys; keys++)
        if (strlen(*keys) == n && strncmp(t + 1, *keys, n) == 0)
            return true;
    return false;
}

/* Returns, in a, the text of the object that begins at t, without its brackets and without the members whose keys
 * are in the list `without`, which NULL ends.  bytes: at least the length of the object. */
static const char *other_members(const char *t, size_t bytes, const char *const *without,
                                 struct arena *a)
{
    size_t at = 1, n = 0;
    char *kept = arena_alloc(a, bytes + 1);
    for (bool more = t[skip_blanks(t, at)] == '"'; more;) {
        size_t end = member_end(t, at);
        if (!has_key(t + skip_blanks(t, at), without)) {
            if (n)
                kept[n++] = ',';
            memcpy(kept + n, t + at, end - at);
            n += end - at;
        }
        more = t[end] == ',';
        at = end + 1;
    }
    while (n && isspace((unsigned char)kept[n - 1]))
        n--;
    kept[n] = '\0';
    return kept;
}

/* Whether one of rows[n] is about the engine with this name; false if engine is NULL. */
static bool has_engine(const struct export_row *rows, uint32_t n, const char *engine)
{
    bool found = false;
    for (uint32_t i = 0; engine && i < n && !found; i++)
        found = !strcmp(rows[i].engine, engine);
    return found;
}

/* Writes elements of the list "exports" to f: the rows of `old`, the list that the manifest had, except rows about an
 * engine of rows[n]; then rows[n]. */
static void put_rows(FILE *f, const json_t *old, const struct export_row *rows, uint32_t n)
{
    const char *before = "\n    ";
    size_t i;
    json_t *row;
    json_array_foreach(old, i, row)
    {
        if (has_engine(rows, n, json_get_text(row, "engine")))
            continue;
        fputs(before, f);
        json_dumpf(row, f, JSON_ENCODE_ANY);
        before = ",\n    ";
    }
    for (i = 0; i < n; i++) {
        fprintf(f, "%s%s", before, rows[i].json);
        before = ",\n    ";
    }
}

const char *exports_put(const char *text, const char *path, const struct export_row *rows,
                        uint32_t n, struct arena *a, struct diag *d)
{
    const json_t *root = json_read(a, text, strlen(text), NULL);
    static const char *const without[] = {"exports", NULL};
    const char *root_text = text + strcspn(text, "{");
    const char *rest = other_members(root_text, strlen(root_text), without, a);
    struct memory m;
    memory_begin(&m, a);
    if (m.f) {
        fprintf(m.f, "{%s%s\n  \"exports\": [", rest, *rest ? "," : "");
        put_rows(m.f, json_object_get(root, "exports"), rows, n);
        fputs("\n  ]\n}\n", m.f);
    }
    const char *made = memory_end(&m, /*ok=*/true, path, a, d);
    if (!made || json_read(a, made, strlen(made), NULL))
        return made;
    diag_error(d, "%s: \"exports\" cannot be added to it", path);
    return NULL;
}

/* Returns the offset of the value of a member of the object t, whose key is `key` (with its quotes); 0: the object has
 * no such member. */
static size_t find_value(const char *t, const char *key)
{
    for (size_t at = strcspn(t, "{") + 1;; at = member_end(t, at) + 1) {
        size_t name = skip_blanks(t, at);
        if (t[name] != '"')
            return 0;
        if (strncmp(t + name, key, strlen(key)) == 0) {
            size_t colon = skip_blanks(t, name + strlen(key));
            return skip_blanks(t, colon + 1);
        }
        if (t[member_end(t, at)] != ',')
            return 0;
    }
}

/* Returns the offset of the first element of the list "parts"; 0: the text has no such list. */
static size_t find_parts(const char *t)
{
    size_t list = find_value(t, "\"parts\"");
    return list && t[list] == '[' ? list + 1 : 0;
}

/* Returns the manifest `text`, in a, in which the object "weights" has the list `hashes` as its member "sha256";
 * hashes NULL: it has no such member.  Returns `text` itself if it has no object "weights". */
static const char *put_weights(const char *text, const char *hashes, struct arena *a)
{
    static const char *const without[] = {"sha256", NULL};
    size_t begin = find_value(text, "\"weights\"");
    if (!begin || text[begin] != '{')
        return text;
    size_t end = member_end(text, begin);
    return arena_fmt(a, "%.*s{%s%s%s}%s", (int)begin, text,
                     other_members(text + begin, end - begin, without, a),
                     hashes ? ", \"sha256\": " : "", hashes ? hashes : "", text + end);
}

const char *hashes_put(const char *text, const char *path, const struct part_hashes *of,
                       const char *weights, struct arena *a, struct diag *d)
{
    static const char *const without[] = {"sha256", "data_sha256", NULL};
    text = put_weights(text, weights, a);
    size_t at = find_parts(text), from = at;
    struct memory m;
    memory_begin(&m, a);
    if (m.f && fwrite(text, 1, at, m.f) != at)
        return memory_end(&m, /*ok=*/false, path, a, d);
    /* for each part: the blanks before its object, the object with the hashes, and the comma behind it */
    for (uint32_t k = 0; m.f && at > 0; k++) {
        size_t begin = skip_blanks(text, from), end = member_end(text, begin);
        fprintf(m.f, "%.*s{%s, \"sha256\": \"%s\"", (int)(begin - from), text + from,
                other_members(text + begin, end - begin, without, a), of[k].file);
        if (of[k].data)
            fprintf(m.f, ", \"data_sha256\": \"%s\"", of[k].data);
        fputs("}", m.f);
        from = end;
        if (text[end] != ',')
            break;
        fputs(",", m.f);
        from++;
    }
    if (m.f)
        fputs(text + from, m.f);
    const char *made = memory_end(&m, /*ok=*/true, path, a, d);
    if (!made || json_read(a, made, strlen(made), NULL))
        return made;
    diag_error(d, "%s: hashes cannot be added to it", path);
    return NULL;
}
