# A tied embedding in the last layer, which it leads away from and back to, stays out of it; the same where the file says
# that it is in two layers.  Nodes that are in no class keep the layer, and so does a class of two neighbours.
# RUN: %pcc %s -p 'contract{by=layer:trivial=false}' --print-ir-after=contract -q 2>&1 | FileCheck %s
# RUN: %pcc %s -p 'contract{by=layer}' 2>&1 | FileCheck %s --check-prefix=SAID
# RUN: sed '/lookup/s/layer=3/layer=9/' %s > %t.two.pir
# RUN: %pcc %t.two.pir -p 'contract{by=layer:trivial=false}' --print-ir-after=contract -q 2>&1 | FileCheck %s
# RUN: sed 's/!color=7 //' %s > %t.none.pir
# RUN: %pcc %t.none.pir -p 'contract{by=layer:trivial=false}' --print-ir-after=contract -q 2>&1 | FileCheck %s --check-prefix=NONE
# RUN: sed 's/!color=7 //; s/color=2/color=1/; /weights/s/layer=3/layer=9/; /lookup/s/layer=3/layer=9/' %s > %t.near.pir
# RUN: %pcc %t.near.pir -p 'contract{by=layer:trivial=false}' --print-ir-after=contract -q 2>&1 | FileCheck %s --check-prefix=NEAR
# RUN: sed 's/#TRAIN//' %s > %t.train.pir
# RUN: %pcc %t.train.pir -p 'contract{by=layer:trivial=false}' --print-ir-after=contract -q 2>&1 | FileCheck %s --check-prefix=TRAIN
# CHECK: level contract: 4 vertices
# CHECK-NEXT: {weights, lookup, turned}
# CHECK-NEXT: {a, between, next}
# CHECK-NEXT: {b}
# CHECK-NEXT: {head, bias}
# SAID: note: contract: 3 nodes, such as 'weights', of 1 classes that must share a device stay out of their layers
# NONE: level contract: 1 vertices
# NEAR: {a, between, next, b}
# TRAIN: level contract: 4 vertices
# TRAIN-NEXT: {weights, lookup, turned, lookup/backward}
# TRAIN-NEXT: {a, between, next, next/backward, a/backward}
# TRAIN-NEXT: {b, b/backward}
# TRAIN-NEXT: {head, bias, head/backward}
class acc x2
graph {
  %w = profile:op() : !xfer=1us name="weights" !time=1us !color=7 !layer=3
  %l = profile:op(%w) : !xfer=1us name="lookup" !time=1us !color=7 !layer=3
  %a = profile:op(%l) : !xfer=1us name="a" !time=1us !color=1 !layer=1
  %m = profile:op(%a) : !xfer=1us name="between" !time=1us !layer=1
  %n = profile:op(%m) : !xfer=1us name="next" !time=1us !color=5 !layer=1
  %b = profile:op(%n) : !xfer=1us name="b" !time=1us !color=2 !layer=2
  %t = profile:op(%w) : !xfer=1us name="turned" !time=1us !color=7 !layer=3
  %h = profile:op(%b, %t) : !xfer=1us name="head" !time=1us !color=3 !layer=3
  %i = profile:op(%h) : !xfer=1us name="bias" !time=1us !layer=3
  #TRAIN%hb = profile:op(%i) : !xfer=1us name="head/backward" !time=1us !color=3 !layer=3 !backward
  #TRAIN%bb = profile:op(%hb) : !xfer=1us name="b/backward" !time=1us !color=2 !layer=2 !backward
  #TRAIN%nb = profile:op(%bb) : !xfer=1us name="next/backward" !time=1us !color=5 !layer=1 !backward
  #TRAIN%ab = profile:op(%nb) : !xfer=1us name="a/backward" !time=1us !color=1 !layer=1 !backward
  #TRAIN%lb = profile:op(%ab) : !xfer=1us name="lookup/backward" !time=1us !color=7 !layer=3 !backward
}
