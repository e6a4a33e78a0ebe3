/* Turns names from models into text of labels (label.h).  A name may hold any bytes.  dot reads UTF-8, escapes that
 * begin with '\', and HTML entities; XML forbids some characters even if escaped. */
#include "backends/label.h"

#include "ir/base/utf8.h"

#include <string.h>

/* Writes the character s[0 .. len) to out, escaped for DOT if needed.  Returns the number of bytes written, at most 5.
 * len: at most 4. */
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
    size_t count = 0, size = 0, head = most / 2, tail = most - head;
    uint32_t code;
    /* count: characters that are shown; a byte that is not UTF-8 (utf8_decode() returns 0) counts as one */
    for (size_t i = 0, len; i < n; i += len ? len : 1) {
        len = utf8_decode(s + i, n - i, &code);
        count += !len || utf8_shown(code);
    }
    char *out =
        arena_alloc(a, 5 * smaller_u64(count, most) + 8); /* 8: room for "..." and the zero byte */
    /* of more than `most` characters, the first `head` and the last `tail` are written */
    for (size_t i = 0, index = 0, len; i < n; i += len ? len : 1) {
        len = utf8_decode(s + i, n - i, &code);
        if (len && !utf8_shown(code))
            continue;
        if (count <= most || index < head || index >= count - tail)
            size += escape(out + size, len ? s + i : "?", len ? len : 1);
        if (count > most && index == head) {
            memcpy(out + size, "...", 3);
            size += 3;
        }
        index++;
    }
    return out;
}

char *label_plain(struct arena *a, const char *s)
{
    size_t n = strlen(s), size = 0;
    uint32_t code;
    char *out = arena_alloc(a, (size_t)n + 1);
    for (size_t i = 0, len; i < n; i += len ? len : 1) {
        len = utf8_decode(s + i, n - i, &code);
        if (len && !utf8_shown(code))
            continue;
        memcpy(out + size, len ? s + i : "?", len ? len : 1);
        size += len ? len : 1;
    }
    return out;
}

const char *label_stage(const struct cluster *c, const struct stages *s, uint32_t k,
                        struct arena *a)
{
    const uint32_t *d = s->device.to + s->device.at[k]; /* [n] the stage's devices, ascending */
    uint32_t n = s->device.at[k + 1] - s->device.at[k];
    const char *first = cluster_device_name(c, a, d[0]);
    if (n == 1)
        return first;
    const char *last = cluster_device_name(c, a, d[n - 1]);
    bool all_between = d[n - 1] - d[0] == n - 1;
    return all_between ? arena_fmt(a, "%s to %s", first, last)
                       : arena_fmt(a, "%u of %s to %s", n, first, last);
}
