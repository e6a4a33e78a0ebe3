# In a training graph a parameter and a state of its optimizer are no constants: the next step has other values.  What
# follows from other initializers is computed, and in a model for inference, without names of gradients, all is.
# RUN: %pcc %s -v -p fold-constants --emit ir 2>&1 | FileCheck %s
# RUN: sed 's/_grad//g; s/loss/y/g' %s > %t.pir
# RUN: %pcc %t.pir -v -p fold-constants --emit ir 2>&1 | FileCheck %s --check-prefix=ALL
# CHECK: note: fold-constants: 13 nodes are now 12: 1 were computed
# CHECK: init %w : f32[4,3]
# CHECK: init %m : f32[4,3]
# CHECK: init %bb : f32[]
# CHECK: %wt = Transpose(%w)
# CHECK: %mb = Mul(%m, %b)
# ALL: note: fold-constants: 13 nodes are now 10: 3 were computed
# ALL: init %mb : f32[4,3]
pcc 1
ir_version 9
opset ai.onnx 17
graph {
  in %x : f32[batch,4]
  in %t : f32[batch,3]
  in %lr : f32[]
  init %w : f32[4,3] = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
  init %m : f32[4,3] = [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]
  init %b : f32[] = [0.9]
  %y0 = MatMul(%x, %w) : f32[batch,3] name="mm"
  %d = Sub(%y0, %t) : f32[batch,3] name="sub"
  %sq = Mul(%d, %d) : f32[batch,3] name="sq"
  %loss = ReduceMean(%sq) {keepdims=0} : f32[] name="loss"
  %wt = Transpose(%w) {perm=[1, 0]} : f32[3,4] name="wt_grad"
  %dx = MatMul(%d, %wt) : f32[batch,4] name="dx_grad"
  %xt = Transpose(%x) {perm=[1, 0]} : f32[4,batch] name="xt_grad"
  %dw = MatMul(%xt, %d) : f32[4,3] name="dw_grad"
  %bb = Mul(%b, %b) : f32[] name="bb_grad"
  %mb = Mul(%m, %b) : f32[4,3] name="mb_grad"
  %m_new = Add(%mb, %dw) : f32[4,3] name="m_new_grad"
  %u = Mul(%m_new, %bb) : f32[4,3] name="u_grad"
  %w_new = Sub(%w, %u) : f32[4,3] name="w_new_grad"
  out %loss, %dx, %m_new, %w_new
}
