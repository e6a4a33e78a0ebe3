/* Versions of the libraries that planners use (libraries.h).  Functions of the solvers and of Scotch return theirs; for
 * METIS its header has the version. */
#include "passes/libraries.h"

#include "passes/integer/mip.h"

#if PCC_HAVE_SCOTCH
#include <scotch.h>
#endif
#if PCC_HAVE_METIS
#include <metis.h>
#endif

/* Returns the version of Scotch, in a, or "not built in". */
static const char *scotch_version(struct arena *a)
{
#if PCC_HAVE_SCOTCH
    int version, release, patch;
    SCOTCH_version(&version, &release, &patch);
    return arena_fmt(a, "%d.%d.%d", version, release, patch);
#else
    (void)a;
    return "not built in";
#endif
}

/* Returns the version of METIS, in a, or "not built in". */
static const char *metis_version(struct arena *a)
{
#if PCC_HAVE_METIS
    return arena_fmt(a, "%d.%d.%d", METIS_VER_MAJOR, METIS_VER_MINOR, METIS_VER_SUBMINOR);
#else
    (void)a;
    return "not built in";
#endif
}

const char *planner_libraries(struct arena *a)
{
    return arena_fmt(a, "lp_solve %s, CBC %s, Scotch %s, METIS %s", mip_version(&mip_lpsolve, a),
                     mip_version(&mip_cbc, a), scotch_version(a), metis_version(a));
}
