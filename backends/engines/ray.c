/* Makes a script for Ray: --for=ray.  ray_split.py runs the parts as actors, one for each device; it reads the manifest
 * itself, so it is the same for all folders.  O(1). */
#include "backends/engines/engines.h"

/* Returns 0: Ray refuses no split. */
static int check_ray(const struct export_folder *x)
{
    (void)x; /* actors run every split that run_split.py runs */
    return 0;
}

/* Makes the script ray_split.py.  Returns 0, or -1 and an error. */
static int write_ray(struct export_folder *x)
{
    return export_bytes(x, "ray_split.py", ray_split_text, ray_split_size);
}

const struct engine_kind engine_ray = {.name = "ray",
                                       .verified_with = "Ray 2.60.0, on one machine",
                                       .pieces = PIECES_JOINED,
                                       .check = check_ray,
                                       .write = write_ray};
