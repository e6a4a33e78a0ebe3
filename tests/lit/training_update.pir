# Nodes with names of gradients make a training graph if an optimizer gives a weight a new value of its type, which
# need not be an output itself; not if that is another operator's, or of another size.
# RUN: %pcc %s -d 2xa100 -p contract,one-place --emit ir 2>&1 | FileCheck %s
# CHECK: note: contract: a training graph: 2 forward and 6 backward nodes
# CHECK: %z = {{.*}} !overhead=5us{{$}}
# CHECK: %d_grad = {{.*}} !backward
# RUN: sed 's/SgdOptimizer(/Sgd(/' %s > %t.other.pir
# RUN: %pcc %t.other.pir -d 2xa100 -p contract,one-place --emit ir 2>&1 | FileCheck %s --check-prefix=PLAIN
# RUN: sed 's/Optimizer(./&few_/' %s > %t.short.pir
# RUN: %pcc %t.short.pir -d 2xa100 -p contract,one-place --emit ir 2>&1 | FileCheck %s --check-prefix=PLAIN
# PLAIN-NOT: !backward
graph {
  in %x : f32[4]
  init %w : f32[4] = [1.0, 2.0, 3.0, 4.0]
  init %few_w : f32[3] = [1.0, 2.0, 3.0]
  %y = Mul(%x, %w) : f32[4]
  %z = Exp(%y) : f32[4]
  %a_grad = Mul(%z, %y) : f32[4] name="a_grad"
  %b_grad = Mul(%a_grad, %x) : f32[4] name="b_grad"
  %c_grad = Mul(%b_grad, %x) : f32[4] name="c_grad"
  %d_grad = Mul(%c_grad, %x) : f32[4] name="d_grad"
  %new = my:SgdOptimizer(%w, %d_grad) : f32[4]
  %last = Identity(%new) : f32[4]
  out %last
}
