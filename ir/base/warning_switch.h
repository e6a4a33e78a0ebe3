/* The option -W: which warnings are shown, and which make the run fail. */
#ifndef PCC_IR_BASE_WARNING_SWITCH_H
#define PCC_IR_BASE_WARNING_SWITCH_H

#include "ir/base/diag.h"

/* Applies one value of -W to d.  "NAME": show the warning; "no-NAME": hide it and do not count it; "error=NAME": show
 * it and let it fail the run; "no-error=NAME": do not let it fail the run; "error" and "no-error": the same for all
 * warnings, without showing hidden ones.  Later values override earlier ones.  Returns 0; for an unknown name reports
 * an error, which suggests the nearest name, and returns -1. */
int warning_switch(struct diag *d, const char *text, struct arena *a);
/* Undoes all calls of warning_switch: every warning is shown, and none fails the run. */
void warning_reset(struct diag *d);

#endif
