/* Text for labels (label.h).  Names are any bytes; dot reads UTF-8, knows escapes that begin with '\',
 * and HTML entities; XML forbids some characters in any form. */
#include "backends/label.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

/* Length of the character at s (at most n > 0 bytes are there), 0: no UTF-8; its code in *code. */
static size_t decode(const unsigned char *s, size_t n, uint32_t *code)
{
    assert(n > 0);
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t len = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    assert(len <= 4);
    if (len == 0 || len > n || s[0] > 0xf4)
        return 0;
    *code = len == 1 ? s[0] : s[0] & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (s[i] & 0x3fu);
    }
    return *code < least[len] || *code > 0x10ffff ? 0 : len;
}

static bool is_shown(uint32_t c)
{
    bool turns = c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
                 (c >= 0x2066 && c <= 0x2069) || c == 0x2028 || c == 0x2029;
    return c >= ' ' && !(c >= 0x7f && c < 0xa0) && !turns && !(c >= 0xd800 && c < 0xe000) &&
           (c & 0xfffe) != 0xfffe;
}

/* Writes the character (len bytes at s) to out; returns how many bytes. */
static size_t escape(char *out, const char *s, size_t len)
{
    const char *as = *s == '\\' ? "\\\\" : *s == '&' ? "&amp;" : NULL;
    if (as) {
        s = as;
        len = strlen(as);
    }
    memcpy(out, s, len);
    return len;
}

const char *label_text(struct arena *a, const char *s, size_t n, size_t most)
{
    size_t count = 0, k = 0, head = most / 2, tail = most - head;
    uint32_t code;
    char *out;
    for (size_t i = 0, len; i < n; i += len ? len : 1) {
        len = decode((const unsigned char *)s + i, n - i, &code);
        count += !len || is_shown(code);
    }
    out = arena_alloc(a, 5 * (count > most ? most : count) + 8);
    for (size_t i = 0, at = 0, len; i < n; i += len ? len : 1) {
        len = decode((const unsigned char *)s + i, n - i, &code);
        if (len && !is_shown(code))
            continue;
        if (count <= most || at < head || at >= count - tail)
            k += escape(out + k, len ? s + i : "?", len ? len : 1);
        if (count > most && at == head) {
            memcpy(out + k, "...", 3);
            k += 3;
        }
        at++;
    }
    return out;
}

char *label_plain(struct arena *a, const char *s)
{
    size_t n = strlen(s), k = 0;
    uint32_t code;
    char *out = arena_alloc(a, (size_t)n + 1);
    for (size_t i = 0, len; i < n; i += len ? len : 1) {
        len = decode((const unsigned char *)s + i, n - i, &code);
        if (len && !is_shown(code))
            continue;
        memcpy(out + k, len ? s + i : "?", len ? len : 1);
        k += len ? len : 1;
    }
    return out;
}

const char *label_stage(const struct cluster *c, const struct stages *s, uint32_t k,
                        struct arena *a)
{
    const uint32_t *d = s->device.to + s->device.at[k];
    uint32_t n = s->device.at[k + 1] - s->device.at[k];
    const char *first = cluster_device_name(c, a, d[0]);
    if (n == 1)
        return first;
    const char *last = cluster_device_name(c, a, d[n - 1]);
    return d[n - 1] - d[0] == n - 1 ? arena_fmt(a, "%s to %s", first, last)
                                    : arena_fmt(a, "%u of %s to %s", n, first, last);
}
