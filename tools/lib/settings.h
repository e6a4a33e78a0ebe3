/* Settings that say what is planned and for which devices, into the context.  Errors name the setting as the option of
 * the program that it is. */
#ifndef PCC_TOOLS_LIB_SETTINGS_H
#define PCC_TOOLS_LIB_SETTINGS_H

#include "tools/lib/handle.h"

/* The rows of all settings except settings of writers: names, values, help; NULL after the last. */
const struct opt *setting_at(uint32_t i);
/* The name of a setting, as it is kept; NULL: there is none of that name. */
const char *setting_named(const char *name);
/* "; did you mean 'devices'?", or "" if none is near. */
const char *setting_hint(const char *name, struct arena *a);
/* Dimensions: "NAME=N" or several, comma-separated.  0 or -1. */
int settings_dims(struct pcc *p);
/* All that can be known before the model is read, dimensions included. */
enum pcc_status settings_read(struct pcc *p);
/* The cluster, from the settings or else from the model's file. */
enum pcc_status settings_devices(struct pcc *p);
/* The batches of an iteration of training, into the scene's model.  0 or -1. */
int settings_training(struct pcc *p);

#endif
