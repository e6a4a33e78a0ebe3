/* Options that say what is planned and for which devices.  Errors name the option. */
#ifndef PCC_TOOLS_SETTINGS_H
#define PCC_TOOLS_SETTINGS_H

#include "cli.h"

/* --dim: "NAME=N" or several, comma-separated.  0 or -1, like those that follow. */
int settings_dims(const struct cli *c, struct settings *s, struct arena *a, struct diag *d);
/* --state */
int settings_pairs(const struct cli *c, struct settings *s, struct arena *a, struct diag *d);
/* --time-limit, --max-states */
int settings_limits(const struct cli *c, struct settings *s, struct diag *d);
/* --pin: 'regex=device', or @FILE with one of them per line.  0, or the exit code. */
int settings_pins(const struct cli *c, struct settings *s, struct arena *a, struct diag *d);
/* The cluster of -d; `own` came with the input (a workload), if not NULL.  0, or the exit code. */
int settings_devices(const struct cli *c, struct ctx *x, struct cluster *own);
/* What other options say of it.  0 or -1. */
int settings_cluster(const struct cli *c, struct ctx *x);

#endif
