# Colours join a and c; b lies between them, so the cycle joins it, too.  e takes no time and has one
# neighbour: it goes into d.
# RUN: %pcc %s -p contract --print-ir-after=contract -q 2>&1 | FileCheck %s
# RUN: %pcc %s -p 'contract{trivial=false}' --print-ir-after=contract -q 2>&1 | FileCheck %s --check-prefix=KEEP
# CHECK: level contract: 2 vertices
# CHECK-NEXT: 0: time=[7us] size=0B {a, b, c}
# CHECK-NEXT: 1: time=[8us] size=0B {d, e}
# KEEP: level contract: 3 vertices
class acc x2
graph {
  %a = profile:op() : !xfer=1us !time=1us !color=1
  %b = profile:op(%a) : !xfer=1us !time=2us
  %c = profile:op(%b) : !xfer=1us !time=4us !color=1
  %d = profile:op(%c) : !xfer=1us !time=8us
  %e = profile:op(%d) : !xfer=1us
}
