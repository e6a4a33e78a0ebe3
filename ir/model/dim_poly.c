/* Polynomials with integer coefficients (dim_poly.h): sums, products, exact and floor division.
 *
 * The form of a polynomial is canonical: terms are sorted by the text of their factors.  In a floor division by a
 * number the coefficients of the numerator lie in [0, divisor), since multiples of the divisor are moved out of the
 * division, and share no factor with the divisor.  Equal polynomials therefore print alike.  Two spellings of a
 * nested floor division may still print differently; that is safe, since they then count as different dimensions.
 * Limits: 16 terms of degree 8.  Cost: O(terms^2 * degree) string comparisons per operation. */
#include "ir/model/dim_poly.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

struct poly poly_const(int64_t v)
{
    struct poly p = {0};
    if (v != 0) {
        p.n = 1;
        p.t[0].coef = v;
    }
    return p;
}

struct poly poly_factor(sid factor)
{
    assert(factor != 0);
    struct poly p = {.n = 1};
    p.t[0] = (struct poly_term){.coef = 1, .n = 1, .factor = {factor}};
    return p;
}

bool poly_is_const(const struct poly *p, int64_t *v)
{
    if (p->n > 1 || (p->n == 1 && p->t[0].n != 0))
        return false;
    *v = p->n == 0 ? 0 : p->t[0].coef;
    return true;
}

/* Compares two factors by their text: negative, 0 or positive as with strcmp(). */
static int compare_factors(const struct module *m, sid a, sid b)
{
    assert(a == b || m);
    return a == b ? 0 : strcmp(module_str(m, a), module_str(m, b));
}

/* Compares two terms factor by factor: negative, 0 or positive if a comes before, equals, or comes after b.  A term
 * comes before its prefixes (a*b before a), so the constant is last. */
static int compare_terms(const struct module *m, const struct poly_term *a,
                         const struct poly_term *b)
{
    uint32_t n = smaller_u32(a->n, b->n);
    for (uint32_t i = 0; i < n; i++) {
        int c = compare_factors(m, a->factor[i], b->factor[i]);
        if (c != 0)
            return c;
    }
    return a->n == b->n ? 0 : a->n > b->n ? -1 : 1;
}

/* Adds a term to p and keeps the terms sorted.  Returns false if p would exceed the limits or get a coefficient
 * INT64_MIN, which has no negative. */
static bool add_term(const struct module *m, struct poly *p, const struct poly_term *t)
{
    assert(p->n <= POLY_TERMS && t->n <= POLY_DEGREE);
    if (t->coef == 0)
        return true;
    uint32_t i = 0; /* the position for t: that of the first term which does not come before t */
    while (i < p->n && compare_terms(m, &p->t[i], t) < 0)
        i++;
    if (i < p->n && compare_terms(m, &p->t[i], t) == 0) {
        if (__builtin_add_overflow(p->t[i].coef, t->coef, &p->t[i].coef) ||
            p->t[i].coef == INT64_MIN)
            return false;
        if (p->t[i].coef == 0) {
            memmove(&p->t[i], &p->t[i + 1], (p->n - i - 1) * sizeof p->t[0]);
            p->n--;
        }
        return true;
    }
    if (p->n == POLY_TERMS || t->coef == INT64_MIN)
        return false;
    memmove(&p->t[i + 1], &p->t[i], (p->n - i) * sizeof p->t[0]);
    p->t[i] = *t;
    p->n++;
    return true;
}

bool poly_add(const struct module *m, const struct poly *a, const struct poly *b, int64_t scale_b,
              struct poly *out)
{
    struct poly r = *a;
    for (uint32_t i = 0; i < b->n; i++) {
        struct poly_term t = b->t[i];
        if (__builtin_mul_overflow(t.coef, scale_b, &t.coef) || !add_term(m, &r, &t))
            return false;
    }
    *out = r;
    return true;
}

/* Writes the product of two terms to *out. Returns false if the product would exceed the limits. */
static bool mul_terms(const struct module *m, const struct poly_term *a, const struct poly_term *b,
                      struct poly_term *out)
{
    struct poly_term t = {0};
    if (a->n + b->n > POLY_DEGREE || __builtin_mul_overflow(a->coef, b->coef, &t.coef))
        return false;
    uint32_t i = 0, j = 0;
    while (i < a->n || j < b->n) {
        bool left = j == b->n || (i < a->n && compare_factors(m, a->factor[i], b->factor[j]) <= 0);
        t.factor[t.n++] = left ? a->factor[i++] : b->factor[j++];
    }
    *out = t;
    return true;
}

bool poly_mul(const struct module *m, const struct poly *a, const struct poly *b, struct poly *out)
{
    struct poly r = {0};
    for (uint32_t i = 0; i < a->n; i++) {
        for (uint32_t j = 0; j < b->n; j++) {
            struct poly_term t;
            if (!mul_terms(m, &a->t[i], &b->t[j], &t) || !add_term(m, &r, &t))
                return false;
        }
    }
    *out = r;
    return true;
}

/* Writes the quotient of two terms to *out.  Returns false if there is a remainder. */
static bool div_terms(const struct poly_term *a, const struct poly_term *b, struct poly_term *out)
{
    assert(b->coef != 0);
    /* INT64_MIN / -1 overflows */
    if (b->coef == -1 ? a->coef == INT64_MIN : a->coef % b->coef != 0)
        return false;
    struct poly_term t = {.coef = a->coef / b->coef};
    uint32_t j = 0;
    for (uint32_t i = 0; i < a->n; i++)
        if (j < b->n && a->factor[i] == b->factor[j])
            j++;
        else
            t.factor[t.n++] = a->factor[i];
    *out = t;
    return j == b->n;
}

bool poly_div_exact(const struct module *m, const struct poly *a, const struct poly *b,
                    struct poly *out)
{
    struct poly rest = *a, q = {0};
    if (b->n == 0)
        return false;
    /* long division by the first terms; a quotient that does not end has too many terms, so the rounds are limited */
    for (int round = 0; rest.n > 0; round++) {
        struct poly one = {.n = 1}, part;
        if (round == 2 * POLY_TERMS || !div_terms(&rest.t[0], &b->t[0], &one.t[0]))
            return false;
        if (!add_term(m, &q, &one.t[0]) || !poly_mul(m, &one, b, &part) ||
            !poly_add(m, &rest, &part, /*scale_b=*/-1, &rest))
            return false;
    }
    *out = q;
    return true;
}

/* Returns the greatest common divisor of a > 0 and b >= 0. */
static int64_t gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

/* Returns floor(a / b), for b > 0. */
static int64_t floor_div(int64_t a, int64_t b)
{
    assert(b > 0);
    return a / b - (a % b < 0);
}

/* Returns a - b * floor(a / b), which is in [0, b), for b > 0. */
static int64_t floor_rest(int64_t a, int64_t b)
{
    assert(b > 0);
    int64_t rest = a % b;
    return rest < 0 ? rest + b : rest;
}

/* Removes factor f once from term t.  Returns false if t does not have it. */
static bool drop_factor(struct poly_term *t, sid f)
{
    uint32_t i = 0;
    while (i < t->n && t->factor[i] != f)
        i++;
    if (i == t->n)
        return false;
    memmove(&t->factor[i], &t->factor[i + 1], (t->n - i - 1) * sizeof t->factor[0]);
    t->n--;
    return true;
}

/* Divides p by the factors and the number that all its terms share. */
static void divide_out(struct poly *p)
{
    int64_t shared = 0;
    for (uint32_t i = 0; i < p->n; i++)
        shared = gcd(p->t[i].coef < 0 ? -p->t[i].coef : p->t[i].coef, shared);
    for (uint32_t i = 0; i < p->n; i++)
        p->t[i].coef /= shared;
    for (uint32_t k = p->n > 0 ? p->t[0].n : 0; k-- > 0;) {
        sid f = p->t[0].factor[k];
        struct poly less = *p;
        bool all = true;
        for (uint32_t i = 0; i < p->n && all; i++)
            all = drop_factor(&less.t[i], f);
        if (all)
            *p = less;
    }
}

bool poly_solve(const struct module *m, const struct poly *p, sid factor, struct poly *out)
{
    struct poly rest = *p, zero = poly_const(0);
    uint32_t at = 0;
    divide_out(&rest);
    while (at < rest.n && (rest.t[at].n != 1 || rest.t[at].factor[0] != factor))
        at++;
    if (at == rest.n || (rest.t[at].coef != 1 && rest.t[at].coef != -1))
        return false;
    /* the polynomial is coef * factor + rest with a coef of 1 or -1, so it is 0 if factor = -coef * rest */
    int64_t sign = -rest.t[at].coef;
    memmove(&rest.t[at], &rest.t[at + 1], (rest.n - at - 1) * sizeof rest.t[0]);
    rest.n--;
    return poly_add(m, &zero, &rest, sign, out);
}

/* Splits p into b * front + rest, with the coefficients of rest in [0, b), so that floor(p / b) = front + floor(rest /
 * b).  Returns false if a limit of polynomials is exceeded. */
static bool take_out(const struct module *m, const struct poly *p, int64_t b, struct poly *front,
                     struct poly *rest)
{
    *front = (struct poly){0};
    *rest = (struct poly){0};
    for (uint32_t i = 0; i < p->n; i++) {
        struct poly_term q = p->t[i], r = p->t[i];
        q.coef = floor_div(p->t[i].coef, b);
        r.coef = floor_rest(p->t[i].coef, b);
        if (!add_term(m, front, &q) || !add_term(m, rest, &r))
            return false;
    }
    return true;
}

/* Divides the divisor *b and the terms of the numerator that have factors by the greatest common divisor of *b and
 * their coefficients; divides the constant term by it, too, and rounds down.  That does not change floor(num / b). */
static void cancel_factor(struct poly *num, int64_t *b)
{
    assert(*b > 0);
    int64_t g = *b;
    for (uint32_t i = 0; i < num->n; i++)
        if (num->t[i].n > 0)
            g = gcd(g, num->t[i].coef);
    for (uint32_t i = 0; i < num->n; i++)
        num->t[i].coef = floor_div(num->t[i].coef, g);
    *b /= g;
    /* the constant term, which is the last one, may be 0 now */
    if (num->n > 0 && num->t[num->n - 1].coef == 0)
        num->n--;
}

/* Prints p into buf[POLY_TEXT] as an operand of "//": in parentheses unless p is a single factor or a number. Returns
 * false if the text does not fit. */
static bool factor_text(const struct module *m, const struct poly *p, char *buf)
{
    /* p is 0, a factor, or a number > 0 */
    bool single = p->n == 0 || (p->n == 1 && ((p->t[0].n == 1 && p->t[0].coef == 1) ||
                                              (p->t[0].n == 0 && p->t[0].coef >= 0)));
    char inner[POLY_TEXT];
    if (!poly_text(m, p, inner))
        return false;
    int n = snprintf(buf, POLY_TEXT, single ? "%s" : "(%s)", inner);
    return n > 0 && n < POLY_TEXT;
}

/* Writes to *out the single factor "(a//b)", without simplifying it.  Returns false if its text is too long, or if m is
 * NULL and so cannot keep the text. */
static bool make_floor_factor(struct module *m, const struct poly *a, const struct poly *b,
                              struct poly *out)
{
    char num[POLY_TEXT], den[POLY_TEXT], all[POLY_TEXT];
    if (m == NULL || !factor_text(m, a, num) || !factor_text(m, b, den))
        return false;
    int n = snprintf(all, sizeof all, "(%s//%s)", num, den);
    if (n < 0 || n >= POLY_TEXT)
        return false;
    *out = poly_factor(str_id(m, all));
    return true;
}

bool poly_floor_div(struct module *m, const struct poly *a, const struct poly *b, struct poly *out)
{
    int64_t d;
    if (b->n == 0)
        return false;
    if (!poly_is_const(b, &d))
        return poly_div_exact(m, a, b, out) || make_floor_factor(m, a, b, out);
    struct poly num = *a, front, rest;
    if (d < 0) { /* floor(a / d) is floor(-a / -d) */
        struct poly zero = {0};
        if (d == INT64_MIN || !poly_add(m, &zero, a, /*scale_b=*/-1, &num))
            return false;
        d = -d;
    }
    if (!take_out(m, &num, d, &front, &rest))
        return false;
    int64_t c;
    if (!poly_is_const(&rest, &c)) { /* if the rest is a constant in [0, d), its quotient is 0 */
        cancel_factor(&rest, &d);
        struct poly den = poly_const(d), factor;
        if (!make_floor_factor(m, &rest, &den, &factor) ||
            !poly_add(m, &front, &factor, /*scale_b=*/1, &front))
            return false;
    }
    *out = front;
    return true;
}

bool poly_min_max(struct module *m, bool max, const struct poly *a, const struct poly *b,
                  struct poly *out)
{
    struct poly diff;
    int64_t c;
    if (poly_add(m, a, b, /*scale_b=*/-1, &diff) && poly_is_const(&diff, &c)) {
        bool a_is_larger = c >= 0;
        *out = a_is_larger == max ? *a : *b;
        return true;
    }
    char ta[POLY_TEXT], tb[POLY_TEXT], all[POLY_TEXT];
    if (m == NULL || !poly_text(m, a, ta) || !poly_text(m, b, tb))
        return false;
    bool swap = strcmp(ta, tb) > 0;
    int n = snprintf(all, sizeof all, "%s(%s, %s)", max ? "Max" : "Min", swap ? tb : ta,
                     swap ? ta : tb);
    if (n < 0 || n >= POLY_TEXT)
        return false;
    *out = poly_factor(str_id(m, all));
    return true;
}

bool poly_text(const struct module *m, const struct poly *p, char *buf)
{
    size_t at = 0;
    if (p->n == 0)
        memcpy(buf, "0", 2);
    for (uint32_t i = 0; i < p->n; i++) {
        const struct poly_term *t = &p->t[i];
        const char *sign = t->coef < 0 ? (i == 0 ? "-" : " - ") : (i == 0 ? "" : " + ");
        uint64_t size = t->coef < 0 ? 0 - (uint64_t)t->coef : (uint64_t)t->coef;
        char coef[24] = "";
        /* a coefficient of 1 is left out where factors follow */
        if (size != 1 || t->n == 0)
            snprintf(coef, sizeof coef, "%llu%s", (unsigned long long)size, t->n > 0 ? "*" : "");
        int n = snprintf(buf + at, POLY_TEXT - at, "%s%s", sign, coef);
        at += n >= 0 ? (size_t)n : POLY_TEXT;
        for (uint32_t k = 0; k < t->n && at < POLY_TEXT; k++) {
            n = snprintf(buf + at, POLY_TEXT - at, "%s%s", k > 0 ? "*" : "",
                         module_str(m, t->factor[k]));
            at += n >= 0 ? (size_t)n : POLY_TEXT;
        }
        if (at >= POLY_TEXT)
            return false;
    }
    return true;
}
