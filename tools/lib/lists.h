/* Lists that a program shows its users, as JSON: the settings there are, and devices.  They need no model. */
#ifndef PCC_TOOLS_LIB_LISTS_H
#define PCC_TOOLS_LIB_LISTS_H

#include "tools/lib/handle.h"

/* Both return the text in p->x.use.mem; or report an error and return NULL.
 * settings_list: all settings, writers' too, as objects with "name", "kind" (that of its values: "int", "bool",
 * "bytes", "time", "text", "choice", "set", "rate" or "share"), "words" (the valid values of "choice" and "set", words
 * for some of "int"), "repeats" (all values count, not the last one alone) and "help".
 * devices_list: the classes of the devices that the setting "devices" describes; without it all that are known by
 * name.  Objects with "name", "host", "count", "memory_bytes" (null: no limit), "bandwidth" (bytes per second) and
 * "operations" (per second, by element type). */
const char *settings_list(struct pcc *p);
const char *devices_list(struct pcc *p);

#endif
