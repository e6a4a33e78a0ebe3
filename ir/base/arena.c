/* Arenas: one bump pointer over a stack of chunks.
 *
 * Chunks double from 32 KiB to 64 MiB.  A block that would waste much of a chunk gets memory of its own; its record
 * (struct big) is taken from the current chunk like any small block, so that a mark (chunk, used) says which big
 * blocks are younger, too.  Fresh chunks come from calloc; `dirty` remembers how far a chunk was ever used, so only
 * memory that is handed out again is cleared with memset.  One released chunk is kept back, so that a loop that marks
 * and releases at the border of a chunk does not go to malloc each time.
 *
 * The arenas of a tree are in one list, in the order of their making, so that a guard can free the youngest of them
 * first.  arena_exhausted frees them before it jumps back to the guard, while local variables that deferred calls
 * point to are still alive.  arena_free searches the list from its youngest arena for those that belong to the arena
 * to be freed: O(1) for the youngest one.
 *
 * Under AddressSanitizer everything that is not handed out is poisoned, with 16 poisoned bytes after each block.
 * Cost: O(1) a block besides clearing it; arena_release takes O(chunks and big blocks freed).
 *
 * With PCC_FAULTS defined (tests/planted/faults.c) every block is a calloc of its own, so that each can be made to
 * fail. */
#include "ir/base/arena.h"

#include "ir/base/numbers.h"

#include <assert.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_ASAN 1
#endif
#endif
#ifndef ARENA_ASAN
#define ARENA_ASAN 0
#endif

#if ARENA_ASAN
#include <sanitizer/asan_interface.h>
enum { GAP = 16 }; /* poisoned bytes after each block */
#else
enum { GAP = 0 };
#endif

#ifdef PCC_FAULTS
enum { APART = true }; /* whether each block is a calloc of its own */
#else
enum { APART = false };
#endif

enum { ALIGN = 16 }; /* blocks begin at multiples of so many bytes */
#define CHUNK_FIRST ((size_t)1 << 15)
#define CHUNK_LAST ((size_t)64 << 20)
/* Bytes of the largest block: the limit keeps rounding from overflowing, and AddressSanitizer's calloc ends the
 * program for sizes above 1 TiB instead of returning NULL. */
#define BLOCK_MOST (ARENA_ASAN ? (size_t)1 << 39 : SIZE_MAX / 4)

/* Memory from which blocks are taken one after the other. */
struct chunk {
    struct chunk *below;
    uint64_t serial; /* number of the chunk; larger than the number of the chunk below */
    /* bytes of mem: size: all of them; used: handed out now; dirty: ever handed out */
    size_t size, used, dirty;
    _Alignas(ALIGN) unsigned char mem[];
};

/* A block with memory of its own. */
struct big {
    struct big *before;
    uint64_t serial; /* number (chunk.serial) of the chunk that holds this record */
    size_t at;       /* offset of this record in its chunk */
    void *mem;
    size_t size;
};

/* A call fn(p) that is made when its arena is freed (arena_defer). */
struct deferred_call {
    struct deferred_call *before;
    void (*fn)(void *);
    void *p;
};

/* A call of arena_guard() that is running. */
struct guard {
    jmp_buf back;
    struct guard *outer;
    uint64_t births; /* number of arenas made in the tree before the guard began */
};

struct arena {
    struct chunk *top, *spare;      /* spare: a released chunk, kept back; NULL: none */
    struct big *big;                /* the block allocated last; NULL: none */
    struct deferred_call *deferred; /* the call registered last; NULL: none */
    uint64_t serial;                /* number (chunk.serial) of the chunk pushed last */
    size_t next;                    /* size of the next chunk */
    /* of: the arena that this arena belongs to; NULL: none, this is a root. root: the root of the tree; in a root, the
     * root itself */
    struct arena *of, *root;
    struct arena *older, *newer; /* neighbours in the tree's list */
    uint64_t born; /* number of arenas made in the tree when this one was made, itself included */
    /* used in roots only: */
    struct arena *newest; /* the youngest arena of the tree */
    struct guard *guard;  /* the innermost guard; NULL: none */
    uint64_t births;      /* number of arenas made in the tree so far */
    size_t wanted;        /* bytes that the failed allocation asked for */
};

/* Lets AddressSanitizer report any access to the n bytes at p; without it, does nothing. */
static void poison(const void *p, size_t n)
{
#if ARENA_ASAN
    __asan_poison_memory_region(p, n);
#else
    (void)p;
    (void)n;
#endif
}

/* Lets AddressSanitizer allow access to the n bytes at p again. */
static void unpoison(const void *p, size_t n)
{
#if ARENA_ASAN
    __asan_unpoison_memory_region(p, n);
#else
    (void)p;
    (void)n;
#endif
}

/* Frees chunk c, or nothing if c is NULL; AddressSanitizer wants the memory unpoisoned before it is freed. */
static void chunk_free(struct chunk *c)
{
    if (c != NULL) {
        unpoison(c->mem, c->size);
        free(c);
    }
}

/* Takes arena a out of its root's list, runs its deferred calls and frees its memory.  No other arena in the list may
 * belong to a. */
static void free_one(struct arena *a)
{
    if (a->newer != NULL)
        a->newer->older = a->older;
    else
        a->root->newest = a->older;
    if (a->older != NULL)
        a->older->newer = a->newer;
    for (struct deferred_call *d = a->deferred; d != NULL; d = d->before)
        d->fn(d->p);
    for (struct big *b = a->big; b != NULL; b = b->before)
        free(b->mem);
    for (struct chunk *c = a->top; c != NULL;) {
        struct chunk *below = c->below;
        chunk_free(c);
        c = below;
    }
    chunk_free(a->spare);
    free(a);
}

/* Whether x is a, or belongs to a directly or through other arenas. */
static bool belongs_to(const struct arena *x, const struct arena *a)
{
    while (x != NULL && x != a)
        x = x->of;
    return x == a;
}

void arena_free(struct arena *a)
{
    if (a == NULL)
        return;
    for (struct arena *x = a->root->newest; x != a;) {
        struct arena *older = x->older;
        if (belongs_to(x, a))
            free_one(x);
        x = older;
    }
    free_one(a);
}

_Noreturn void arena_exhausted(struct arena *a, size_t wanted)
{
    struct arena *root = a->root;
    struct guard *g = root->guard;

    if (g == NULL)
        abort();
    root->wanted = wanted;
    /* frees the arenas that were made since the guard began */
    /* free_one takes the newest arena off the list: NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
    while (root->newest->born > g->births)
        free_one(root->newest);
    longjmp(g->back, 1);
}

bool arena_guard(struct arena *a, void (*work)(void *arg), void *arg, size_t *wanted)
{
    struct arena *root = a->root;
    struct guard g = {.outer = root->guard, .births = root->births};

    /* setjmp() returns 0 at first; when arena_exhausted() jumps back here, it returns 1 */
    if (setjmp(g.back) == 0) {
        root->guard = &g;
        work(arg);
        root->guard = g.outer;
        return true;
    }
    root->guard = g.outer;
    if (wanted != NULL)
        *wanted = root->wanted;
    return false;
}

struct arena *arena_new(struct arena *of)
{
    struct arena *a = calloc(1, sizeof *a);

    if (a == NULL && of != NULL)
        arena_exhausted(of, sizeof *a);
    if (a == NULL)
        return NULL;
    a->next = CHUNK_FIRST;
    a->of = of;
    a->root = of != NULL ? of->root : a;
    a->older = a->root->newest;
    if (a->older != NULL)
        a->older->newer = a;
    a->root->newest = a;
    a->born = ++a->root->births;
    return a;
}

/* Puts a chunk of at least room bytes on top: the spare one if it is large enough, else a fresh one.  Returns false
 * when memory is out.  No caller asks for more than a->next bytes. */
static bool chunk_push(struct arena *a, size_t room)
{
    struct chunk *c = a->spare;

    if (c != NULL && c->size >= room) {
        a->spare = NULL;
    } else {
        c = calloc(1, sizeof *c + a->next);
        if (c == NULL)
            return false;
        c->size = a->next;
        poison(c->mem, c->size);
        if (a->next < CHUNK_LAST)
            a->next *= 2;
    }
    c->used = 0;
    c->serial = ++a->serial;
    c->below = a->top;
    assert(c->size >= room);
    a->top = c;
    return true;
}

/* Returns n zeroed bytes from the chunk on top, or from a new chunk if they do not fit; NULL when memory is out.
 * n is at most a quarter of a chunk, so that a new chunk has room. */
static void *bump(struct arena *a, size_t n)
{
    size_t room = (n + GAP + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    struct chunk *c = a->top;

    if (c == NULL || c->size - c->used < room) {
        if (!chunk_push(a, room))
            return NULL;
        c = a->top;
    }
    unsigned char *p = c->mem + c->used;
    unpoison(p, n);
    if (c->used < c->dirty) {
        size_t old = c->dirty - c->used;
        memset(p, 0, smaller_u64(old, n));
    }
    c->used += room;
    assert(c->used <= c->size);
    if (c->dirty < c->used)
        c->dirty = c->used;
    return p;
}

/* Returns n zeroed bytes with memory of their own (struct big); NULL when memory is out. */
static void *big_alloc(struct arena *a, size_t n)
{
    struct big *b = bump(a, sizeof *b);

    if (b == NULL)
        return NULL;
    void *mem = calloc(1, n); /* malloc's alignment is 16 on every 64-bit target */
    if (mem == NULL)
        return NULL;
    b->mem = mem;
    b->size = n;
    b->serial = a->top->serial;
    b->at = (size_t)((unsigned char *)b - a->top->mem);
    b->before = a->big;
    a->big = b;
    return mem;
}

void *arena_try(struct arena *a, size_t n)
{
    if (n == 0)
        n = 1;
    if (n > BLOCK_MOST)
        return NULL;
    if (APART)
        return big_alloc(a, n);
    size_t chunk = a->top != NULL ? a->top->size : CHUNK_FIRST;
    /* a large block gets its own memory, since in a chunk it could leave up to its own size unused at the end of the
     * chunk below */
    return n > chunk / 4 ? big_alloc(a, n) : bump(a, n);
}

void *arena_alloc(struct arena *a, size_t n)
{
    void *p = arena_try(a, n);

    if (p == NULL)
        arena_exhausted(a, n);
    return p;
}

void *arena_array(struct arena *a, size_t n, size_t size)
{
    size_t total;

    if (__builtin_mul_overflow(n, size, &total))
        arena_exhausted(a, SIZE_MAX);
    return arena_alloc(a, total);
}

void *arena_copy(struct arena *a, const void *p, size_t n)
{
    return memcpy(arena_alloc(a, n), p, n);
}

char *arena_strdup(struct arena *a, const char *s, size_t n)
{
    assert(s != NULL || n == 0);
    if (n > BLOCK_MOST)
        arena_exhausted(a, n);
    char *p = arena_alloc(a, (size_t)n + 1);
    if (n > 0)
        memcpy(p, s, n);
    return p;
}

char *arena_vfmt(struct arena *a, const char *fmt, va_list ap)
{
    va_list again;

    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    if (n < 0) /* longer than INT_MAX */
        arena_exhausted(a, SIZE_MAX);
    char *p = arena_alloc(a, (size_t)n + 1);
    vsnprintf(p, (size_t)n + 1, fmt, ap);
    return p;
}

char *arena_fmt(struct arena *a, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    char *p = arena_vfmt(a, fmt, ap);
    va_end(ap);
    return p;
}

void arena_defer(struct arena *a, void (*fn)(void *), void *p)
{
    struct deferred_call *d = arena_try(a, sizeof *d);

    if (d == NULL) {
        fn(p);
        arena_exhausted(a, sizeof *d);
    }
    d->fn = fn;
    d->p = p;
    d->before = a->deferred;
    a->deferred = d;
}

struct arena_mark arena_mark(const struct arena *a)
{
    struct arena_mark mark = {a->top, a->top != NULL ? a->top->used : 0, a->deferred};
    return mark;
}

void arena_release(struct arena *a, struct arena_mark mark)
{
    const struct chunk *to = mark.chunk;
    uint64_t serial = to != NULL ? to->serial : 0;

    assert(mark.deferred == a->deferred);
    /* blocks with memory of their own whose records lie behind the mark: in a later chunk, or farther on in the mark's
     * chunk */
    while (a->big != NULL &&
           (a->big->serial > serial || (a->big->serial == serial && a->big->at >= mark.used))) {
        void *mem = a->big->mem;
        a->big = a->big->before;
        free(mem);
    }
    while (a->top != to) {
        struct chunk *c = a->top;
        assert(c != NULL); /* the mark is of this arena, and nothing older was released */
        a->top = c->below;
        /* the largest released chunk is kept for the next allocations */
        if (a->spare == NULL || a->spare->size < c->size) {
            chunk_free(a->spare);
            a->spare = c;
            poison(c->mem, c->size);
        } else {
            chunk_free(c);
        }
    }
    if (a->top != NULL) {
        assert(mark.used <= a->top->used);
        poison(a->top->mem + mark.used, a->top->used - mark.used);
        a->top->used = mark.used;
    }
}

size_t arena_used(const struct arena *a)
{
    size_t sum = 0;

    for (const struct chunk *c = a->top; c != NULL; c = c->below)
        sum += c->used;
    for (const struct big *b = a->big; b != NULL; b = b->before)
        sum += b->size;
    return sum;
}

/* Grows the array at p from `old` to `now` bytes without moving it, if it is the last block of the chunk on top and
 * the chunk has room; returns whether it did. */
static bool extend_in_place(struct arena *a, unsigned char *p, size_t old, size_t now)
{
    struct chunk *c = a->top;

    if (GAP != 0 || c == NULL || old == 0)
        return false;
    /* was, room: bytes of the chunk that the array takes up before and after, rounded up to ALIGN */
    size_t was = (old + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    if (was > c->used || p != c->mem + (c->used - was) || now > c->size)
        return false;
    size_t at = c->used - was, room = (now + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    if (room > c->size - at)
        return false;
    memset(p + old, 0, was - old); /* bump() cleared no bytes behind the array */
    if (c->used < c->dirty) {
        size_t end = at + room;
        memset(c->mem + c->used, 0, smaller_u64(c->dirty, end) - c->used);
    }
    c->used = at + room;
    if (c->dirty < c->used)
        c->dirty = c->used;
    return true;
}

void *vec_grow(struct arena *a, void *ptr, uint32_t *cap, uint32_t need, size_t size)
{
    assert(size > 0 && (ptr != NULL || *cap == 0));
    if (need <= *cap && ptr != NULL)
        return ptr;
    uint32_t now = *cap > UINT32_MAX / 2 ? UINT32_MAX : *cap * 2;
    if (now < 16)
        now = 16;
    if (now < need)
        now = need;
    size_t old = (size_t)*cap * size, total; /* no overflow: `old` bytes were allocated */
    if (__builtin_mul_overflow((size_t)now, size, &total))
        arena_exhausted(a, SIZE_MAX);
    if (ptr == NULL || !extend_in_place(a, ptr, old, total)) {
        void *p = arena_alloc(a, total);
        if (ptr != NULL && old > 0)
            memcpy(p, ptr, old);
        ptr = p;
    }
    *cap = now;
    return ptr;
}
