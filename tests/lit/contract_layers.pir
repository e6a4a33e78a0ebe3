# Layers by scope become vertices (and a node between two nodes of one layer joins it); the summary counts
# those that are alike.  A digit alone ("stem1") makes no layer.
# RUN: %pcc %s -p 'contract{by=layer:trivial=false}' --print-ir-after=contract 2>&1 | FileCheck %s
# RUN: %pcc %s 2>/dev/null | FileCheck %s --check-prefix=SUMMARY
# CHECK: note: contract: 3 layers, 2 of 9 placed nodes outside them
# CHECK: level contract: 4 vertices
# CHECK: {/stem1/first}
# CHECK-NEXT: {/h.0/attn/Add, /h.0/mlp/Relu}
# CHECK-NEXT: {/h.1/attn/Add, between, /h.1/mlp/Relu}
# CHECK-NEXT: {/h.2/attn/Add, /h.2/mlp/Relu, /h.2/mlp/Relu_1}
# SUMMARY: layers 2 x {attn, mlp}, 2 nodes each
class acc x2
graph {
  in %x : f32[4]
  %a = Relu(%x) : f32[4] !time=1us name="/stem1/first"
  %b = Add(%a, %a) : f32[4] !time=1us name="/h.0/attn/Add"
  %c = Relu(%b) : f32[4] !time=1us name="/h.0/mlp/Relu"
  %d = Add(%c, %c) : f32[4] !time=1us name="/h.1/attn/Add"
  %e = Sub(%d, %d) : f32[4] !time=1us name="between"
  %f = Relu(%e) : f32[4] !time=1us name="/h.1/mlp/Relu"
  %g = Add(%f, %f) : f32[4] !time=1us name="/h.2/attn/Add"
  %h = Relu(%g) : f32[4] !time=1us name="/h.2/mlp/Relu"
  %i = Relu(%h) : f32[4] !time=1us name="/h.2/mlp/Relu_1"
  out %i
}
