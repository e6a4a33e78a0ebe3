# What the file declares of a result is kept, and completed dimension by dimension by what is inferred.
# RUN: %pcc %s -q -p infer-shapes --emit ir | FileCheck %s
# CHECK: %a = Relu(%x) : f32[2,4]
# CHECK: %b = Relu(%a) : f32[2,4]
# CHECK: %c = Relu(%b) : f32[2,4]
# CHECK: %d = my:Thing(%c) : f32[3,?]
# CHECK: %e = Relu(%d) : f32[3,5]
# CHECK: %f = Relu(%e) : f32[3,5]
class acc x1
graph {
  in %x : f32[2,4]
  %a = Relu(%x) : f32[?,4]
  %b = Relu(%a) : f32[?,?]
  %c = Relu(%b) : f32[*]
  %d = my:Thing(%c) : f32[3,?]
  %e = Relu(%d) : f32[?,5]
  %f = Relu(%e)
  out %f
}
