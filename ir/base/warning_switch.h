/* The user's word on warnings. */
#ifndef PCC_IR_BASE_WARNING_SWITCH_H
#define PCC_IR_BASE_WARNING_SWITCH_H

#include "ir/base/diag.h"

/* One value of -W: "NAME" (show), "no-NAME" (hide, do not count), "error=NAME" (show, and fail),
 * "no-error=NAME" (show only), "error" and "no-error" (for all that are shown).  Later ones win.
 * 0, or -1 and an error with the nearest name. */
int warning_switch(struct diag *d, const char *text, struct arena *a);

#endif
