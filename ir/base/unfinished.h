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
/* It is finished, or dropped otherwise.  Nothing happens if it was never added. */
void unfinished_remove(struct unfinished *u);

#endif
