/* Symbolic dimensions.
 *
 * A dimension that is not a number is the canonical text of a polynomial (dim_poly.h); arithmetic
 * parses, computes and prints again.  Numbers never touch a string.  Exporters write the same quantity
 * in many spellings ("sequence + past", "((b*t)//b)", "floor(h/2 - 1/2) + 1"), so the reader accepts
 *     sum     := product (("+" | "-") product)*
 *     product := unary (("*" | "//" | "/" | "%") unary)*
 *     unary   := "-" unary | primary ["**" digits]
 *     primary := number | name | "'" any text "'" | "(" sum ")" | function "(" sum ("," sum)* ")"
 * with the functions floor, ceil, Min, Max, Mod, FloorDiv.  A plain "/" by a number makes fractions, which
 * floor() rounds down; at the end a fraction is taken as exact, as a dimension is an integer.  Text
 * of any other form is one opaque name, which is kept in quotes.  Names are taken as at least 1, so (a*b)//a is b.
 * Bounded: 64 levels of nesting, the bounds of dim_poly.h; beyond them a dimension is unknown.
 * Cost: about a microsecond per operation on names. */
#include "ir/dim.h"
#include "ir/dim_poly.h"

#include <stdio.h>
#include <string.h>

enum { DEPTH_LIMIT = 64 };

enum parse_error { PARSE_OK, PARSE_SYNTAX, PARSE_BOUNDS, PARSE_UNBOUND };

/* p / den; `open`: a quotient by a name that a floor() must close. */
struct ratio {
    struct poly p;
    int64_t den; /* > 0 */
    bool open;
};

struct parser {
    struct module *m;
    const char *s; /* next character */
    unsigned depth;
    enum parse_error error;
    bool dry; /* only look for names: no arithmetic */
    int64_t (*lookup)(void *user, const char *name);
    void *user;
};

static void parse_sum(struct parser *p, struct ratio *out);

static bool fail(struct parser *p, enum parse_error e)
{
    if (p->error == PARSE_OK)
        p->error = e;
    return false;
}

static void skip_space(struct parser *p)
{
    while (*p->s == ' ' || *p->s == '\t')
        p->s++;
}

static bool accept(struct parser *p, const char *token)
{
    skip_space(p);
    size_t n = strlen(token);
    if (strncmp(p->s, token, n) != 0)
        return false;
    p->s += n;
    return true;
}

static bool name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80) != 0;
}

static bool digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool name_part(char c)
{
    return name_start(c) || digit(c) || c == '.' || c == ':' || c == '$' || c == '@';
}

static bool is_name(const char *s)
{
    if (!name_start(*s))
        return false;
    while (name_part(*s))
        s++;
    return *s == 0;
}

static struct ratio integer(int64_t v)
{
    return (struct ratio){.p = poly_const(v), .den = 1};
}

/* Divides numerator and denominator by what all coefficients share. */
static void reduce(struct ratio *r)
{
    int64_t g = r->den;
    for (uint32_t i = 0; i < r->p.n; i++) {
        int64_t a = r->p.t[i].coef;
        while (a != 0) {
            int64_t rest = g % a;
            g = a;
            a = rest;
        }
    }
    g = g < 0 ? (g == INT64_MIN ? 1 : -g) : g;
    if (g <= 1)
        return;
    for (uint32_t i = 0; i < r->p.n; i++)
        r->p.t[i].coef /= g;
    r->den /= g;
}

/* The sum a + sign * b. */
static void ratio_add(struct parser *p, struct ratio *a, const struct ratio *b, int64_t sign)
{
    struct poly left, right, da = poly_const(a->den), db = poly_const(b->den);
    if (p->dry)
        return;
    if (a->open || b->open) {
        fail(p, PARSE_SYNTAX);
    } else if (a->den == 1 && b->den == 1) {
        if (!poly_add(p->m, &a->p, &b->p, sign, &a->p))
            fail(p, PARSE_BOUNDS);
    } else if (!poly_mul(p->m, &a->p, &db, &left) || !poly_mul(p->m, &b->p, &da, &right) ||
               !poly_add(p->m, &left, &right, sign, &a->p) ||
               __builtin_mul_overflow(a->den, b->den, &a->den)) {
        fail(p, PARSE_BOUNDS);
    } else {
        reduce(a);
    }
}

static void ratio_mul(struct parser *p, struct ratio *a, const struct ratio *b)
{
    if (p->dry)
        return;
    if (a->open || b->open)
        fail(p, PARSE_SYNTAX);
    else if (!poly_mul(p->m, &a->p, &b->p, &a->p) ||
             __builtin_mul_overflow(a->den, b->den, &a->den))
        fail(p, PARSE_BOUNDS);
    else
        reduce(a);
}

/* floor(a / b) */
static void ratio_floor_div(struct parser *p, struct ratio *a, const struct ratio *b)
{
    struct poly num, den, da = poly_const(a->den), db = poly_const(b->den);
    int64_t zero;
    if (p->dry)
        return;
    if (a->open || b->open || (poly_is_const(&b->p, &zero) && zero == 0))
        fail(p, PARSE_SYNTAX);
    else if (!poly_mul(p->m, &a->p, &db, &num) || !poly_mul(p->m, &b->p, &da, &den) ||
             !poly_floor_div(p->m, &num, &den, &a->p))
        fail(p, PARSE_BOUNDS);
    a->den = 1;
}

static void ratio_div(struct parser *p, struct ratio *a, const struct ratio *b)
{
    int64_t c;
    if (p->dry)
        return;
    if (!poly_is_const(&b->p, &c)) {
        struct poly q;
        if (!a->open && a->den == 1 && b->den == 1 && poly_div_exact(p->m, &a->p, &b->p, &q)) {
            a->p = q;
            return;
        }
        ratio_floor_div(p, a, b);
        a->open = true;
        return;
    }
    struct ratio inverse = {.p = poly_const(c < 0 ? -b->den : b->den), .den = c < 0 ? -c : c};
    if (c == 0 || c == INT64_MIN)
        fail(p, PARSE_SYNTAX);
    else
        ratio_mul(p, a, &inverse);
}

static void ratio_floor(struct parser *p, struct ratio *a)
{
    struct ratio one = integer(1);
    a->open = false;
    if (a->den != 1)
        ratio_floor_div(p, a, &one);
}

static void ratio_mod(struct parser *p, struct ratio *a, const struct ratio *b)
{
    struct ratio q = *a;
    ratio_floor_div(p, &q, b);
    ratio_mul(p, &q, b);
    ratio_add(p, a, &q, -1);
}

static void ratio_min_max(struct parser *p, bool max, struct ratio *a, const struct ratio *b)
{
    if (p->dry)
        return;
    if (a->open || b->open || a->den != 1 || b->den != 1)
        fail(p, PARSE_SYNTAX);
    else if (!poly_min_max(p->m, max, &a->p, &b->p, &a->p))
        fail(p, PARSE_BOUNDS);
}

/* "12" or "0.5": the latter as a fraction. */
static void parse_number(struct parser *p, struct ratio *out)
{
    int64_t v = 0, den = 1;
    bool fraction = false;
    for (; digit(*p->s) || (*p->s == '.' && !fraction); p->s++) {
        if (*p->s == '.') {
            fraction = true;
        } else if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *p->s - '0', &v) ||
                   (fraction && __builtin_mul_overflow(den, 10, &den))) {
            fail(p, PARSE_BOUNDS);
            return;
        }
    }
    if (name_part(*p->s)) {
        fail(p, PARSE_SYNTAX); /* "3d_points" */
        return;
    }
    *out = integer(v);
    out->den = den;
    reduce(out);
}

/* Appends name to out[POLY_TEXT] in single quotes, those inside it doubled; false if it is too long. */
static bool quote(const char *name, char *out)
{
    size_t at = 0;
    out[at++] = '\'';
    for (; *name != 0 && at + 4 < POLY_TEXT; name++) {
        if (*name == '\'')
            out[at++] = '\'';
        out[at++] = *name;
    }
    out[at++] = '\'';
    out[at] = 0;
    return *name == 0;
}

/* What a name stands for: its value if values are asked for, else itself. */
static void use_name(struct parser *p, const char *name, struct ratio *out)
{
    char quoted[POLY_TEXT];
    if (p->lookup != NULL) {
        int64_t v = p->lookup(p->user, name);
        *out = integer(p->dry ? 1 : v);
        if (v < 0 && !p->dry)
            fail(p, PARSE_UNBOUND);
    } else if (is_name(name)) {
        *out = (struct ratio){.p = poly_atom(str_id(p->m, name)), .den = 1};
    } else if (quote(name, quoted)) {
        *out = (struct ratio){.p = poly_atom(str_id(p->m, quoted)), .den = 1};
    } else {
        fail(p, PARSE_BOUNDS);
    }
}

/* A name in quotes; p->s is behind the opening one. */
static void parse_quoted(struct parser *p, struct ratio *out)
{
    char name[POLY_TEXT];
    size_t n = 0;
    while (*p->s != 0 && n + 1 < sizeof name && (*p->s != '\'' || p->s[1] == '\'')) {
        p->s += *p->s == '\'';
        name[n++] = *p->s++;
    }
    name[n] = 0;
    if (*p->s != '\'' || n == 0)
        fail(p, PARSE_SYNTAX);
    else
        use_name(p, name, out);
    p->s += *p->s == '\'';
}

static void apply(struct parser *p, const char *f, size_t n, struct ratio *arg, uint32_t narg)
{
    static const char *const name[] = {"floor", "ceil", "ceiling", "FloorDiv", "Mod",
                                       "Min",   "Max",  "min",     "max"};
    uint32_t k = 0;
    while (k < 9 && (strlen(name[k]) != n || strncmp(f, name[k], n) != 0))
        k++;
    struct ratio minus = integer(-1);
    if (k == 9 || (k < 3 && narg != 1) || (k >= 3 && narg != 2)) {
        fail(p, PARSE_SYNTAX);
    } else if (k == 0) {
        ratio_floor(p, arg);
    } else if (k < 3) {
        ratio_mul(p, arg, &minus);
        ratio_floor(p, arg);
        ratio_mul(p, arg, &minus);
    } else if (k == 3) {
        ratio_floor_div(p, arg, arg + 1);
    } else if (k == 4) {
        ratio_mod(p, arg, arg + 1);
    } else {
        ratio_min_max(p, name[k][1] == 'a', arg, arg + 1);
    }
}

/* The arguments after a function's "(". */
static void parse_call(struct parser *p, const char *f, size_t n, struct ratio *out)
{
    struct ratio arg[2];
    uint32_t narg = 0;
    bool fold = n == 3 && (f[0] == 'M' || f[0] == 'm') && (f[1] == 'i' || f[1] == 'a');
    do {
        if (narg == 2 && fold) { /* Min and Max of more than two: from the left */
            apply(p, f, n, arg, 2);
            narg = 1;
        }
        if (narg == 2) {
            fail(p, PARSE_SYNTAX);
            return;
        }
        arg[narg] = integer(0);
        parse_sum(p, &arg[narg++]);
    } while (p->error == PARSE_OK && accept(p, ","));
    if (p->error == PARSE_OK && !accept(p, ")"))
        fail(p, PARSE_SYNTAX);
    if (p->error == PARSE_OK)
        apply(p, f, n, arg, narg);
    *out = arg[0];
}

static void parse_primary(struct parser *p, struct ratio *out)
{
    skip_space(p);
    const char *start = p->s;
    if (accept(p, "(")) {
        parse_sum(p, out);
        if (p->error == PARSE_OK && !accept(p, ")"))
            fail(p, PARSE_SYNTAX);
    } else if (digit(*p->s)) {
        parse_number(p, out);
    } else if (*p->s == '\'') {
        p->s++;
        parse_quoted(p, out);
    } else if (name_start(*p->s)) {
        while (name_part(*p->s))
            p->s++;
        size_t n = (size_t)(p->s - start);
        if (*p->s == '(') {
            p->s++;
            parse_call(p, start, n, out);
        } else {
            char name[POLY_TEXT];
            int len = snprintf(name, sizeof name, "%.*s", n < sizeof name ? (int)n : 0, start);
            if (len <= 0)
                fail(p, PARSE_BOUNDS);
            else
                use_name(p, name, out);
        }
    } else {
        fail(p, PARSE_SYNTAX);
    }
}

static void parse_unary(struct parser *p, struct ratio *out)
{
    int64_t sign = 1;
    while (accept(p, "-"))
        sign = -sign;
    parse_primary(p, out);
    if (p->error == PARSE_OK && accept(p, "**")) {
        struct ratio base = *out;
        skip_space(p);
        int64_t power = digit(*p->s) && !digit(p->s[1]) ? *p->s++ - '0' : -1;
        *out = integer(1);
        if (power < 0)
            fail(p, PARSE_SYNTAX);
        for (int64_t i = 0; i < power && p->error == PARSE_OK; i++)
            ratio_mul(p, out, &base);
    }
    struct ratio minus = integer(-1);
    if (sign < 0 && p->error == PARSE_OK)
        ratio_mul(p, out, &minus);
}

static void parse_product(struct parser *p, struct ratio *out)
{
    parse_unary(p, out);
    while (p->error == PARSE_OK) {
        struct ratio b = integer(0);
        skip_space(p);
        char op = *p->s;
        if (op != '*' && op != '/' && op != '%')
            return;
        bool floor = op == '/' && p->s[1] == '/';
        p->s += floor ? 2 : 1;
        parse_unary(p, &b);
        if (p->error != PARSE_OK)
            return;
        if (op == '*')
            ratio_mul(p, out, &b);
        else if (op == '%')
            ratio_mod(p, out, &b);
        else if (floor)
            ratio_floor_div(p, out, &b);
        else
            ratio_div(p, out, &b);
    }
}

/* Recursion: through parentheses only, at most DEPTH_LIMIT deep. */
static void parse_sum(struct parser *p, struct ratio *out)
{
    if (++p->depth > DEPTH_LIMIT) {
        fail(p, PARSE_BOUNDS);
        return;
    }
    parse_product(p, out);
    while (p->error == PARSE_OK) {
        struct ratio b = integer(0);
        bool plus = accept(p, "+");
        if (!plus && !accept(p, "-"))
            break;
        parse_product(p, &b);
        if (p->error == PARSE_OK)
            ratio_add(p, out, &b, plus ? 1 : -1);
    }
    p->depth--;
}

/* All of text as a polynomial. */
static enum parse_error parse_all(struct parser *p, const char *text, struct poly *out)
{
    struct ratio r = integer(0);
    p->s = text;
    parse_sum(p, &r);
    skip_space(p);
    if (p->error == PARSE_OK && (*p->s != 0 || r.open))
        fail(p, PARSE_SYNTAX);
    if (p->error == PARSE_OK)
        ratio_floor(p, &r);
    *out = r.p;
    return p->error;
}

/* A polynomial as a dimension. */
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

/* A known dimension as a polynomial. */
static bool to_poly(struct module *m, struct dim d, struct poly *out)
{
    if (d.sym == 0) {
        *out = poly_const(d.value);
        return d.value >= 0;
    }
    struct parser p = {.m = m};
    return parse_all(&p, str(m, d.sym), out) == PARSE_OK;
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
    if (is_name(text))
        return (struct dim){-1, str_id(m, text)};
    struct parser p = {.m = m};
    enum parse_error e = parse_all(&p, text, &q);
    if (e == PARSE_OK)
        return from_poly(m, &q);
    if (e == PARSE_SYNTAX && quote(text, quoted))
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
    return add_scaled(m, a, b, 1);
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
    return add_scaled(m, a, b, -1);
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
    if (!to_poly(m, a, &p) || !to_poly(m, b, &q) || !poly_min_max(m, false, &p, &q, &p))
        return dim_unknown();
    return from_poly(m, &p);
}

bool dim_is_min_of(const struct module *m, struct dim b, struct dim a)
{
    if (a.sym == 0 || b.sym == 0)
        return false;
    const char *text = str(m, b.sym), *name = str(m, a.sym);
    size_t n = strlen(name), all = strlen(text);
    if (strncmp(text, "Min(", 4) != 0 || all < n + 7)
        return false;
    bool first = strncmp(text + 4, name, n) == 0 && strncmp(text + 4 + n, ", ", 2) == 0;
    const char *last = text + all - 1 - n;
    return first || (strncmp(last, name, n) == 0 && strncmp(last - 2, ", ", 2) == 0);
}

/* Passes each name on once.  An expression fits POLY_TEXT, hence so do its names. */
struct name_sink {
    void (*fn)(void *user, const char *name);
    void *user;
    size_t used;
    char seen[POLY_TEXT]; /* one after the other, each with its NUL */
};

static int64_t collect_name(void *user, const char *name)
{
    struct name_sink *k = user;
    size_t n = strlen(name) + 1;
    for (size_t at = 0; at < k->used; at += strlen(k->seen + at) + 1) {
        if (strcmp(k->seen + at, name) == 0)
            return 1;
    }
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
    const char *text = str(m, d.sym);
    if (is_name(text))
        fn(user, text);
    else
        parse_all(&p, text, &ignored);
}

int64_t dim_eval(const struct module *m, struct dim d,
                 int64_t (*lookup)(void *user, const char *name), void *user)
{
    if (d.sym == 0)
        return d.value;
    const char *text = str(m, d.sym);
    struct poly q;
    /* Names are numbers here, so nothing is interned and the module not needed. */
    struct parser p = {.lookup = lookup, .user = user};
    if (is_name(text)) {
        int64_t v = lookup(user, text);
        return v < 0 ? -1 : v;
    }
    int64_t v;
    if (parse_all(&p, text, &q) != PARSE_OK || !poly_is_const(&q, &v) || v < 0)
        return -1;
    return v;
}

const char *dim_text(const struct module *m, struct dim d, struct arena *a)
{
    if (d.sym == 0)
        return d.value < 0 ? "?" : arena_fmt(a, "%lld", (long long)d.value);
    return str(m, d.sym);
}
