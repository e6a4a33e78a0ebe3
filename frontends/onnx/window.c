/* A window on a file (window.h).  Its size is 4 KiB after a jump and doubles, up to 64 KiB, with each move that begins
 * in the window or at its end.  O(bytes). */
#include "frontends/onnx/window.h"

#include "ir/base/numbers.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

struct window window_new(int fd, uint64_t size, struct arena *a)
{
    return (struct window){
        .fd = fd, .size = size, .next = WINDOW_LEAST, .buf = arena_alloc(a, WINDOW_MOST)};
}

int window_read(struct window *w, uint64_t at, uint64_t n, void *to)
{
    uint8_t *p = to;
    assert(at <= w->size && n <= w->size - at);
    while (n > 0) {
        ssize_t k = pread(w->fd, p, n, (off_t)at);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0) {
            w->bad = k < 0 ? strerror(errno) : "the file changed while it was read";
            return -1;
        }
        p += k;
        at += (uint64_t)k;
        n -= (uint64_t)k;
    }
    return 0;
}

void window_move(struct window *w, uint64_t keep, uint64_t end)
{
    assert(keep <= end && end - keep <= WINDOW_MOST && end <= w->size);
    /* had: where the window ended in the file; kept: bytes from `keep` on that the window has already */
    uint64_t had = w->from + w->n, kept = keep >= w->from && keep < had ? had - keep : 0;
    bool follows = keep >= w->from && keep <= had;
    w->next = !follows ? WINDOW_LEAST : w->next < WINDOW_MOST ? 2 * w->next : WINDOW_MOST;
    uint64_t n = larger_u64(end - keep, w->next);
    n = smaller_u64(n, w->size - keep);
    if (kept)
        memmove(w->buf, w->buf + (keep - w->from), kept);
    kept = smaller_u64(kept, n);
    w->from = keep;
    w->n = n;
    /* w->bad tells the caller of an error */
    if (w->bad || window_read(w, keep + kept, n - kept, w->buf + kept))
        memset(w->buf, 0, WINDOW_MOST);
}
