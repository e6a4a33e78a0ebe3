# --keep-blocks: layers of a kind that repeats stay whole; /h.3 is of no other's kind and may be cut.  The
# best split cuts inside /h.1, which is then refused.
# RUN: %pcc %s -p dp-place --keep-blocks --print-ir-after=contract 2>&1 | FileCheck %s
# RUN: %pcc %s -p dp-place 2>&1 | FileCheck %s --check-prefix=FREE
# RUN: sed 's/h[.]/h/' %s > %t.pir
# RUN: %pcc %t.pir -p dp-place --keep-blocks 2>&1 | FileCheck %s --check-prefix=NONE
# RUN: not %pcc %s -p cost --keep-blocks 2>&1 | FileCheck %s --check-prefix=IDLE
# RUN: not %pcc %s --keep-block 2>&1 | FileCheck %s --check-prefix=NEAR
# CHECK: note: contract: 3 of 4 layers repeat and stay whole: 3 x 2 nodes
# CHECK: # level contract: 5 vertices
# CHECK: {/h.0/attn/Add, /h.0/mlp/Relu}
# CHECK-NEXT: {/h.1/attn/Add, /h.1/mlp/Relu}
# CHECK-NEXT: {/h.2/attn/Add, /h.2/mlp/Relu}
# CHECK-NEXT: {/h.3/attn/Add}
# CHECK-NEXT: {/h.3/attn/Sub}
# CHECK: time per sample 42.00 us
# FREE: time per sample 32.00 us
# NONE: warning: --keep-blocks: no repeated layers were found (0 layers by names such as '/h.3/attn/MatMul'
# NONE: time per sample 32.00 us
# IDLE: error: --keep-blocks: nothing is placed: give a planner, such as -p auto-place
# NEAR: error: unknown option '--keep-block'; did you mean '--keep-blocks'?
class acc x2 link=1GB/s,1us
graph {
  in %x : f32[4]
  %b = Add(%x, %x) : f32[4] !time=10us !xfer=1us name="/h.0/attn/Add"
  %c = Relu(%b) : f32[4] !time=10us !xfer=1us name="/h.0/mlp/Relu"
  %d = Add(%c, %c) : f32[4] !time=10us !xfer=1us name="/h.1/attn/Add"
  %f = Relu(%d) : f32[4] !time=10us !xfer=1us name="/h.1/mlp/Relu"
  %g = Add(%f, %f) : f32[4] !time=8us !xfer=1us name="/h.2/attn/Add"
  %h = Relu(%g) : f32[4] !time=8us !xfer=1us name="/h.2/mlp/Relu"
  %i = Add(%h, %h) : f32[4] !time=2us !xfer=1us name="/h.3/attn/Add"
  %j = Sub(%i, %i) : f32[4] !time=2us !xfer=1us name="/h.3/attn/Sub"
  out %j
}
