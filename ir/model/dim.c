/* Symbolic dimensions (dim.h).
 *
 * A dimension that is not a number is stored as the canonical text of a polynomial (dim_poly.h); arithmetic parses
 * the text (dim_parse.h), computes, and prints the result.  Arithmetic on numbers needs no text.  Text that is not an
 * expression counts as one name, which is stored in quotes.  Names are assumed to be at least 1, so (a*b)//a is b.
 * Results beyond the limits of dim_poly.h are unknown.
 * Cost: about a microsecond per operation on names. */
#include "ir/model/dim.h"
#include "ir/model/dim_parse.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* Returns a polynomial as a dimension; unknown if it is a negative number or its text is too long. */
static struct dim from_poly(struct module *m, const struct poly *q)
{
    char buf[POLY_TEXT];
    int64_t v;
    if (poly_is_const(q, &v))
        return dim_num(v);
    if (!poly_text(m, q, buf))
        return dim_unknown();
    return (struct dim){-1, str_id(m, buf)};
}

/* Writes a known dimension to *out as a polynomial. Returns false if the polynomial would exceed its limits. */
static bool to_poly(struct module *m, struct dim d, struct poly *out)
{
    assert(dim_known(d));
    if (d.sym == 0) {
        *out = poly_const(d.value);
        return true;
    }
    struct parser p = {.m = m};
    return dim_read(&p, module_str(m, d.sym), out) == PARSE_OK;
}

struct dim dim_num(int64_t v)
{
    return (struct dim){v < 0 ? -1 : v, 0};
}

struct dim dim_unknown(void)
{
    return (struct dim){-1, 0};
}

struct dim dim_parse(struct module *m, const char *text)
{
    struct poly q;
    char quoted[POLY_TEXT];
    if (*text == 0)
        return dim_unknown();
    if (dim_is_name(text))
        return (struct dim){-1, str_id(m, text)};
    struct parser p = {.m = m};
    enum parse_error e = dim_read(&p, text, &q);
    if (e == PARSE_OK)
        return from_poly(m, &q);
    if (e == PARSE_SYNTAX && dim_quote(text, quoted))
        return (struct dim){-1, str_id(m, quoted)};
    return dim_unknown();
}

bool dim_known(struct dim d)
{
    return d.value >= 0 || d.sym != 0;
}

bool dim_same(struct dim a, struct dim b)
{
    return dim_known(a) && a.sym == b.sym && (a.sym != 0 || a.value == b.value);
}

/* Returns a + scale * b, for known a and b. */
static struct dim add_scaled(struct module *m, struct dim a, struct dim b, int64_t scale)
{
    struct poly p, q;
    if (!to_poly(m, a, &p) || !to_poly(m, b, &q) || !poly_add(m, &p, &q, scale, &p))
        return dim_unknown();
    return from_poly(m, &p);
}

struct dim dim_add(struct module *m, struct dim a, struct dim b)
{
    int64_t v;
    if (!dim_known(a) || !dim_known(b))
        return dim_unknown();
    if (a.sym == 0 && b.sym == 0)
        return __builtin_add_overflow(a.value, b.value, &v) ? dim_unknown() : dim_num(v);
    if (b.sym == 0 && b.value == 0)
        return a;
    if (a.sym == 0 && a.value == 0)
        return b;
    return add_scaled(m, a, b, /*scale=*/1);
}

struct dim dim_sub(struct module *m, struct dim a, struct dim b)
{
    if (!dim_known(a) || !dim_known(b))
        return dim_unknown();
    if (a.sym == 0 && b.sym == 0)
        return dim_num(a.value - b.value);
    if (b.sym == 0 && b.value == 0)
        return a;
    if (dim_same(a, b))
        return dim_num(0);
    return add_scaled(m, a, b, /*scale=*/-1);
}

struct dim dim_mul(struct module *m, struct dim a, struct dim b)
{
    int64_t v;
    if (!dim_known(a) || !dim_known(b))
        return dim_unknown();
    if (a.sym == 0 && b.sym == 0)
        return __builtin_mul_overflow(a.value, b.value, &v) ? dim_unknown() : dim_num(v);
    if (b.sym == 0 && b.value == 1)
        return a;
    if (a.sym == 0 && a.value == 1)
        return b;
    struct poly p, q;
    if (!to_poly(m, a, &p) || !to_poly(m, b, &q) || !poly_mul(m, &p, &q, &p))
        return dim_unknown();
    return from_poly(m, &p);
}

struct dim dim_div(struct module *m, struct dim a, struct dim b)
{
    if (!dim_known(a) || !dim_known(b) || (b.sym == 0 && b.value == 0))
        return dim_unknown();
    if (a.sym == 0 && b.sym == 0)
        return dim_num(a.value / b.value);
    if (b.sym == 0 && b.value == 1)
        return a;
    if (dim_same(a, b))
        return dim_num(1);
    struct poly p, q;
    if (!to_poly(m, a, &p) || !to_poly(m, b, &q) || !poly_floor_div(m, &p, &q, &p))
        return dim_unknown();
    return from_poly(m, &p);
}

struct dim dim_min(struct module *m, struct dim a, struct dim b)
{
    struct poly p, q;
    if (!dim_known(a) || !dim_known(b))
        return dim_unknown();
    if (a.sym == 0 && b.sym == 0)
        return a.value < b.value ? a : b;
    if (dim_is_min_of(m, b, a)) /* Min(a, Min(a, c)) is Min(a, c) */
        return b;
    if (dim_is_min_of(m, a, b))
        return a;
    if (!to_poly(m, a, &p) || !to_poly(m, b, &q) || !poly_min_max(m, /*max=*/false, &p, &q, &p))
        return dim_unknown();
    return from_poly(m, &p);
}

/* Whether the text is a single Min(...), not a sum whose first term is a Min(...). */
static bool is_one_min(const char *text)
{
    int depth = 0; /* number of open parentheses */
    if (strncmp(text, "Min(", 4) != 0)
        return false;
    for (const char *s = text + 3; *s != 0; s++) {
        depth += (*s == '(') - (*s == ')');
        if (depth == 0)
            return s[1] == 0;
    }
    return false;
}

bool dim_is_min_of(const struct module *m, struct dim b, struct dim a)
{
    char number[24];
    if (!dim_known(a) || b.sym == 0 || !is_one_min(module_str(m, b.sym)))
        return false;
    snprintf(number, sizeof number, "%lld", (long long)a.value);
    const char *text = module_str(m, b.sym), *name = a.sym != 0 ? module_str(m, a.sym) : number;
    size_t n = strlen(name), all = strlen(text);
    if (all < n + strlen("Min(, )"))
        return false;
    bool first = strncmp(text + 4, name, n) == 0 && strncmp(text + 4 + n, ", ", 2) == 0;
    const char *last = text + all - 1 - n;
    return first || (strncmp(last, name, n) == 0 && strncmp(last - 2, ", ", 2) == 0);
}

bool dim_is_symbol(const struct module *m, struct dim d)
{
    const char *text = d.sym != 0 ? module_str(m, d.sym) : "";
    if (*text != '\'')
        return dim_is_name(text);
    /* goes to the closing quote; a quote inside the name is doubled */
    for (text++; *text != 0 && (*text != '\'' || text[1] == '\''); text++)
        if (*text == '\'')
            text++;
    return *text != 0 && text[1] == 0;
}

/* The names that dim_names() has passed to fn so far, so that it passes each name once.  An expression is shorter
 * than POLY_TEXT, so all its names fit into `seen`. */
struct name_sink {
    void (*fn)(void *user, const char *name);
    void *user;           /* first argument of fn */
    size_t used;          /* bytes of `seen` in use */
    char seen[POLY_TEXT]; /* names one after the other, each with its NUL */
};

/* A `lookup` function of the parser, for dim_names(): passes a name that is new to the fn of *user, a struct
 * name_sink.  Returns 1 as the value of the name, which is not used. */
static int64_t collect_name(void *user, const char *name)
{
    struct name_sink *k = user;
    size_t n = strlen(name) + 1;
    for (size_t at = 0; at < k->used; at += strlen(k->seen + at) + 1)
        if (strcmp(k->seen + at, name) == 0)
            return 1;
    if (n <= sizeof k->seen - k->used) {
        memcpy(k->seen + k->used, name, n);
        k->used += n;
    }
    k->fn(k->user, name);
    return 1;
}

void dim_names(const struct module *m, struct dim d, void (*fn)(void *user, const char *name),
               void *user)
{
    if (d.sym == 0)
        return;
    struct name_sink sink = {.fn = fn, .user = user};
    struct poly ignored;
    struct parser p = {.dry = true, .lookup = collect_name, .user = &sink};
    const char *text = module_str(m, d.sym);
    if (dim_is_name(text))
        fn(user, text);
    else
        dim_read(&p, text, &ignored);
}

int64_t dim_eval(const struct module *m, struct dim d,
                 int64_t (*lookup)(void *user, const char *name), void *user)
{
    if (d.sym == 0)
        return d.value;
    const char *text = module_str(m, d.sym);
    struct poly q;
    /* lookup() replaces names by numbers, so the parser adds no strings and needs no module */
    struct parser p = {.lookup = lookup, .user = user};
    if (dim_is_name(text)) {
        int64_t v = lookup(user, text);
        return v < 0 ? -1 : v;
    }
    int64_t v;
    if (dim_read(&p, text, &q) != PARSE_OK || !poly_is_const(&q, &v) || v < 0)
        return -1;
    return v;
}

struct dim dim_replace(struct module *m, struct dim d,
                       struct dim (*with)(void *user, const char *name), void *user)
{
    struct poly q;
    struct parser p = {.m = m, .replace = with, .user = user};
    if (d.sym == 0)
        return d;
    return dim_read(&p, module_str(m, d.sym), &q) == PARSE_OK ? from_poly(m, &q) : dim_unknown();
}

void dim_balance(struct module *m, struct dim *a, struct dim *b)
{
    struct poly p, q, side[2] = {{0}, {0}};
    if (!to_poly(m, *a, &p) || !to_poly(m, *b, &q) || !poly_add(m, &p, &q, -1, &p))
        return;
    /* p, which is a - b: its positive terms stay on the side of a, the others go to the side of b */
    for (uint32_t i = 0; i < p.n; i++) {
        struct poly term = {.n = 1, .t = {p.t[i]}};
        bool negative = p.t[i].coef < 0;
        if (!poly_add(m, &side[negative], &term, negative ? -1 : 1, &side[negative]))
            return;
    }
    struct dim left = from_poly(m, &side[0]), right = from_poly(m, &side[1]);
    if (dim_known(left) && dim_known(right)) {
        *a = left;
        *b = right;
    }
}

/* A name to look for, and whether dim_names() has passed it on. */
struct name_wanted {
    const char *name;
    bool found;
};

/* Function for dim_names(): sets `found` of *user, a struct name_wanted, if `name` is the wanted name. */
static void note_name(void *user, const char *name)
{
    struct name_wanted *w = user;
    w->found = w->found || strcmp(w->name, name) == 0;
}

bool dim_has_name(const struct module *m, struct dim d, const char *name)
{
    struct name_wanted w = {name, false};
    dim_names(m, d, note_name, &w);
    return w.found;
}

bool dim_solve(struct module *m, struct dim a, struct dim b, const char *name, struct dim *is)
{
    struct poly p, q;
    char quoted[POLY_TEXT];
    if (!to_poly(m, a, &p) || !to_poly(m, b, &q) || !poly_add(m, &p, &q, -1, &p) ||
        (!dim_is_name(name) && !dim_quote(name, quoted)) ||
        !poly_solve(m, &p, str_id(m, dim_is_name(name) ? name : quoted), &q))
        return false;
    *is = from_poly(m, &q);
    /* the name may still stand in the result, inside a division, say, where poly_solve() sees no term of its own */
    return dim_known(*is) && !dim_has_name(m, *is, name);
}

const char *dim_text(const struct module *m, struct dim d, struct arena *a)
{
    if (d.sym == 0)
        return d.value < 0 ? "?" : arena_fmt(a, "%lld", (long long)d.value);
    return module_str(m, d.sym);
}
