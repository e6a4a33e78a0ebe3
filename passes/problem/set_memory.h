/* Computes how many bytes a device needs at one time for a set of vertices, which changes by one vertex after another.
 *
 * The device runs the nodes of the set as one part, in the order of the file (exec_live_parts()).  Beside its lasting
 * bytes (weights, state) it needs at once
 *     all values that the part reads, which it holds until its end;
 *     the values that its nodes make: each from its node to its last reader in the set, and to the end if it leaves;
 *     what a node works in while it runs;
 *     and, where samples follow each other, once more all that the part reads, for the sample behind, and all that
 *     leaves the part, for the sample ahead; where only two samples are on their way at once, the larger of the two.
 * The schedule of a plan with one part on each device needs no less (schedule.h). */
#ifndef PCC_PASSES_PROBLEM_SET_MEMORY_H
#define PCC_PASSES_PROBLEM_SET_MEMORY_H

#include "ir/dag/wdag.h"

/* The values of a model, by vertices of the base level. */
struct set_values {
    uint32_t n;      /* number of vertices of the base level */
    uint32_t nvalue; /* number of values that nodes make or read, without weights and state */
    struct set_value {
        int64_t bytes;
        /* the vertex that makes the value; UINT32_MAX: it is an input of the model */
        uint32_t maker;
        uint32_t npin; /* number of vertices that make or read the value */
        uint8_t held;  /* enum held */
    } *value;          /* [value] */
    struct csr pin;    /* value -> vertices that make or read it, ascending */
    struct csr of;     /* vertex -> its values */
    int64_t *extra;    /* [vertex] bytes that its node works in beyond the bytes of its results */
    struct csr member; /* vertex of the problem's level -> vertices of the base level */
    /* number of samples on their way at once; 3 stands for more, too. 1: one alone; 2: a device does not hold what it
     * reads for the sample behind together with what leaves for the sample ahead; 3: it does */
    uint32_t samples;
};
/* Whether a value stays to the end of the part that makes it: HELD_FOR_READERS: only if it has readers elsewhere;
 * HELD: always; HELD_AND_SENT: always, and it is sent to the host, too. */
enum held { HELD_FOR_READERS, HELD, HELD_AND_SENT };

/* Returns the values for a level g, in a; NULL: g was not made of a base level, or the model trains (a device then
 * runs a part for each pass).  O(V + pins). */
struct set_values *set_values_build(const struct wdag *g, const struct scene *s, struct arena *a);

struct set_memory {
    const struct set_values *values;
    uint8_t *in;    /* [vertex of the base level] 1: in the set */
    uint32_t *pins; /* [value] number of its pins in the set */
    uint32_t *last; /* [value] the last pin in the set; counts while pins > 0 */
    /* reads: bytes of the values that the set reads from elsewhere; sent: bytes of the values that leave the set */
    int64_t reads, sent;
    /* sorted: so far vertices have joined in the order in which they run, and left in the opposite order.  Then list[0
     * .. nlist) are the vertices of the set, at[i].now is the number of bytes after the first i of them have run, and
     * at[i].top the most bytes up to then.  If false, the tree below counts instead */
    bool sorted;
    uint32_t *list, nlist;
    struct set_moment {
        int64_t now, top;
    } *at; /* [0 .. nlist] */
    /* segment tree over the vertices; most[leaves + v]: bytes at once while v runs; at inner nodes `most` is the
     * largest below the node, less what `more` of its ancestors adds, and `more` is added to all below the node */
    int64_t *most, *more;
    /* number of leaves of the tree: a power of two, at least the number of vertices */
    uint32_t leaves;
};

/* Returns an empty set, in a.  O(V + values). */
struct set_memory *set_memory_new(const struct set_values *v, struct arena *a);
/* Adds vertex v of the problem's level to the set, or takes it out of the set again.  O(its values) while vertices join
 * in the order in which they run and leave in the opposite order; else, until the set is empty again,
 * O(its values * log V), and taking out a value's last reader looks for the one before it. */
void set_memory_add(struct set_memory *s, uint32_t v);
void set_memory_drop(struct set_memory *s, uint32_t v);
/* Takes all vertices out.  O(V + values). */
void set_memory_clear(struct set_memory *s);
/* Returns the most bytes that a device with the set needs at one time (head of this file), without lasting bytes.
 * O(1). */
int64_t set_memory_peak(const struct set_memory *s);

#endif
