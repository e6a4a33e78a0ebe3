/* Writes text into an HTML page (text.h).  All text of the page goes through here, except its style sheet, its
 * program and its tags.  O(length). */
#include "backends/html/text.h"

#include "ir/base/utf8.h"

#include <string.h>

enum { NAME = 200 /* characters of a name that are shown, at most */ };

/* Returns the bytes of the first `count` characters of UTF-8 text. */
static size_t bytes_of(const char *s, size_t count)
{
    size_t n = 0;
    for (; s[n] && count; count--)
        do
            n++;
        while (((unsigned char)s[n] & 0xc0) == 0x80); /* a byte 10xxxxxx continues a character */
    return n;
}

/* Returns the number of characters of UTF-8 text. */
static size_t characters(const char *s)
{
    size_t n = 0;
    for (; *s; s++)
        n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}

const char *html_name(struct arena *a, const char *s)
{
    const char *plain = utf8_text(a, s);
    /* number of characters; 0 if the name has so few bytes that there cannot be more than NAME characters */
    size_t n = strlen(plain) > NAME ? characters(plain) : 0;
    if (n <= NAME)
        return plain;
    return arena_fmt(a, "%.*s...%s", (int)bytes_of(plain, NAME / 2), plain,
                     plain + bytes_of(plain, n - NAME / 2));
}

/* Writes s[0 .. n) with characters that have a meaning in HTML escaped.  The text must be such as utf8_text()
 * returns. */
static void put_escaped(FILE *f, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        switch (s[i]) {
        case '<':
            fputs("&lt;", f);
            break;
        case '>':
            fputs("&gt;", f);
            break;
        case '&':
            fputs("&amp;", f);
            break;
        case '"':
            fputs("&quot;", f);
            break;
        case '\'':
            fputs("&#39;", f);
            break;
        default:
            putc(s[i], f);
        }
}

void html_put(FILE *f, struct arena *a, const char *s)
{
    struct arena_mark mark = arena_mark(a);
    for (const char *end; *s; s = end) {
        end = s + strcspn(s, "\n");
        const char *line = utf8_text(a, arena_strdup(a, s, (size_t)(end - s)));
        put_escaped(f, line, strlen(line));
        if (*end)
            putc(*end++, f);
    }
    arena_release(a, mark);
}

void html_put_name(FILE *f, struct arena *a, const char *s)
{
    struct arena_mark mark = arena_mark(a);
    const char *name = html_name(a, s);
    put_escaped(f, name, strlen(name));
    arena_release(a, mark);
}

void html_put_json(FILE *f, struct arena *a, const char *s)
{
    struct arena_mark mark = arena_mark(a);
    putc('"', f);
    for (s = html_name(a, s); *s; s++)
        if (strchr("<>&\"\\", *s))
            fprintf(f, "\\u%04x", (unsigned)*s);
        else
            putc(*s, f);
    putc('"', f);
    arena_release(a, mark);
}

void html_put_dot(FILE *f, struct arena *a, const char *s, const char *between)
{
    struct arena_mark mark = arena_mark(a);
    char *out = arena_alloc(a, strlen(s) + 1);
    size_t n = 0;
    /* out[0 .. n): the current line without DOT's escapes */
    for (; *s; s++) {
        /* bytes of "&amp;" behind its '&'; label_text() writes no other entity */
        size_t entity = strncmp(s, "&amp;", 5) ? 0 : 4;
        bool ends_line =
            *s == '\n' || (*s == '\\' && (s[1] == 'n' || s[1] == 'l')); /* \n, \l of DOT */
        s += *s == '\\' && s[1] ? 1 : 0; /* an escaped character stands for itself */
        if (ends_line) {
            put_escaped(f, out, n);
            n = 0;
            fputs(s[1] ? between : "", f); /* not behind the last line */
            continue;
        }
        out[n++] = *s;
        s += entity;
    }
    put_escaped(f, out, n);
    arena_release(a, mark);
}
