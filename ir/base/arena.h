/* Arenas: memory with one lifetime.
 *
 * Everything that pcc builds lives in arenas; nothing is freed one by one.  Blocks are zeroed and 16-byte aligned.
 * An arena belongs to another one, up to a root of its own, and is freed with it at the latest.  A tree of arenas is
 * for one thread at a time.
 *
 * Running out of memory is handled in one place: whoever makes a root runs its work under arena_guard, which returns
 * when an allocation anywhere in the tree fails, however deep in the work that is.  So allocations never return NULL
 * (but for arena_try), and what else must be given back on that way (a descriptor, a temporary file, a foreign
 * library's object) is given to arena_defer. */
#ifndef PCC_IR_BASE_ARENA_H
#define PCC_IR_BASE_ARENA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/* A new arena that belongs to `of`.  NULL: a root, for programs and tests: NULL when memory runs out. */
struct arena *arena_new(struct arena *of);
/* Frees the arenas inside a, runs the deferred calls of a, the last one first, then frees all memory of a. a == NULL:
 * does nothing. */
void arena_free(struct arena *a);
/* Runs work(arg).  true: it has returned.  false: an allocation in a's tree failed, and work was left at that place:
 * arenas that were made in the tree meanwhile are freed, and what work was changing is to be thrown away unread;
 * *wanted (may be NULL) is the size that was not to be had.  The innermost guard of a tree counts; without one, memory
 * that runs out is an abort(). */
bool arena_guard(struct arena *a, void (*work)(void *arg), void *arg, size_t *wanted);
/* Ends as an allocation of `wanted` bytes in a does when memory is out: for a foreign library's failed allocation. */
_Noreturn void arena_exhausted(struct arena *a, size_t wanted);
/* n bytes, zeroed; never NULL. */
void *arena_alloc(struct arena *a, size_t n) __attribute__((returns_nonnull));
/* n * size bytes, zeroed, the product checked; never NULL. */
void *arena_array(struct arena *a, size_t n, size_t size) __attribute__((returns_nonnull));
/* Like arena_alloc, but NULL when memory runs out. */
void *arena_try(struct arena *a, size_t n);
char *arena_strdup(struct arena *a, const char *s, size_t n) __attribute__((returns_nonnull));
char *arena_fmt(struct arena *a, const char *fmt, ...)
    __attribute__((format(printf, 2, 3), returns_nonnull));
char *arena_vfmt(struct arena *a, const char *fmt, va_list ap) __attribute__((returns_nonnull));
/* fn(p) runs when the arena is freed: for descriptors, mappings, foreign libraries' objects.  It must not allocate in
 * arenas.  It runs at once if there is no memory for its record. */
void arena_defer(struct arena *a, void (*fn)(void *), void *p);
/* Forgets everything allocated since; deferred calls must not lie in between. */
struct arena_mark {
    void *chunk;
    size_t used;
    const void *deferred;
};
struct arena_mark arena_mark(const struct arena *a);
void arena_release(struct arena *a, struct arena_mark mark);
/* Bytes handed out so far. */
size_t arena_used(const struct arena *a);

/* A growing array {ptr, count, cap}: room for `need` elements of `size` bytes; returns the (perhaps
 * moved) array and updates *cap.  New elements are zero. */
void *vec_grow(struct arena *a, void *ptr, uint32_t *cap, uint32_t need, size_t size)
    __attribute__((returns_nonnull));

#endif
