# Nodes that return what they are given go; outputs keep their names.
# RUN: %pcc %s -v -p drop-identity --emit ir 2>&1 | FileCheck %s
# RUN: %pcc %s -q -p drop-identity --emit ir > %t.pir
# RUN: %pcc %t.pir -v -p drop-identity 2>&1 | FileCheck %s --check-prefix=AGAIN
# CHECK: note: drop-identity: 17 nodes are now 10: 2 Identity, 1 Dropout, 1 Cast, 1 Reshape, 2 Transpose
# A chain collapses to what it began with; the shape that only the Reshape read goes.
# CHECK-NOT: %shape
# CHECK: %pre = Relu(%x)
# CHECK-NEXT: %kept, %mask = Dropout(%pre)
# CHECK-NEXT: %trained = Dropout(%pre, _, %yes)
# CHECK-NEXT: %other = Cast(%pre) {to=11}
# CHECK-NEXT: %turned = Transpose(%pre) {perm=[1, 0]}
# CHECK-NEXT: %as_is = Reshape(%pre, %sizes)
# A node that makes an output gives its name to the node before.
# CHECK-NEXT: %y = Neg(%pre)
# An input, a weight and another output cannot have it.
# CHECK-NEXT: %same = Identity(%x)
# CHECK-NEXT: %weight = Identity(%w)
# CHECK-NEXT: %twin = Identity(%y)
# AGAIN: note: drop-identity: every node does something
pcc 1
ir_version 10
opset ai.onnx 17
graph {
  in %x : f32[n,4]
  in %sizes : i64[2]
  init %w : f32[2] = [1.0, 2.0]
  init %shape : i64[2] = [0, 4]
  init %yes : bool[] = [1]
  %pre = Relu(%x)
  %a = Identity(%pre)
  %b = Dropout(%a)
  %kept, %mask = Dropout(%b)
  %trained = Dropout(%b, _, %yes)
  %c = Cast(%b) {to=1}
  %other = Cast(%c) {to=11}
  %turned = Transpose(%c) {perm=[1, 0]}
  %back = Transpose(%turned) {perm=[1, 0]}
  %flat = Transpose(%back) {perm=[0, 1]}
  %d = Reshape(%flat, %shape)
  %as_is = Reshape(%d, %sizes)
  %e = Neg(%d)
  %y = Identity(%e)
  %same = Identity(%x)
  %weight = Identity(%w)
  %twin = Identity(%y)
  out %y, %same, %weight, %twin, %mask, %kept, %trained, %other, %turned, %as_is
}
