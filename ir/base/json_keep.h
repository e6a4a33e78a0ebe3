/* JSON documents that go with an arena. */
#ifndef PCC_IR_BASE_JSON_KEEP_H
#define PCC_IR_BASE_JSON_KEEP_H

#include "ir/base/arena.h"

#include <jansson.h>

/* Gives one reference to root (NULL: nothing) to a, which drops it when it is freed; returns root. */
json_t *json_keep(struct arena *a, json_t *root);

#endif
