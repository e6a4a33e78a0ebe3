/* Makes the texts of frames, which stand for the parts or the devices of a plan: device, file, time, memory. */
#ifndef PCC_BACKENDS_PICTURE_FRAME_LABEL_H
#define PCC_BACKENDS_PICTURE_FRAME_LABEL_H

#include "backends/picture/blocks.h"

/* All return text for DOT about frame i, in a. */

/* Returns the device of the frame and its class: "acc0 (a100)"; "acc0 to acc2 in turn (a100)" if acc0, acc1 and
 * acc2 hold copies of the frame's stage. */
const char *frame_device(const struct result *r, const struct frames *f, uint32_t i,
                         struct arena *a);
/* Returns the name of the frame's part, "part0.onnx"; "3 parts" if it has several. */
const char *frame_file(const struct result *r, const struct frames *f, uint32_t i, struct arena *a);
/* Returns device, parts, nodes, time, what the nodes read (h), and the memory of the device, unless some device has
 * several frames.  h == NULL: only device, time and parts.  O(nodes of the frame). */
const char *frame_label(const struct result *r, const struct frames *f, uint32_t i,
                        const struct holdings *h, struct arena *a);

#endif
