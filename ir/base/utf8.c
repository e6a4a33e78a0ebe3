/* Decodes, checks and escapes UTF-8 (utf8.h).  O(bytes). */
#include "ir/base/utf8.h"

#include <assert.h>
#include <string.h>

size_t utf8_decode(const char *text, size_t n, uint32_t *code)
{
    assert(n > 0);
    /* [number of bytes] the smallest code with that many bytes; longer forms of smaller codes are not valid */
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *s = (const unsigned char *)text;
    /* number of bytes of the character, told by its first byte; 0: bytes from 0x80 to 0xc1 begin no character */
    size_t len = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    if (len == 0 || len > n || s[0] > 0xf4)
        return 0;
    /* the first byte ends in the highest 7, 5, 4 or 3 bits of the code, each further byte in the next 6 bits */
    *code = len == 1 ? s[0] : s[0] & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (s[i] & 0x3fu);
    }
    bool surrogate = *code >= 0xd800 && *code < 0xe000;
    return *code < least[len] || *code > 0x10ffff || surrogate ? 0 : len;
}

bool utf8_shown(uint32_t c)
{
    /* marks of the direction of text, and the separators of lines and paragraphs */
    bool layout = c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
                  (c >= 0x2066 && c <= 0x2069) || c == 0x2028 || c == 0x2029;
    /* the last two codes of each 65536, xfffe and xffff, are no characters */
    return c >= ' ' && !(c >= 0x7f && c < 0xa0) && !layout && (c & 0xfffe) != 0xfffe;
}

/* Whether the eight bytes at s are ASCII. */
static bool is_ascii(const char *s)
{
    uint64_t w;
    memcpy(&w, s, sizeof w);
    return (w & UINT64_C(0x8080808080808080)) == 0;
}

size_t utf8_good(const char *s, size_t n)
{
    uint32_t code;
    for (size_t i = 0, len; i < n; i += len) {
        if (n - i < 8 && n >= 8 && is_ascii(s + n - 8))
            return n; /* the rest is ASCII, since the last eight bytes are */
        bool eight = n - i >= 8 && is_ascii(s + i), one = !((unsigned char)s[i] & 0x80);
        len = eight ? 8 : one ? 1 : utf8_decode(s + i, n - i, &code);
        if (len == 0)
            return i;
    }
    return n;
}

/* Writes the first character of s[0 .. n) to out in the form of utf8_plain(), and the number of bytes written to *k,
 * which is at most four times the character's length.  Returns the character's length in s. */
static size_t escape_next(const char *s, size_t n, char *out, size_t *k)
{
    static const char hex[] = "0123456789abcdef";
    uint32_t code;
    size_t len = utf8_decode(s, n, &code);
    *k = 0;
    if (len && utf8_shown(code)) {
        memcpy(out, s, len);
        *k = len;
        return len;
    }
    if (!len)
        code = (unsigned char)*s;
    out[(*k)++] = '\\';
    out[(*k)++] = len > 3 ? 'U' : len > 1 ? 'u' : 'x';
    /* six, four or two digits */
    for (int shift = len > 3 ? 20 : len > 1 ? 12 : 4; shift >= 0; shift -= 4)
        out[(*k)++] = hex[code >> shift & 15];
    return len ? len : 1;
}

void utf8_plain(char *out, const char *s)
{
    for (size_t n = strlen(s), k; n > 0; out += k) {
        size_t len = escape_next(s, n, out, &k);
        s += len;
        n -= len;
    }
    *out = '\0';
}

bool utf8_harmless(const char *s)
{
    uint32_t code;
    for (size_t n = strlen(s); n > 0;) {
        size_t len = utf8_decode(s, n, &code);
        if (!len || !utf8_shown(code))
            return false;
        s += len;
        n -= len;
    }
    return true;
}

const char *utf8_stray(const char *s)
{
    static const struct {
        const char *bytes, *words;
    } stray[] = {
        {"\u00a0", "U+00A0 (no-break space)"},    {"\u00ad", "U+00AD (soft hyphen)"},
        {"\u200b", "U+200B (zero width space)"},  {"\u2060", "U+2060 (word joiner)"},
        {"\u3000", "U+3000 (ideographic space)"}, {"\ufeff", "U+FEFF (byte order mark)"},
        {"\uff0c", "U+FF0C (fullwidth comma)"},   {"\uff1d", "U+FF1D (fullwidth equals sign)"}};
    const char *first = NULL, *words = NULL;
    for (size_t i = 0; i < sizeof stray / sizeof *stray; i++) {
        const char *at = strstr(s, stray[i].bytes);
        if (at && (!first || at < first)) {
            first = at;
            words = stray[i].words;
        }
    }
    return words;
}

/* If s begins with an escape "\xNN", "\uNNNN" or "\UNNNNNN", returns its length and writes its number to *code; else
 * returns 0, also for the number 0, which would end the text. */
static size_t escape_at(const char *s, uint32_t *code)
{
    /* the number of hexadecimal digits; 0: no escape */
    size_t n = *s != '\\' ? 0 : s[1] == 'x' ? 2 : s[1] == 'u' ? 4 : s[1] == 'U' ? 6 : 0;
    *code = 0;
    for (size_t i = 0; i < n; i++) {
        char c = s[2 + i];
        if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f'))
            return 0;
        *code = *code << 4 | (uint32_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return n && *code && *code < 0x110000 ? n + 2 : 0;
}

const char *utf8_unescaped(struct arena *a, const char *s)
{
    uint32_t code;
    if (!strchr(s, '\\'))
        return s;
    char *out = arena_alloc(a, strlen(s) + 1), *to = out;
    for (size_t n; *s; s += n) {
        n = escape_at(s, &code);
        if (!n) {
            *to++ = *s;
            n = 1;
        } else if (code < 0x80) {
            *to++ = (char)code;
        } else if (code < 0x800) {
            /* UTF-8: the first byte tells the length and holds the highest bits; each further byte holds six */
            *to++ = (char)(0xc0 | code >> 6);
            *to++ = (char)(0x80 | (code & 0x3f));
        } else {
            if (code < 0x10000) {
                *to++ = (char)(0xe0 | code >> 12);
            } else {
                *to++ = (char)(0xf0 | code >> 18);
                *to++ = (char)(0x80 | (code >> 12 & 0x3f));
            }
            *to++ = (char)(0x80 | (code >> 6 & 0x3f));
            *to++ = (char)(0x80 | (code & 0x3f));
        }
    }
    *to = 0;
    return out;
}

const char *utf8_text(struct arena *a, const char *s)
{
    if (utf8_harmless(s))
        return s;
    char *out = arena_alloc(a, 4 * strlen(s) + 1);
    utf8_plain(out, s);
    return out;
}

void utf8_put(FILE *f, const char *s)
{
    char one[8];
    for (size_t n = strlen(s), k; n > 0;) {
        size_t plain = 0; /* number of plain ASCII bytes at s, which most text consists of */
        while (plain < n && s[plain] >= ' ' && s[plain] < 0x7f)
            plain++;
        fwrite(s, 1, plain, f);
        s += plain;
        n -= plain;
        if (n == 0)
            break;
        size_t len = escape_next(s, n, one, &k);
        fwrite(one, 1, k, f);
        s += len;
        n -= len;
    }
}
