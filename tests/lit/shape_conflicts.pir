# A shape in the file that the operands contradict is kept and said, both shapes in full; ten times, then how many more.
# RUN: %pcc %s -p infer-shapes --emit ir 2>&1 | FileCheck %s
# CHECK: pcc: warning: node 'a' (Relu): value 'a' has shape [7,batch,4] in the file, but [2,batch,4] follows from the operands; keeping the file's [-Wshape-conflict]
# CHECK: node 'b' (Relu): value 'b' has shape [3,1] in the file, but [2] follows
# CHECK-COUNT-8: has shape [3] in the file, but [2] follows
# CHECK-NOT: has shape
# CHECK: pcc: warning: 2 more shapes in the file differ from what the operands give
# CHECK: %a = Relu(%x) : f32[7,batch,4]
# CHECK: %c = Relu(%b) : f32[3,1]
class acc x1
graph {
  in %x : f32[2,batch,4]
  in %y : f32[2]
  %a = Relu(%x) : f32[7,batch,4]
  %b = Relu(%y) : f32[3,1]
  %c = Relu(%b) : f32[?,?]
  %d1 = Relu(%y) : f32[3]
  %d2 = Relu(%y) : f32[3]
  %d3 = Relu(%y) : f32[3]
  %d4 = Relu(%y) : f32[3]
  %d5 = Relu(%y) : f32[3]
  %d6 = Relu(%y) : f32[3]
  %d7 = Relu(%y) : f32[3]
  %d8 = Relu(%y) : f32[3]
  %d9 = Relu(%y) : f32[3]
  %d10 = Relu(%y) : f32[3]
  out %a
  out %c
}
