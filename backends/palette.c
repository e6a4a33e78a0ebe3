/* The colours of devices (palette.h).  A fill is the line's colour mixed with four fifths of white.  O(1). */
#include "backends/palette.h"

static const char *const line[PALETTE] = {"#035ecf", "#c87903", "#0d997b", "#660e71",
                                          "#6c944f", "#3f2f45", "#ac6dc4", "#1d5435"};
static const char *const fill[PALETTE] = {"#cddff5", "#f4e4cd", "#cfebe5", "#e0cfe3",
                                          "#e2eadc", "#d9d5da", "#eee2f3", "#d2ddd7"};

const char *palette_line(uint32_t dev)
{
    return line[dev % PALETTE];
}

const char *palette_fill(uint32_t dev)
{
    return fill[dev % PALETTE];
}
