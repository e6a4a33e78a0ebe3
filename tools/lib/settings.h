/* Settings (pcc_set()) that say what is planned and for which devices: their table, and their way into the context.
 * Error messages name a setting as the program's option: "--pin". */
#ifndef PCC_TOOLS_LIB_SETTINGS_H
#define PCC_TOOLS_LIB_SETTINGS_H

#include "tools/lib/handle.h"

/* Returns row number i = 0, 1, ... of the settings that do not belong to a writer; NULL after the last one. */
const struct opt *setting_at(uint32_t i);
/* Returns the name of a setting, also of a writer's, as a string constant; NULL: there is no such setting. */
const char *setting_named(const char *name);
/* Returns a hint for an unknown setting, in a: "; did you mean 'devices'?", or "" if no setting has a name like
 * it. */
const char *setting_hint(const char *name, struct arena *a);
/* Reads all values of "dim", each "NAME=N" or several of these with commas between, into p->settings.dims.  Returns
 * 0; or reports an error and returns -1. */
int settings_dims(struct pcc *p);
/* Reads the settings that belong to no execution model and no writer into p->settings; done before the model is read,
 * so that wrong values are found early. */
enum pcc_status settings_read(struct pcc *p);
/* Makes *c the devices that `text`, a value of "devices", describes; "detect" stands for the devices of this machine.
 * Returns PCC_OK; or reports an error and returns another status. */
enum pcc_status settings_cluster(struct pcc *p, const char *text, struct cluster *c);
/* Sets the cluster and the execution model of p->x.scene, from the model's file (p->own) or from settings, and checks
 * the settings that depend on them. */
enum pcc_status settings_devices(struct pcc *p);
/* Sets the batch sizes of a training iteration (struct training) in the scene's execution model.  Returns 0; or
 * reports an error and returns -1. */
int settings_training(struct pcc *p);

#endif
