/* What a run that ends early must remove: temporary files and folders in the making. */
#ifndef PCC_IR_BASE_UNFINISHED_H
#define PCC_IR_BASE_UNFINISHED_H

struct unfinished {
    struct unfinished *next;
    void (*drop)(void *p); /* must not allocate */
    void *p;
};

/* From now on drop(p) is called when the program exits, last one first.  u is the caller's and must
 * stay where it is until unfinished_remove. */
void unfinished_add(struct unfinished *u, void (*drop)(void *), void *p);
/* The thing is finished, or was removed: drop(p) is not called any more.  Does nothing if u was never added. */
void unfinished_remove(struct unfinished *u);

#endif
