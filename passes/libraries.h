/* Versions of the libraries that planners use. */
#ifndef PCC_PASSES_LIBRARIES_H
#define PCC_PASSES_LIBRARIES_H

#include "ir/base/arena.h"

/* Returns the names and versions, in a: "lp_solve 5.5.2.5, CBC 2.10.8, Scotch 7.0.3, METIS not built in". */
const char *planner_libraries(struct arena *a);

#endif
