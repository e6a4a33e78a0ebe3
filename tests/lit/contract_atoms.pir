# Nodes of two atoms between each other count once each in the note.
# RUN: %pcc %s -d 2xa100 -p contract 2>&1 | FileCheck %s
# CHECK: note: contract: 8 nodes, such as 'f1', stay in one part with others: the types of values between them
opset ai.onnx 17
opset test 1
graph {
  in %x : f32[4]
  %f1 = test:Foreign(%x)
  %f2 = test:Foreign(%x)
  %g1 = test:Foreign(%f1)
  %g2 = test:Foreign(%f2)
  %h1 = test:Foreign(%g1)
  %h2 = test:Foreign(%g2)
  %y1 = Cast(%h1) {to=1}
  %y2 = Cast(%h2) {to=1}
  out %y1
  out %y2
}
