/* For functions that stand before others of their name: calls of the shared library find those of the program first. */
#ifndef PCC_TESTS_PLANTED_NEXT_H
#define PCC_TESTS_PLANTED_NEXT_H

#include <dlfcn.h>
#include <stdlib.h>

/* The function of that name which would have been called, the library's or the system's; there must be one. */
static inline void *next_function(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found)
        abort();
    return found;
}

#endif
