/* Parses and prints quantities with units exactly, and computes with them without overflow (units.h).
 *
 * A number is parsed as mantissa * 10^-decimals, without trailing zeros of the fraction.  The mantissa is at most
 * 10^25, so that its product with the size of any unit fits in 128 bits; the product must be a multiple of
 * 10^decimals, or parsing fails.  Printing uses integer division only.  O(length of the text). */
#include "ir/base/units.h"

#include <stdio.h>
#include <string.h>

__extension__ typedef unsigned __int128 u128;

/* A unit, or a prefix such as "k". */
struct unit {
    const char *name;
    int64_t size; /* in base units: ps, bytes, or 1 for counts */
};

#define KIB INT64_C(1024)
#define MIB (KIB * KIB)
#define GIB (KIB * MIB)
#define TIB (KIB * GIB)

static const struct unit times[] = {{"ps", 1},          {"ns", 1000},    {"us", 1000000},
                                    {"ms", 1000000000}, {"s", PS_PER_S}, {NULL, 0}};
static const struct unit sizes[] = {
    {"", 1},      {"B", 1},     {"KiB", KIB},    {"MiB", MIB},       {"GiB", GIB},
    {"TiB", TIB}, {"K", KIB},   {"M", MIB},      {"G", GIB},         {"T", TIB},
    {"kB", 1000}, {"KB", 1000}, {"MB", 1000000}, {"GB", 1000000000}, {"TB", INT64_C(1000000000000)},
    {NULL, 0}};
static const struct unit counts[] = {{"", 1},           {"k", 1000},
                                     {"K", 1000},       {"M", 1000000},
                                     {"G", 1000000000}, {"T", INT64_C(1000000000000)},
                                     {NULL, 0}};

/* The number mantissa * 10^-decimals. */
struct decimal {
    u128 mantissa; /* <= 10^25 */
    int decimals;  /* 0 .. 25; trailing zeros of the fraction are dropped */
};

/* Whether c is a decimal digit. */
static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Parses the number at the beginning of s: "12", "12.5" or ".5", but not "12.".  Returns the rest of s after it; NULL:
 * s begins with no number, or with too large or too precise a number. */
static const char *decimal_parse(const char *s, struct decimal *d)
{
    static const u128 most = (u128)10000000000000 * 1000000000000; /* 10^25 */
    /* zeros of the fraction that are not in the mantissa yet: they count if another digit follows */
    int zeros = 0;
    bool any = false;

    d->mantissa = 0;
    d->decimals = 0;
    for (; is_digit(*s); s++, any = true) {
        d->mantissa = d->mantissa * 10 + (unsigned)(*s - '0');
        if (d->mantissa > most)
            return NULL;
    }
    if (*s != '.')
        return any ? s : NULL;
    if (!is_digit(*++s))
        return NULL;
    for (; is_digit(*s); s++) {
        /* with more than 25 zeros before it, a digit fails below, so counting to 32 suffices */
        if (*s == '0') {
            if (zeros < 32)
                zeros++;
            continue;
        }
        /* appends the zeros before the digit, and a zero in the digit's place */
        for (zeros++; zeros > 0; zeros--) {
            d->mantissa *= 10;
            if (d->mantissa > most || ++d->decimals > 25)
                return NULL;
        }
        d->mantissa += (unsigned)(*s - '0');
    }
    return s;
}

/* Parses s[0 .. n), a number followed by the name of one of the units, and writes the quantity in base units to *out.
 * Returns false if the text is something else, or not a whole number of base units below 2^63. */
static bool quantity_parse(const char *s, size_t n, const struct unit *units, int64_t *out)
{
    struct decimal d;
    const char *end = s + n, *p = decimal_parse(s, &d);

    if (p == NULL || p > end)
        return false;
    size_t rest = (size_t)(end - p);
    while (units->name != NULL &&
           (strlen(units->name) != rest || memcmp(units->name, p, rest) != 0))
        units++;
    if (units->name == NULL)
        return false;
    u128 product = d.mantissa, ten = 1;
    product *= (uint64_t)units->size;
    for (int i = 0; i < d.decimals; i++)
        ten *= 10;
    if (product % ten != 0 || product / ten > (u128)INT64_MAX)
        return false;
    *out = (int64_t)(product / ten);
    return true;
}

bool time_parse(const char *s, int64_t *ps)
{
    return quantity_parse(s, strlen(s), times, ps);
}

bool bytes_parse(const char *s, int64_t *b)
{
    return quantity_parse(s, strlen(s), sizes, b);
}

bool rate_parse(const char *s, int64_t *bps)
{
    size_t n = strlen(s);

    return n > 2 && strcmp(s + n - 2, "/s") == 0 && quantity_parse(s, n - 2, sizes, bps);
}

bool count_parse(const char *s, int64_t *n)
{
    return quantity_parse(s, strlen(s), counts, n);
}

bool share_parse(const char *s, int64_t *millionths)
{
    static const struct unit shares[] = {{"", 1000000}, {"%", 10000}, {NULL, 0}};

    return quantity_parse(s, strlen(s), shares, millionths) && *millionths >= 1 &&
           *millionths <= 1000000;
}

/* Returns the absolute value of v. */
static uint64_t absolute(int64_t v)
{
    return v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
}

/* Prints a number with a unit, such as "-12.050us", into buf[UNIT_TEXT] and returns buf.  part: the fraction as a
 * number of `decimals` digits; decimals == 0: no fraction. */
static char *fixed_print(char *buf, bool negative, uint64_t whole, uint64_t part, int decimals,
                         const char *unit)
{
    /* room for two numbers of 20 digits; what is printed fits UNIT_TEXT bytes, too */
    char text[80];

    if (decimals > 0) {
        snprintf(text, sizeof text, "%s%llu.%0*llu%s", negative ? "-" : "",
                 (unsigned long long)whole, decimals, (unsigned long long)part, unit);
    } else {
        snprintf(text, sizeof text, "%s%llu%s", negative ? "-" : "", (unsigned long long)whole,
                 unit);
    }
    size_t n = strlen(text) < UNIT_TEXT ? strlen(text) : UNIT_TEXT - 1;
    memcpy(buf, text, n);
    buf[n] = '\0';
    return buf;
}

char *time_print(char *buf, int64_t ps)
{
    uint64_t v = absolute(ps);
    int u = 0;

    while (times[u + 1].name && v >= (uint64_t)times[u + 1].size)
        u++;
    uint64_t whole = v / (uint64_t)times[u].size, part = v % (uint64_t)times[u].size;
    int decimals = 3 * u; /* unit u is 1000^u ps */
    while (decimals > 0 && part % 10 == 0) {
        part /= 10;
        decimals--;
    }
    return fixed_print(buf, ps < 0, whole, part, decimals, times[u].name);
}

char *bytes_print(char *buf, int64_t b)
{
    static const struct unit exact[] = {{"GiB", GIB}, {"MiB", MIB}, {"KiB", KIB}, {"B", 1}};
    int u = 0;

    while (u < 3 && (b == 0 || b % exact[u].size != 0))
        u++;
    snprintf(buf, UNIT_TEXT, "%lld%s", (long long)(b / exact[u].size), exact[u].name);
    return buf;
}

char *rate_print(char *buf, int64_t bps)
{
    static const char *const unit[] = {"", "k", "M", "G", "T"};
    int u = 0;

    for (; u < 4 && bps != 0 && bps % 1000 == 0; u++)
        bps /= 1000;
    snprintf(buf, UNIT_TEXT, "%lld%sB/s", (long long)bps, unit[u]);
    return buf;
}

/* Prints the value to buf and returns buf: in the largest of the n units in which the value is at least 1, with four
 * digits, rounded half up; in the smallest unit with all digits.  units: ascending, units[0].size is 1. */
static char *print_short(char *buf, int64_t value, const struct unit *units, int n)
{
    uint64_t v = absolute(value);
    int u = 0;

    while (u + 1 < n && v >= (uint64_t)units[u + 1].size)
        u++;
    for (; u > 0; u++) {
        u128 size = (u128)units[u].size;
        uint64_t scale = 1000, scaled; /* the rounded value is scaled / scale units */
        int decimals = 3;
        for (;; scale /= 10, decimals--) {
            scaled = (uint64_t)(((u128)v * scale + size / 2) / size);
            if (scaled < 10000 || decimals == 0)
                break;
        }
        if (u + 1 == n || (u128)scaled * size < (u128)units[u + 1].size * scale) {
            return fixed_print(buf, value < 0, scaled / scale, scaled % scale, decimals,
                               units[u].name);
        } /* else rounding has reached 1 of the next unit: prints it in that unit */
    }
    return fixed_print(buf, value < 0, v, /*part=*/0, /*decimals=*/0, units[0].name);
}

char *time_short(char *buf, int64_t ps)
{
    static const struct unit u[] = {
        {" ps", 1}, {" ns", 1000}, {" us", 1000000}, {" ms", 1000000000}, {" s", PS_PER_S}};
    return print_short(buf, ps, u, 5);
}

char *bytes_short(char *buf, int64_t b)
{
    static const struct unit u[] = {
        {" B", 1}, {" KiB", KIB}, {" MiB", MIB}, {" GiB", GIB}, {" TiB", TIB}};
    return print_short(buf, b, u, 5);
}

char *bytes_both(char *buf, int64_t b)
{
    char text[UNIT_TEXT], again[UNIT_TEXT];
    int64_t read;

    bytes_short(text, b);
    snprintf(again, sizeof again, "%.*s%s", (int)strcspn(text, " "), text, strchr(text, ' ') + 1);
    if (bytes_parse(again, &read) && read == b)
        snprintf(buf, BYTES_BOTH, "%s", text);
    else
        snprintf(buf, BYTES_BOTH, "%s (%lld bytes)", text, (long long)b);
    return buf;
}

char *count_short(char *buf, int64_t n)
{
    static const struct unit u[] = {
        {"", 1}, {" k", 1000}, {" M", 1000000}, {" G", 1000000000}, {" T", INT64_C(1000000000000)}};
    return print_short(buf, n, u, 5);
}

int64_t sat_add(int64_t a, int64_t b)
{
    int64_t r;

    return __builtin_add_overflow(a, b, &r) ? INT64_MAX : r;
}

int64_t sat_mul(int64_t a, int64_t b)
{
    int64_t r;

    return __builtin_mul_overflow(a, b, &r) ? INT64_MAX : r;
}

int64_t mul_div_ceil(int64_t a, int64_t b, int64_t c)
{
    if (a <= 0 || b <= 0)
        return 0;
    if (c <= 0)
        return INT64_MAX;
    u128 r = ((u128)a * (u128)b + (u128)c - 1) / (u128)c;
    return r > (u128)INT64_MAX ? INT64_MAX : (int64_t)r;
}

int percent_of(int64_t part, int64_t all)
{
    return all > 0 ? (int)((u128)part * 100 / (u128)all) : 0;
}
