# Cuts by path in a training graph are about its forward pass: z1, the backward node of a1, need not be apart from it, and
# a pin may put both on one device.
# RUN: %pcc %s -q -p dp-place --cut-at='^a1$' --pin='^(a1|z1)$=acc0' --emit json | grep -A6 '"nodes"' | FileCheck %s
# CHECK: "nodes": [
# CHECK-NEXT: "y1",
# CHECK-NEXT: "a1",
# CHECK-NEXT: "z1",
# CHECK-NEXT: "d1",
# CHECK-NEXT: "n1"
# CHECK-NEXT: ]
# Behind the second layer there is nothing, although its backward pass leads to that of the first one.
# RUN: %pcc %s -p dp-place --cut-at='^(y2|total_loss|d2|n2)$' --emit json 2>&1 >%t.json | FileCheck %s --check-prefix=END
# END: warning: --cut-at '^(y2|total_loss|d2|n2)$' matches nodes, but no edge from them to other nodes can be cut
class a100 x2 link=1TB/s,0ps
graph {
  in %x : f32[4]
  init %w1 : f32[4] = [1.0, 2.0, 3.0, 4.0]
  init %w2 : f32[4] = [1.0, 2.0, 3.0, 4.0]
  %y1 = Mul(%x, %w1)
  %a1 = Relu(%y1)
  %y2 = Mul(%a1, %w2)
  %total_loss = ReduceSum(%y2) {keepdims=0}
  %d2 = Mul(%a1, %total_loss)
  %n2 = Sub(%w2, %d2)
  %z1 = Mul(%d2, %a1)
  %d1 = Mul(%x, %z1)
  %n1 = Sub(%w1, %d1)
  out %total_loss, %n1, %n2
}
