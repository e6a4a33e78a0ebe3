# A training graph is known by what it returns: a loss of one element, whatever else its name says, and new values of
# weights.  What the loss needs is forward.  All that read a weight stay together, with what leads to its new value
# alone; d2 leads to both.
# RUN: %pcc %s -d 2xa100 -p contract,one-place --emit ir 2>&1 | FileCheck %s
# CHECK: note: contract: a training graph: 3 forward and 4 backward nodes
# CHECK: %y1 = {{.*}} !color=1{{$}}
# CHECK-NEXT: %y2 = {{.*}} !color=2{{$}}
# CHECK-NEXT: %total_loss = {{.*}} !overhead=5us{{$}}
# CHECK-NEXT: %d2 = {{.*}} !overhead=5us !backward
# CHECK-NEXT: %n2 = {{.*}} !color=2 !backward
# CHECK-NEXT: %d1 = {{.*}} !color=1 !backward
# CHECK-NEXT: %n1 = {{.*}} !color=1 !backward
# Without a loss it is none.
# RUN: sed 's/total_loss/total/g' %s > %t.total.pir
# RUN: %pcc %t.total.pir -d 2xa100 -p contract,one-place --emit ir 2>&1 | FileCheck %s --check-prefix=PLAIN
# PLAIN-NOT: !backward
graph {
  in %x : f32[4]
  init %w1 : f32[4] = [1.0, 2.0, 3.0, 4.0]
  init %w2 : f32[4] = [1.0, 2.0, 3.0, 4.0]
  %y1 = Mul(%x, %w1)
  %y2 = Mul(%y1, %w2)
  %total_loss = ReduceSum(%y2) {keepdims=0}
  %d2 = Mul(%y1, %total_loss)
  %n2 = Sub(%w2, %d2)
  %d1 = Mul(%x, %d2)
  %n1 = Sub(%w1, %d1)
  out %total_loss, %n1, %n2
}
