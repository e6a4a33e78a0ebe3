# Without layers in names a second run finds the same stretches of the forward pass, though forward nodes that only
# copies replace are dead by then: it changes nothing.
# RUN: %pcc %s -v -p recompute,recompute 2>&1 | FileCheck %s
# CHECK: recompute: 14 nodes are made again
# CHECK: recompute: 0 nodes are made again
ir_version 10
opset ai.onnx 17
graph {
  in %x : f32[4]
  init %w : f32[4] = [1.0, 1.0, 1.0, 1.0]
  %a0 = Exp(%x) : f32[4] name="a0"
  %m0 = Sign(%a0) : f32[4] name="m0"
  %a1 = Exp(%a0) : f32[4] name="a1"
  %m1 = Sign(%a1) : f32[4] name="m1"
  %a2 = Exp(%a1) : f32[4] name="a2"
  %m2 = Sign(%a2) : f32[4] name="m2"
  %a3 = Exp(%a2) : f32[4] name="a3"
  %m3 = Sign(%a3) : f32[4] name="m3"
  %a4 = Exp(%a3) : f32[4] name="a4"
  %m4 = Sign(%a4) : f32[4] name="m4"
  %a5 = Exp(%a4) : f32[4] name="a5"
  %m5 = Sign(%a5) : f32[4] name="m5"
  %a6 = Exp(%a5) : f32[4] name="a6"
  %m6 = Sign(%a6) : f32[4] name="m6"
  %a7 = Exp(%a6) : f32[4] name="a7"
  %m7 = Sign(%a7) : f32[4] name="m7"
  %loss = ReduceSum(%a7) {keepdims=0} : f32[] name="loss"
  %g7 = Mul(%loss, %m7) : f32[4] name="g7_grad"
  %h7 = Mul(%g7, %a7) : f32[4] name="h7_grad"
  %g6 = Mul(%h7, %m6) : f32[4] name="g6_grad"
  %h6 = Mul(%g6, %a6) : f32[4] name="h6_grad"
  %g5 = Mul(%h6, %m5) : f32[4] name="g5_grad"
  %h5 = Mul(%g5, %a5) : f32[4] name="h5_grad"
  %g4 = Mul(%h5, %m4) : f32[4] name="g4_grad"
  %h4 = Mul(%g4, %a4) : f32[4] name="h4_grad"
  %g3 = Mul(%h4, %m3) : f32[4] name="g3_grad"
  %h3 = Mul(%g3, %a3) : f32[4] name="h3_grad"
  %g2 = Mul(%h3, %m2) : f32[4] name="g2_grad"
  %h2 = Mul(%g2, %a2) : f32[4] name="h2_grad"
  %g1 = Mul(%h2, %m1) : f32[4] name="g1_grad"
  %h1 = Mul(%g1, %a1) : f32[4] name="h1_grad"
  %g0 = Mul(%h1, %m0) : f32[4] name="g0_grad"
  %h0 = Mul(%g0, %a0) : f32[4] name="h0_grad"
  %u = Add(%w, %h0) : f32[4] name="u_grad"
  out %loss, %u
}
