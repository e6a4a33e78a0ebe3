/* Options in words and back (options.h).  O(length of the text). */
#include "ir/base/options.h"

#include "ir/base/units.h"

#include <assert.h>
#include <string.h>

static bool parse_quantity(enum opt_kind kind, const char *s, int64_t *v)
{
    switch (kind) {
    case OPT_BYTES:
        return bytes_parse(s, v);
    case OPT_TIME:
        return time_parse(s, v);
    default:
        return count_parse(s, v);
    }
}

static bool in_range(const struct opt *o, int64_t v)
{
    int64_t lo, hi;
    return (!o->lo || (parse_quantity(o->kind, o->lo, &lo) && v >= lo)) &&
           (!o->hi || (parse_quantity(o->kind, o->hi, &hi) && v <= hi));
}

/* "svg,png", "none": a bit for each name. */
static bool set_parse(const char *const *names, const char *text, int64_t *bits)
{
    *bits = 0;
    for (const char *s = strcmp(text, "none") ? text : NULL; s;) {
        size_t n = strcspn(s, ",");
        int k = 0;
        while (names[k] && (strlen(names[k]) != n || memcmp(names[k], s, n) != 0))
            k++;
        if (!names[k])
            return false;
        *bits |= INT64_C(1) << k;
        s = s[n] ? s + n + 1 : NULL;
    }
    return true;
}

static const char *set_text(const char *const *names, int64_t bits, struct arena *a)
{
    const char *s = NULL;
    for (int k = 0; names[k]; k++)
        if (bits & INT64_C(1) << k)
            s = arena_fmt(a, "%s%s%s", s ? s : "", s ? "," : "", names[k]);
    return s ? s : "none";
}

bool opt_set(const struct opt *o, void *opts, const char *text)
{
    void *field = (char *)opts + o->off;
    int64_t v = 0;
    switch (o->kind) {
    case OPT_TEXT:
        *(const char **)field = text;
        return true;
    case OPT_BOOL:
        *(bool *)field = strcmp(text, "true") == 0;
        return strcmp(text, "true") == 0 || strcmp(text, "false") == 0;
    case OPT_CHOICE:
        for (; o->names[v]; v++)
            if (strcmp(o->names[v], text) == 0) {
                *(int64_t *)field = v;
                return true;
            }
        return false;
    case OPT_SET:
        return set_parse(o->names, text, field);
    default:
        if (o->names && strcmp(o->names[0], text) == 0) {
            *(int64_t *)field = 0;
            return true;
        }
        if (!parse_quantity(o->kind, text, &v) || !in_range(o, v))
            return false;
        *(int64_t *)field = v;
        return true;
    }
}

void opts_reset(const struct opt *table, void *opts)
{
    for (const struct opt *o = table; o && o->name; o++) {
        bool fits = opt_set(o, opts, o->def);
        assert(fits);
        (void)fits;
    }
}

const char *opt_get(const struct opt *o, const void *opts, struct arena *a)
{
    const void *field = (const char *)opts + o->off;
    char buf[UNIT_TEXT];
    switch (o->kind) {
    case OPT_TEXT:
        return *(const char *const *)field;
    case OPT_BOOL:
        return *(const bool *)field ? "true" : "false";
    case OPT_CHOICE:
        return o->names[*(const int64_t *)field];
    case OPT_SET:
        return set_text(o->names, *(const int64_t *)field, a);
    case OPT_BYTES:
        return arena_fmt(a, "%s", bytes_print(buf, *(const int64_t *)field));
    case OPT_TIME:
        return arena_fmt(a, "%s", time_print(buf, *(const int64_t *)field));
    default:
        if (o->names && *(const int64_t *)field == 0)
            return o->names[0];
        return arena_fmt(a, "%lld", (long long)*(const int64_t *)field);
    }
}

const char *opt_wants(const struct opt *o, struct arena *a)
{
    static const char *const what[] = {
        "an integer", "true or false", "a size such as 8GiB", "a time such as 10us",
        "a text",     "one of",        "none or some of"};
    assert(o->names || (o->kind != OPT_CHOICE && o->kind != OPT_SET));
    char *s = arena_fmt(a, "%s%s", o->names && o->kind == OPT_INT ? "auto or " : "", what[o->kind]);
    if (o->kind == OPT_CHOICE || o->kind == OPT_SET)
        for (uint32_t i = 0; o->names[i]; i++)
            s = arena_fmt(a, "%s %s", s, o->names[i]);
    if (o->lo && o->hi)
        s = arena_fmt(a, "%s in %s..%s", s, o->lo, o->hi);
    return s;
}

const char *opt_names(const struct opt *o, const char *sep, const char *last, struct arena *a)
{
    assert(o->names && o->names[0]);
    const char *s = o->names[0];
    for (uint32_t i = 1; o->names[i]; i++)
        s = arena_fmt(a, "%s%s%s", s, o->names[i + 1] ? sep : last, o->names[i]);
    return s;
}
