# Operators by how often they come, then by name.
# RUN: %pcc %s 2>/dev/null | FileCheck %s
# CHECK: operators 3 kinds: Relu 3 (360), Neg 2 (240), Abs 1 (120)
class acc x1
graph {
  in %x : f32[2,60]
  %a = Relu(%x) : f32[2,60]
  %b = Abs(%a) : f32[2,60]
  %c = Relu(%b) : f32[2,60]
  %d = Neg(%c) : f32[2,60]
  %e = Relu(%d) : f32[2,60]
  %f = Neg(%e) : f32[2,60]
  out %f
}
