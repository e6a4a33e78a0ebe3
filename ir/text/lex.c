/* Tokens of the textual IR, and errors with the line in which they are (grammar: text.md).
 *
 * There is one token at a time.  Tokens point into the text; only quoted strings are copied, decoded, into one buffer.
 * The line and column of an error are counted when it is reported.  O(text). */
#include "ir/text/parse.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Returns byte i of the text; -1 past its end. */
static int byte_at(const struct parser *p, size_t i)
{
    return i < p->n ? (unsigned char)p->src[i] : -1;
}

/* Shows, as notes, at most 100 bytes of the line around position `at`, and below them a caret at that position. */
static void show_line(struct parser *p, size_t at)
{
    assert(at <= p->n);
    char line[101];
    size_t from = at, to = at, k = 0;

    /* [from, to): at most 60 bytes before `at`, 100 in all */
    while (from > 0 && p->src[from - 1] != '\n' && at - from < 60)
        from--;
    while (to < p->n && p->src[to] != '\n' && to - from < sizeof line - 1)
        to++;
    for (size_t i = from; i < to; i++) {
        char c = p->src[i];
        line[k++] = c == '\t' || c == '\r' ? ' ' : c >= ' ' && c < 0x7f ? c : '?';
    }
    line[k] = '\0';
    diag_note(p->diag, "%s", line);
    diag_note(p->diag, "%*s^", (int)(at - from), "");
}

int text_error(struct parser *p, size_t at, const char *fmt, ...)
{
    size_t line = 1, column = 1;
    va_list ap;

    if (p->failed)
        return -1;
    p->failed = true;
    p->tok.kind = T_BAD;
    for (size_t i = 0; i < at && i < p->n; i++) {
        column++;
        if (p->src[i] == '\n') {
            line++;
            column = 1;
        }
    }
    va_start(ap, fmt);
    char *message = arena_vfmt(p->a, fmt, ap);
    va_end(ap);
    diag_error(p->diag, "%s:%zu:%zu: %s", p->path, line, column, message);
    show_line(p, at);
    return -1;
}

int text_expected(struct parser *p, const char *what)
{
    const size_t n = p->pos - p->tok.at; /* bytes of the token */
    const size_t most = 40;              /* at most so many bytes of the token are shown */

    if (p->tok.kind == T_END)
        return text_error(p, p->tok.at, "expected %s, found the end of the text", what);
    return text_error(p, p->tok.at, "expected %s, found '%.*s%s'", what,
                      (int)(smaller_u64(n, most)), p->src + p->tok.at, n > most ? "..." : "");
}

/* Returns the value of the hexadecimal digit c, 0..15; -1 if c is no such digit. */
static int hex_digit(int c)
{
    return is_digit(c)            ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Reads the escape whose backslash is at p->pos, and returns the byte that it stands for; -1 after an error. */
static int read_escape(struct parser *p)
{
    static const char from[] = "\"\\nrt", to[] = "\"\\\n\r\t";
    int c = byte_at(p, p->pos + 1);
    const char *f = c > 0 ? strchr(from, c) : NULL;

    if (f != NULL) {
        p->pos += 2;
        return to[f - from];
    }
    int hi = hex_digit(byte_at(p, p->pos + 2));
    int lo = hi < 0 ? -1 : hex_digit(byte_at(p, p->pos + 3));
    if (c != 'x' || lo < 0) {
        text_error(p, p->pos, "unknown escape (known: \\\" \\\\ \\n \\r \\t \\xNN)");
        return -1;
    }
    p->pos += 4;
    return hi * 16 + lo;
}

/* Reads the quoted string whose opening quote is at p->pos as a token of the given kind, decoded in tok.buf. */
static void read_string(struct parser *p, int kind)
{
    uint32_t n = 0;
    size_t open = p->pos++;

    for (;;) {
        if (n == p->tok.capbuf) /* makes room for the next byte, or for the NUL at the end */
            p->tok.buf = vec_grow(p->a, p->tok.buf, &p->tok.capbuf, n + 1, 1);
        int c = byte_at(p, p->pos);
        if (c == '"')
            break;
        if (c < ' ') { /* a control character, or the end of the text */
            text_error(p, open, "the string does not end on its line");
            return;
        }
        if (c == '\\') {
            c = read_escape(p);
            if (c < 0)
                return;
        } else {
            p->pos++;
        }
        p->tok.buf[n++] = (char)c;
    }
    p->tok.buf[n] = '\0';
    p->pos++;
    p->tok.s = p->tok.buf;
    p->tok.len = n;
    p->tok.kind = kind;
    if (kind != T_STR && memchr(p->tok.buf, 0, n) != NULL)
        text_error(p, open, "a name cannot hold the byte \\x00");
}

/* Whether byte i of the text may stand in the name of a value or graph that is not quoted. */
static bool may_be_in_name(const struct parser *p, size_t i)
{
    int c = byte_at(p, i);

    return is_letter(c) || is_digit(c) || c == '.' || c == '/' || c == '-' ||
           (c == ':' && is_digit(byte_at(p, i + 1)));
}

/* Reads a name after '%' or '@', such as "%x", "%\"odd name\"", "%~1" or "@g2".  kind: T_VALUE or T_GRAPH; "%~1"
 * becomes T_LOST. */
static void read_sigil(struct parser *p, int kind)
{
    p->pos++;
    if (byte_at(p, p->pos) == '"') {
        read_string(p, kind);
        return;
    }
    if (kind == T_VALUE && byte_at(p, p->pos) == '~') {
        p->pos++;
        kind = T_LOST;
    }
    p->tok.s = p->src + p->pos;
    while (may_be_in_name(p, p->pos))
        p->pos++;
    p->tok.len = (size_t)(p->src + p->pos - p->tok.s);
    p->tok.kind = kind;
    if (p->tok.len == 0)
        text_error(p, p->tok.at, "expected a name after '%c' (quote odd ones)", p->src[p->tok.at]);
}

/* Reads a number with or without a unit: "-12.5e-3", "12.5us", "25GB/s", "0x1p-3", also "-inf". */
static void read_number(struct parser *p)
{
    p->pos++;
    for (;; p->pos++) {
        /* before: the byte before c, a capital as its small letter */
        int c = byte_at(p, p->pos), before = byte_at(p, p->pos - 1) | 0x20;
        bool exponent = (c == '-' || c == '+') && (before == 'e' || before == 'p') &&
                        is_digit(byte_at(p, p->pos + 1));
        bool rate = c == '/' && byte_at(p, p->pos + 1) == 's';
        if (!is_digit(c) && !is_letter(c) && c != '.' && !exponent && !rate)
            break;
    }
    p->tok.kind = T_NUM;
}

/* Skips white space, and comments from '#' to the end of the line. */
static void skip_blanks(struct parser *p)
{
    bool comment = false;

    for (;; p->pos++) {
        int c = byte_at(p, p->pos);
        comment = c == '#' || (comment && c != '\n');
        if (c < 0 || !(comment || c == ' ' || c == '\t' || c == '\n' || c == '\r'))
            break;
    }
}

void text_next(struct parser *p)
{
    static const char punctuation[] = "{}()[]=,:|?*";

    if (p->failed)
        return;
    assert(p->pos <= p->n);
    skip_blanks(p);
    p->tok.at = p->pos;
    p->tok.s = p->src + p->pos;
    p->tok.len = 0;
    int c = byte_at(p, p->pos), c1 = byte_at(p, p->pos + 1);
    if (c < 0) {
        p->tok.kind = T_END;
        return;
    }
    if (c == '"') {
        read_string(p, T_STR);
        return;
    }
    if (c == '%' || c == '@') {
        read_sigil(p, c == '%' ? T_VALUE : T_GRAPH);
        return;
    }
    if (is_digit(c) || (c == '-' && (is_digit(c1) || is_letter(c1)))) {
        read_number(p);
    } else if (is_letter(c) || (c == '!' && is_letter(c1))) {
        p->tok.kind = c == '!' ? T_KEY : T_WORD;
        if (c == '!')
            p->tok.s++;
        do {
            p->pos++;
            c = byte_at(p, p->pos);
        } while (is_letter(c) || is_digit(c) || c == '.');
    } else if (memchr(punctuation, c, sizeof punctuation - 1) != NULL) {
        p->tok.kind = c;
        p->pos++;
    } else {
        text_error(p, p->tok.at, "unexpected byte 0x%02x", (unsigned)c);
        return;
    }
    p->tok.len = (size_t)(p->src + p->pos - p->tok.s);
}

int text_want(struct parser *p, int kind, const char *what)
{
    assert(what);
    if (p->tok.kind != kind)
        return text_expected(p, what);
    text_next(p);
    return p->failed ? -1 : 0;
}

bool text_take(struct parser *p, int punct)
{
    bool yes = p->tok.kind == punct;

    if (yes)
        text_next(p);
    return yes;
}

bool text_is(const struct parser *p, const char *word)
{
    return (p->tok.kind == T_WORD || p->tok.kind == T_KEY) && strlen(word) == p->tok.len &&
           memcmp(word, p->tok.s, p->tok.len) == 0;
}

bool text_take_word(struct parser *p, const char *word)
{
    bool yes = p->tok.kind == T_WORD && text_is(p, word);

    if (yes)
        text_next(p);
    return yes;
}

bool text_copy(const struct parser *p, char *buf, size_t size)
{
    assert(size > 0);
    if (p->tok.len >= size)
        return false;
    memcpy(buf, p->tok.s, p->tok.len);
    buf[p->tok.len] = '\0';
    return true;
}

int text_int(struct parser *p, int64_t lo, int64_t hi, int64_t *out, const char *what)
{
    char buf[32], *end = buf;

    errno = 0;
    if (p->tok.kind == T_NUM && text_copy(p, buf, sizeof buf))
        *out = strtoll(buf, &end, 10);
    if (end == buf || *end != '\0')
        return text_expected(p, what);
    if (errno == ERANGE || *out < lo || *out > hi) {
        return text_error(p, p->tok.at, "%s is out of range (%lld to %lld)", buf, (long long)lo,
                          (long long)hi);
    }
    text_next(p);
    return p->failed ? -1 : 0;
}

int text_uint(struct parser *p, uint64_t hi, uint64_t *out, const char *what)
{
    char buf[32], *end = buf;

    errno = 0;
    if (p->tok.kind == T_NUM && p->tok.s[0] != '-' && text_copy(p, buf, sizeof buf))
        *out = strtoull(buf, &end, 10);
    if (end == buf || *end != '\0')
        return text_expected(p, what);
    if (errno == ERANGE || *out > hi)
        return text_error(p, p->tok.at, "%s is out of range (0 to %llu)", buf,
                          (unsigned long long)hi);
    text_next(p);
    return p->failed ? -1 : 0;
}

int text_string(struct parser *p, sid *out, const char *what)
{
    if (p->tok.kind == T_STR && memchr(p->tok.s, 0, p->tok.len) != NULL)
        return text_error(p, p->tok.at, "this string cannot hold the byte \\x00");
    return text_bytes(p, out, what);
}

int text_bytes(struct parser *p, sid *out, const char *what)
{
    if (p->tok.kind != T_STR)
        return text_expected(p, what);
    *out = str_id_n(p->m, p->tok.s, p->tok.len);
    text_next(p);
    return p->failed ? -1 : 0;
}

int text_name(struct parser *p, sid *out, const char *what)
{
    if (p->tok.kind != T_WORD)
        return text_string(p, out, what);
    *out = str_id_n(p->m, p->tok.s, p->tok.len);
    text_next(p);
    return p->failed ? -1 : 0;
}

void text_move(struct parser *p, const struct parser *from)
{
    assert(from->src && from->pos <= from->n && p->m); /* p->m stays */
    p->src = from->src;
    p->n = from->n;
    p->pos = from->pos;
    p->path = from->path;
    p->diag = from->diag;
    p->a = from->a;
    p->failed = from->failed;
    p->tok = from->tok;
}
