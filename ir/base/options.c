/* Converts values of options from text to fields of structs, and back (options.h).  O(length of the text). */
#include "ir/base/options.h"

#include "ir/base/units.h"

#include <assert.h>
#include <string.h>

/* Parses s as a quantity of the kind and writes it to *v, in the unit of enum opt_kind.  Returns false if s is no
 * such quantity. */
static bool parse_quantity(enum opt_kind kind, const char *s, int64_t *v)
{
    switch (kind) {
    case OPT_BYTES:
        return bytes_parse(s, v);
    case OPT_TIME:
        return time_parse(strcmp(s, "0") == 0 ? "0s" : s, v);
    case OPT_RATE:
        return rate_parse(s, v);
    case OPT_SHARE:
        return share_parse(s, v);
    default:
        return count_parse(s, v);
    }
}

/* Whether v is within the bounds of o. */
static bool in_range(const struct opt *o, int64_t v)
{
    int64_t lo, hi;
    return (!o->lo || (parse_quantity(o->kind, o->lo, &lo) && v >= lo)) &&
           (!o->hi || (parse_quantity(o->kind, o->hi, &hi) && v <= hi));
}

/* Parses a set such as "svg,png" or "none": sets bit k of *bits for each names[k] in the text.  Returns false if a name
 * is unknown. */
static bool set_parse(const char *const *names, const char *text, int64_t *bits)
{
    *bits = 0;
    if (strcmp(text, "none") == 0)
        return true;
    for (const char *s = text; s;) {
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

/* Returns the text of a set of names: the opposite of set_parse(). */
static const char *set_text(const char *const *names, int64_t bits, struct arena *a)
{
    const char *s = NULL;
    for (int k = 0; names[k]; k++)
        if (bits & INT64_C(1) << k)
            s = arena_fmt(a, "%s%s%s", s ? s : "", s ? "," : "", names[k]);
    return s ? s : "none";
}

int64_t opt_number(const struct opt *o, const void *opts)
{
    const void *field = (const char *)opts + o->off;
    assert(o->kind != OPT_TEXT);
    if (o->kind == OPT_BOOL || o->bytes == 1)
        return *(const bool *)field;
    return o->bytes == 4 ? (int64_t)*(const uint32_t *)field : *(const int64_t *)field;
}

void opt_put(const struct opt *o, void *opts, int64_t v)
{
    void *field = (char *)opts + o->off;
    assert(o->kind != OPT_TEXT);
    if (o->kind == OPT_BOOL || o->bytes == 1)
        *(bool *)field = v != 0;
    else if (o->bytes == 4)
        *(uint32_t *)field = (uint32_t)v;
    else
        *(int64_t *)field = v;
}

/* Returns the index of text among names; -1: text is none of the names. */
static int find_name(const char *const *names, const char *text)
{
    for (int k = 0; names && names[k]; k++)
        if (*text && strcmp(names[k], text) == 0)
            return k;
    return -1;
}

/* Returns the number of o's names. */
static uint32_t count_names(const struct opt *o)
{
    uint32_t n = 0;
    while (o->names && o->names[n])
        n++;
    return n;
}

bool opt_has(const struct opt *o, int64_t v)
{
    if (o->kind == OPT_CHOICE)
        return v >= 0 && v < count_names(o) && *o->names[v];
    return (v <= 0 && -v < count_names(o)) || in_range(o, v);
}

bool opt_set(const struct opt *o, void *opts, const char *text)
{
    int64_t v = 0;
    int word = o->kind == OPT_CHOICE || o->kind == OPT_INT ? find_name(o->names, text) : -1;
    switch (o->kind) {
    case OPT_TEXT:
        *(const char **)(void *)((char *)opts + o->off) = text;
        return true;
    case OPT_BOOL:
        opt_put(o, opts, strcmp(text, "true") == 0);
        return strcmp(text, "true") == 0 || strcmp(text, "false") == 0;
    case OPT_SET:
        return set_parse(o->names, text, (int64_t *)(void *)((char *)opts + o->off));
    default:
        if (word >= 0) /* a name of an integer option, names[word], is kept as -word */
            v = o->kind == OPT_INT ? -word : word;
        else if (o->kind == OPT_CHOICE || !parse_quantity(o->kind, text, &v) || !in_range(o, v))
            return false;
        opt_put(o, opts, v);
        return true;
    }
}

bool opt_fits(const struct opt *o, const char *text)
{
    struct opt alone = *o;
    union {
        int64_t number;
        const char *text;
    } field;
    alone.off = 0;
    return opt_set(&alone, &field, text);
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
    int64_t v = o->kind == OPT_TEXT ? 0 : opt_number(o, opts);
    char buf[UNIT_TEXT];
    switch (o->kind) {
    case OPT_TEXT:
        return *(const char *const *)(const void *)((const char *)opts + o->off);
    case OPT_BOOL:
        return v ? "true" : "false";
    case OPT_CHOICE:
        return o->names[v];
    case OPT_SET:
        return set_text(o->names, v, a);
    case OPT_BYTES:
        return arena_fmt(a, "%s", bytes_print(buf, v));
    case OPT_TIME:
        return arena_fmt(a, "%s", time_print(buf, v));
    case OPT_RATE:
        return arena_fmt(a, "%s", rate_print(buf, v));
    case OPT_SHARE:
        return arena_fmt(a, "%lld.%06lld", (long long)v / 1000000, (long long)v % 1000000);
    default:
        if (v <= 0 && -v < count_names(o))
            return o->names[-v];
        return arena_fmt(a, "%lld", (long long)v);
    }
}

const char *opt_wants(const struct opt *o, struct arena *a)
{
    static const char *const what[] = {
        "an integer", "true or false",   "a size such as 8GiB",   "a time such as 10us",   "a text",
        "one of",     "none or some of", "a rate such as 25GB/s", "a share in 0.000001..1"};
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
    uint32_t first = *o->names[0] ? 0 : 1;
    const char *s = o->names[first];
    for (uint32_t i = first + 1; o->names[i]; i++)
        s = arena_fmt(a, "%s%s%s", s, o->names[i + 1] ? sep : last, o->names[i]);
    return s;
}

const char *opt_expected(const struct opt *o, struct arena *a)
{
    /* only options of passes and writers have a default */
    if (o->def && o->kind != OPT_CHOICE && o->kind != OPT_SET)
        return opt_wants(o, a);
    switch (o->kind) {
    case OPT_CHOICE:
        return opt_names(o, ", ", " or ", a);
    case OPT_SET:
        return arena_fmt(a, "some of %s, or none", opt_names(o, ",", ",", a));
    case OPT_INT:
        if (o->names)
            return arena_fmt(a, "%s or a number >= %s", opt_names(o, ", ", ", ", a), o->lo);
        return o->hi ? arena_fmt(a, "a number from %s to %s", o->lo, o->hi)
                     : arena_fmt(a, "a number >= %s", o->lo);
    case OPT_BYTES:
        return arena_fmt(a, "a size such as %s", o->like);
    case OPT_RATE:
        return arena_fmt(a, "a rate such as %s", o->like);
    case OPT_TIME:
        return o->hi ? arena_fmt(a, "a time in %s..%s, such as %s", o->lo, o->hi, o->like)
                     : arena_fmt(a, "a time such as %s", o->like);
    default:
        return opt_wants(o, a);
    }
}

/* Returns, in a, the name followed by `suffix` (which may be empty), with each '-' replaced by '_'. */
static char *underscored(const char *name, const char *suffix, struct arena *a)
{
    char *key = arena_fmt(a, "%s%s", name, suffix);
    for (char *c = key; *c; c++)
        if (*c == '-')
            *c = '_';
    return key;
}

const char *opt_key(const struct opt *o, struct arena *a)
{
    return o->key ? o->key : underscored(o->name, "", a);
}

const char *opt_json(const struct opt *o, struct arena *a)
{
    return underscored(o->name, o->kind == OPT_BYTES ? "_bytes" : "", a);
}
