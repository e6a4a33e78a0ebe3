# Before opset 13 a softmax takes its axis, 1 by default, and all later axes together: rows too long for a cache are read
# again, as they are where the same elements are one axis.
# RUN: %pcc %s -q -d a100 --emit csv | FileCheck %s
# RUN: sed 's/onnx 11/onnx 13/' %s > %t.new.pir
# RUN: %pcc %t.new.pir -q -d a100 --emit csv | FileCheck %s --check-prefix=NEW
# CHECK: a,Softmax,{{.*}},[[LONG:[0-9]+]]
# CHECK: b,Softmax,{{.*}},[[LONG]]
# CHECK-NOT: c,LogSoftmax,{{.*}},[[LONG]]
# NEW: a,Softmax,{{.*}},[[SHORT:[0-9]+]]
# NEW: b,Softmax,{{.*}},{{[0-9]+}}
# NEW: c,LogSoftmax,{{.*}},[[SHORT]]
opset ai.onnx 11
graph {
  in %x : f32[64,8192,64]
  in %y : f32[64,524288]
  %a = Softmax(%x) name="a"
  %b = Softmax(%y) name="b"
  %c = LogSoftmax(%x) {axis=2} name="c"
  out %a, %b, %c
}
