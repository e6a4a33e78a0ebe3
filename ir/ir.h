/* The public header of ir/: the data that everything else works on. */
#ifndef PCC_IR_IR_H
#define PCC_IR_IR_H

#include "ir/base/arena.h"
#include "ir/cluster/cluster.h"
#include "ir/cluster/exec_model.h"
#include "ir/base/diag.h"
#include "ir/model/dim.h"
#include "ir/model/module.h"
#include "ir/dag/placeable.h"
#include "ir/dag/scene.h"
#include "ir/plan/plan.h"
#include "ir/text/text.h"
#include "ir/base/units.h"
#include "ir/dag/wdag.h"

#endif
