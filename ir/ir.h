/* The public header of ir/: the data that everything else works on. */
#ifndef PCC_IR_IR_H
#define PCC_IR_IR_H

#include "ir/arena.h"
#include "ir/cluster.h"
#include "ir/diag.h"
#include "ir/dim.h"
#include "ir/module.h"
#include "ir/place.h"
#include "ir/plan.h"
#include "ir/text.h"
#include "ir/units.h"
#include "ir/wdag.h"

#endif
