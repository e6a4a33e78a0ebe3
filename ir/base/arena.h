/* Arenas: memory with one lifetime.
 *
 * Everything that pcc builds lives in arenas; nothing is freed one by one.  Blocks are zeroed and 16-byte aligned.
 * An arena belongs to another arena and is freed with it at the latest; an arena that belongs to none is the root of
 * a tree.  Only one thread at a time may use a tree of arenas.
 *
 * Running out of memory is handled in one place: the code that makes a root runs its work under arena_guard(), which
 * returns false when an allocation anywhere in the tree fails, however deep in the call stack. So allocations never
 * return NULL (except arena_try). The owner of another resource (a descriptor, a temporary file, a foreign library's
 * object) has arena_defer() note how to release it, so that it is released in that case, too. */
#ifndef PCC_IR_BASE_ARENA_H
#define PCC_IR_BASE_ARENA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/* Makes an arena that belongs to `of`.  `of` == NULL: makes a root, or returns NULL if there is no memory for it. */
struct arena *arena_new(struct arena *of);
/* Frees the arenas that belong to a, runs the deferred calls of a, the last one first, then frees all memory of a. a ==
 * NULL: does nothing. */
void arena_free(struct arena *a);
/* Runs work(arg).  Returns true when work has returned; false when an allocation in a's tree failed and work was left
 * at that place: the arenas that work made in the tree are freed, the caller throws away unread all data that work was
 * changing, and *wanted (wanted may be NULL) is the size in bytes that could not be allocated.  A failed allocation
 * returns to the innermost guard of the tree; without a guard it calls abort(). */
bool arena_guard(struct arena *a, void (*work)(void *arg), void *arg, size_t *wanted);
/* Returns to the innermost guard as after a failed allocation of `wanted` bytes in a.  For callers of foreign libraries
 * that report a failed allocation of their own. */
_Noreturn void arena_exhausted(struct arena *a, size_t wanted);
/* Returns n zeroed bytes, never NULL. */
void *arena_alloc(struct arena *a, size_t n) __attribute__((returns_nonnull));
/* Returns n * size zeroed bytes, never NULL; a product that overflows counts as a failed allocation. */
void *arena_array(struct arena *a, size_t n, size_t size) __attribute__((returns_nonnull));
/* Returns n zeroed bytes, or NULL when memory runs out. */
void *arena_try(struct arena *a, size_t n);
/* Returns a copy of the n bytes at p. */
void *arena_copy(struct arena *a, const void *p, size_t n) __attribute__((returns_nonnull));
/* Returns a copy of s[0 .. n) with a final NUL. */
char *arena_strdup(struct arena *a, const char *s, size_t n) __attribute__((returns_nonnull));
/* arena_fmt and arena_vfmt return a new string, formatted as by printf. */
char *arena_fmt(struct arena *a, const char *fmt, ...)
    __attribute__((format(printf, 2, 3), returns_nonnull));
char *arena_vfmt(struct arena *a, const char *fmt, va_list ap) __attribute__((returns_nonnull));
/* Has fn(p) called when a is freed: fn releases a descriptor, a mapping or a foreign library's object.  fn must not
 * allocate in arenas.  If there is no memory to remember the call, fn(p) runs at once and the allocation fails. */
void arena_defer(struct arena *a, void (*fn)(void *), void *p);
/* A position in an arena: arena_mark() notes it, arena_release() frees all that was allocated after it.  No
 * arena_defer() may come between the two calls. */
struct arena_mark {
    void *chunk;
    size_t used;
    const void *deferred;
};
struct arena_mark arena_mark(const struct arena *a);
void arena_release(struct arena *a, struct arena_mark mark);
/* Returns how many bytes of a are in use, padding included. */
size_t arena_used(const struct arena *a);

/* Makes room for at least `need` elements of `size` bytes in the array at ptr (NULL: there is no
 * array yet), which has room for *cap elements.  Returns the array, which may have moved, and
 * updates *cap.  New elements are zero. */
void *vec_grow(struct arena *a, void *ptr, uint32_t *cap, uint32_t need, size_t size)
    __attribute__((returns_nonnull));

#endif
