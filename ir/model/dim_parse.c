/* Parses symbolic dimensions (dim_parse.h).
 *
 * Exporters write the same quantity in many spellings ("sequence + past", "((b*t)//b)", "floor(h/2 - 1/2) + 1"), so
 * the parser accepts
 *     sum     := product (("+" | "-") product)*
 *     product := unary (("*" | "//" | "/" | "%") unary)*
 *     unary   := "-" unary | primary ["**" digit]
 *     primary := number | name | "'" any text "'" | "(" sum ")" | function "(" sum ("," sum)* ")"
 * with the functions floor, ceil, Min, Max, Mod, FloorDiv.  "/" by a number makes a fraction, which floor() rounds
 * down; a fraction that is left at the end is rounded down, too: it is taken to be an integer, as dimensions are.
 * Recursive descent, with at most 64 nested sums; O(length) operations on polynomials. */
#include "ir/model/dim_parse.h"

#include <string.h>

enum { DEPTH_LIMIT = 64 }; /* largest number of nested sums */

/* An intermediate result: the fraction p / den. */
struct ratio {
    struct poly p;
    int64_t den; /* > 0 */
    /* p is the floor of a "/" by an expression with names: it is valid only if floor() is applied next */
    bool open;
};

static void parse_sum(struct parser *p, struct ratio *out);

/* Notes an error unless there was one before.  Returns false. */
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

/* Skips blanks, and the token if it comes next.  Returns whether the token was there. */
static bool accept(struct parser *p, const char *token)
{
    skip_space(p);
    size_t n = strlen(token);
    if (strncmp(p->s, token, n) != 0)
        return false;
    p->s += n;
    return true;
}

/* Whether a name may begin with c; bytes of characters beyond ASCII may. */
static bool name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80) != 0;
}

static bool digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Whether c may stand in a name behind its first character. */
static bool name_part(char c)
{
    return name_start(c) || digit(c) || c == '.' || c == ':' || c == '$' || c == '@';
}

bool dim_is_name(const char *s)
{
    if (!name_start(*s))
        return false;
    while (name_part(*s))
        s++;
    return *s == 0;
}

/* Returns the number v as a fraction. */
static struct ratio integer(int64_t v)
{
    return (struct ratio){.p = poly_const(v), .den = 1};
}

/* Divides numerator and denominator by their greatest common divisor. */
static void reduce_ratio(struct ratio *r)
{
    int64_t g = r->den; /* the greatest common divisor so far, perhaps with a minus sign */
    for (uint32_t i = 0; i < r->p.n; i++) {
        int64_t a = r->p.t[i].coef;
        while (a != 0) { /* Euclid's algorithm */
            int64_t rest = g % a;
            g = a;
            a = rest;
        }
    }
    g = g < 0 ? -g : g;
    if (g == 1)
        return;
    for (uint32_t i = 0; i < r->p.n; i++)
        r->p.t[i].coef /= g;
    r->den /= g;
}

/* Replaces a by a + sign * b. */
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
        reduce_ratio(a);
    }
}

/* Replaces a by a * b. */
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
        reduce_ratio(a);
}

/* Replaces a by floor(a / b). */
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

/* Replaces a by a / b.  If b has names and does not divide a without remainder, a becomes floor(a / b) and is marked
 * as open. */
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
    if (c == 0) {
        fail(p, PARSE_SYNTAX);
        return;
    }
    struct ratio inverse = {.p = poly_const(c < 0 ? -b->den : b->den), .den = c < 0 ? -c : c};
    ratio_mul(p, a, &inverse);
}

/* Replaces a by floor(a). */
static void ratio_floor(struct parser *p, struct ratio *a)
{
    struct ratio one = integer(1);
    a->open = false;
    if (a->den != 1)
        ratio_floor_div(p, a, &one);
}

/* Replaces a by a modulo b, which is a - floor(a / b) * b. */
static void ratio_mod(struct parser *p, struct ratio *a, const struct ratio *b)
{
    struct ratio q = *a;
    ratio_floor_div(p, &q, b);
    ratio_mul(p, &q, b);
    ratio_add(p, a, &q, /*sign=*/-1);
}

/* Replaces a by the larger of a and b if max is true, else by the smaller. */
static void ratio_min_max(struct parser *p, bool max, struct ratio *a, const struct ratio *b)
{
    if (p->dry)
        return;
    if (a->open || b->open || a->den != 1 || b->den != 1)
        fail(p, PARSE_SYNTAX);
    else if (!poly_min_max(p->m, max, &a->p, &b->p, &a->p))
        fail(p, PARSE_BOUNDS);
}

/* Parses "12", or "0.5" as a fraction. */
static void parse_number(struct parser *p, struct ratio *out)
{
    int64_t v = 0, den = 1;
    bool fraction = false;
    for (; digit(*p->s) || (*p->s == '.' && !fraction); p->s++) {
        if (*p->s == '.') {
            fraction = true;
        } else if (__builtin_mul_overflow(v, 10, &v) ||
                   __builtin_add_overflow(v, *p->s - '0', &v) ||
                   (fraction && __builtin_mul_overflow(den, 10, &den))) {
            fail(p, PARSE_BOUNDS);
            return;
        }
    }
    if (name_part(*p->s)) {
        fail(p, PARSE_SYNTAX); /* a name behind digits, such as "3d_points" */
        return;
    }
    *out = integer(v);
    out->den = den;
    reduce_ratio(out);
}

bool dim_quote(const char *name, char *out)
{
    /* doubles each quote in the name; 4: room for a doubled quote, the last quote and a NUL */
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

/* Writes to *out the polynomial of d, a dimension that p->replace gives in place of a name. */
static void use_dim(struct parser *p, struct dim d, struct ratio *out)
{
    struct parser q = {.m = p->m};
    *out = integer(d.value);
    if (d.sym != 0 && dim_read(&q, module_str(p->m, d.sym), &out->p) != PARSE_OK)
        fail(p, PARSE_BOUNDS);
}

/* Writes to *out the polynomial that a name stands for: the dimension that p->replace gives for it; if none, the number
 * that p->lookup gives; without p->lookup the name itself. */
static void use_name(struct parser *p, const char *name, struct ratio *out)
{
    char quoted[POLY_TEXT];
    struct dim other = p->replace != NULL ? p->replace(p->user, name) : (struct dim){-1, 0};
    if (other.value >= 0 || other.sym != 0) {
        use_dim(p, other, out);
    } else if (p->lookup != NULL) {
        int64_t v = p->lookup(p->user, name);
        *out = integer(v);
        if (v < 0)
            fail(p, PARSE_UNBOUND);
    } else if (dim_is_name(name)) {
        *out = (struct ratio){.p = poly_factor(str_id(p->m, name)), .den = 1};
    } else if (dim_quote(name, quoted)) {
        *out = (struct ratio){.p = poly_factor(str_id(p->m, quoted)), .den = 1};
    } else {
        fail(p, PARSE_BOUNDS);
    }
}

/* Parses a name in quotes; p->s is behind the opening quote. */
static void parse_quoted(struct parser *p, struct ratio *out)
{
    char name[POLY_TEXT];
    size_t n = 0;
    while (*p->s != 0 && n + 1 < sizeof name && (*p->s != '\'' || p->s[1] == '\'')) {
        if (*p->s == '\'') /* a quote inside the name is doubled */
            p->s++;
        name[n++] = *p->s++;
    }
    name[n] = 0;
    if (*p->s != '\'' || n == 0)
        fail(p, PARSE_SYNTAX);
    else
        use_name(p, name, out);
    if (*p->s == '\'')
        p->s++;
}

/* The functions of expressions; FUNCTION_NONE: a name of no function. */
enum dim_function {
    FUNCTION_NONE,
    FUNCTION_FLOOR,
    FUNCTION_CEIL,
    FUNCTION_FLOOR_DIV,
    FUNCTION_MOD,
    FUNCTION_MIN,
    FUNCTION_MAX
};

/* Returns the function with the name f[0 .. n). */
static enum dim_function function_of(const char *f, size_t n)
{
    static const struct {
        const char *name;
        enum dim_function function;
    } table[] = {{"floor", FUNCTION_FLOOR},  {"ceil", FUNCTION_CEIL},
                 {"ceiling", FUNCTION_CEIL}, {"FloorDiv", FUNCTION_FLOOR_DIV},
                 {"Mod", FUNCTION_MOD},      {"Min", FUNCTION_MIN},
                 {"min", FUNCTION_MIN},      {"Max", FUNCTION_MAX},
                 {"max", FUNCTION_MAX}};
    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
        if (strlen(table[k].name) == n && strncmp(f, table[k].name, n) == 0)
            return table[k].function;
    return FUNCTION_NONE;
}

/* Applies the function f to arg[0 .. narg) and leaves the result in arg[0]. Notes an error if f does not take narg
 * arguments. */
static void apply_function(struct parser *p, enum dim_function f, struct ratio *arg, uint32_t narg)
{
    struct ratio minus = integer(-1);
    if (f == FUNCTION_NONE || narg != (f == FUNCTION_FLOOR || f == FUNCTION_CEIL ? 1 : 2)) {
        fail(p, PARSE_SYNTAX);
    } else if (f == FUNCTION_FLOOR) {
        ratio_floor(p, arg);
    } else if (f == FUNCTION_CEIL) {
        /* ceil(x) is -floor(-x) */
        ratio_mul(p, arg, &minus);
        ratio_floor(p, arg);
        ratio_mul(p, arg, &minus);
    } else if (f == FUNCTION_FLOOR_DIV) {
        ratio_floor_div(p, arg, arg + 1);
    } else if (f == FUNCTION_MOD) {
        ratio_mod(p, arg, arg + 1);
    } else {
        ratio_min_max(p, /*max=*/f == FUNCTION_MAX, arg, arg + 1);
    }
}

/* Parses the arguments of the function f, behind its "(", and applies the function to them. */
static void parse_call(struct parser *p, enum dim_function f, struct ratio *out)
{
    struct ratio arg[2];
    uint32_t narg = 0;
    do {
        /* Min and Max of more than two arguments are applied from the left */
        if (narg == 2 && (f == FUNCTION_MIN || f == FUNCTION_MAX)) {
            apply_function(p, f, arg, 2);
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
        apply_function(p, f, arg, narg);
    *out = arg[0];
}

/* Parses a number, a name, an expression in parentheses, or a call of a function. */
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
            parse_call(p, function_of(start, n), out);
        } else if (n < POLY_TEXT) {
            char name[POLY_TEXT];
            memcpy(name, start, n);
            name[n] = 0;
            use_name(p, name, out);
        } else {
            fail(p, PARSE_BOUNDS);
        }
    } else {
        fail(p, PARSE_SYNTAX);
    }
}

/* Parses a primary with any signs before it and an optional exponent of one digit behind it. */
static void parse_unary(struct parser *p, struct ratio *out)
{
    int64_t sign = 1;
    while (accept(p, "-"))
        sign = -sign;
    parse_primary(p, out);
    if (p->error == PARSE_OK && accept(p, "**")) {
        struct ratio base = *out;
        skip_space(p);
        *out = integer(1);
        if (!digit(*p->s) || digit(p->s[1])) {
            fail(p, PARSE_SYNTAX);
            return;
        }
        int power = *p->s++ - '0';
        for (int i = 0; i < power && p->error == PARSE_OK; i++)
            ratio_mul(p, out, &base);
    }
    struct ratio minus = integer(-1);
    if (sign < 0 && p->error == PARSE_OK)
        ratio_mul(p, out, &minus);
}

/* Parses unaries joined by *, /, // and %. */
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

/* Parses a sum.  Recursion goes through parentheses and arguments only, at most DEPTH_LIMIT deep. */
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

enum parse_error dim_read(struct parser *p, const char *text, struct poly *out)
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
