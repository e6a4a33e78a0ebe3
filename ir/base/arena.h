/* Arenas: memory with one lifetime.
 *
 * Everything that pcc builds lives in one of two arenas: the module's (until exit) and a scratch one
 * (reset after every pass).  Nothing is freed one by one.  Blocks are zeroed and 16-byte aligned.
 * Running out of memory is not an error that callers handle: the arena's handler reports it and ends
 * the program (arena_try is the exception, for libraries that want NULL). */
#ifndef PCC_IR_BASE_ARENA_H
#define PCC_IR_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

struct arena *arena_new(void);
/* Runs the deferred calls, last one first, then frees all memory. */
void arena_free(struct arena *a);
/* Called with the wanted size when memory runs out; must not return.  NULL: a message and exit(1). */
void arena_on_exhaustion(struct arena *a, void (*handler)(size_t wanted));
/* n bytes, zeroed; never NULL. */
void *arena_alloc(struct arena *a, size_t n);
/* n * size bytes, zeroed, the product checked; never NULL. */
void *arena_array(struct arena *a, size_t n, size_t size);
/* Like arena_alloc, but NULL when memory runs out. */
void *arena_try(struct arena *a, size_t n);
char *arena_strdup(struct arena *a, const char *s, size_t n);
char *arena_fmt(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
char *arena_vfmt(struct arena *a, const char *fmt, va_list ap);
/* fn(p) runs when the arena is freed: for descriptors, mappings, solver handles. */
void arena_defer(struct arena *a, void (*fn)(void *), void *p);
/* Forgets everything allocated since; deferred calls must not lie in between. */
struct arena_mark {
    void *chunk;
    size_t used;
};
struct arena_mark arena_mark(const struct arena *a);
void arena_release(struct arena *a, struct arena_mark mark);
/* Bytes handed out so far. */
size_t arena_used(const struct arena *a);

/* A growing array {ptr, count, cap}: room for `need` elements of `size` bytes; returns the (perhaps
 * moved) array and updates *cap.  New elements are zero. */
void *vec_grow(struct arena *a, void *ptr, uint32_t *cap, uint32_t need, size_t size);

#endif
