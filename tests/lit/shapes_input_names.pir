# A name that a dimension of an input has, at any place of it, wins over one that the file gives to a result.
# RUN: %pcc %s -q -p infer-shapes --emit ir | FileCheck %s
# CHECK: %y = Relu(%x) : f32[n,2,k]
# CHECK: %z = Relu(%y) : f32[n,2,k]
# CHECK: %u = Unknown(%y) : f32[a,b]
graph {
  in %x : f32[n,2,k]
  %y = Relu(%x) : f32[a,2,b]
  %z = Relu(%y)
  %u = Unknown(%y) : f32[a,b]
  out %z
  out %u
}
