/* Draws the devices of a plan without another program: boxes in a row, with arrows between them. */
#ifndef PCC_BACKENDS_PICTURE_ROW_H
#define PCC_BACKENDS_PICTURE_ROW_H

#include "backends/backends.h"

/* Draws what the view of devices shows (VIEW_DEVICES) as SVG to the file `path` ("-": r->out).  Returns 0, or -1 and an
 * error. */
int row_write(const struct result *r, const char *path);

#endif
