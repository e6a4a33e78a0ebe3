# Layers that a profile gives; without any, contract{by=layer} says so and changes nothing.
# RUN: %pcc %s -p 'contract{by=layer:trivial=false}' --print-ir-after=contract -q 2>&1 | FileCheck %s
# RUN: sed 's/!layer=.//' %s > %t.pir
# RUN: %pcc %t.pir -p 'contract{by=layer:trivial=false}' --print-ir-after=contract -q 2>&1 | FileCheck %s --check-prefix=NONE
# CHECK: level contract: 2 vertices
# CHECK-NEXT: {a, b}
# CHECK-NEXT: {c, d}
# NONE: warning: contract: by=layer finds no layers
# NONE: level contract: 4 vertices
class acc x2
graph {
  %a = profile:op() : !xfer=1us !time=1us !layer=1
  %b = profile:op(%a) : !xfer=1us !time=2us !layer=1
  %c = profile:op(%b) : !xfer=1us !time=4us !layer=2
  %d = profile:op(%c) : !xfer=1us !time=8us !layer=2
}
