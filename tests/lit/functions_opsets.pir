# What functions import and the model does not is imported once, however many functions want it.
# RUN: %pcc %s -q -p inline-functions --verify-each --emit ir | FileCheck %s
# CHECK: opset ai.onnx 20
# CHECK-NEXT: opset com.other 3
# CHECK-NOT: opset
# CHECK: %y = com.other:Fast(%x)
# CHECK: %z = com.other:Slow(%y)
class acc x2
opset ai.onnx 20
function my:f {
  opset ai.onnx 20
  opset com.other 3
  graph {
    in %x
    %r = com.other:Fast(%x)
    out %r
  }
}
function my:g {
  opset ai.onnx 20
  opset com.other 3
  graph {
    in %x
    %r = com.other:Slow(%x)
    out %r
  }
}
graph {
  in %x : f32[4]
  %y = my:f(%x) name="a"
  %z = my:g(%y) name="b"
  out %z
}
