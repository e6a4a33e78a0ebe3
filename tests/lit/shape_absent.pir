# An operand that is left out has no type, and brings none from one node to another.
# RUN: %pcc %s -q -p infer-shapes --emit ir | FileCheck %s
# CHECK: %a = {{.*}} : f32[4]
# CHECK: %b = Clip(%u, _, %l){{$}}
opset ai.onnx 17
graph {
  in %x : f32[4]
  in %u
  in %k : f32[]
  in %l
  %a = Clip(%x, _, %k)
  %b = Clip(%u, _, %l)
  out %b
}
