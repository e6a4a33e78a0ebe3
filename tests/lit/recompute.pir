# Forward nodes run once more before the backward nodes that read their results: by layers, and with results kept.
# RUN: %pcc %s -v -p recompute --emit ir 2>&1 | FileCheck %s
# e draws random numbers, so it must not run twice; u goes from layer to layer.
# CHECK: note: recompute: 4 nodes are made again; 1 more must not run twice, so their results are kept, the first those of '/h.0/e'
# CHECK: %loss = ReduceSum(%z)
# Layer 1 is made again first, from b, which goes from layer to layer; y_again just before what needs it.
# CHECK: %u_grad = Mul(%u, %loss)
# CHECK-NEXT: %z_grad = Mul(%z, %u_grad)
# CHECK-NEXT: %y_again = Exp(%b) {{.*}} name="/h.1/y_again" !backward !made !from="/h.1/y" !meta={"pcc.recomputes"="/h.1/y"}
# CHECK-NEXT: %y_grad = Mul(%y_again, %z_grad)
# Layer 0: of d and e only d comes again, and a for it.
# CHECK: %a_again = Exp(%x)
# CHECK-NEXT: %d_again = Add(%a_again, %e)
# CHECK-NEXT: %g_again = Exp(%d_again)
# CHECK-NEXT: %g_grad = Mul(%g_again, %y_grad)
# CHECK-NEXT: %d_grad = Mul(%d_again, %g_grad)
# CHECK-NEXT: %e_grad = Mul(%e, %d_grad)
# CHECK-NEXT: %a_grad = Mul(%a_again, %e_grad)
# CHECK-NEXT: %new = my:SgdOptimizer(%w, %a_grad)
# A second run finds nothing; nor does one that reads the result of the first from a file.
# RUN: %pcc %s -v -p recompute,recompute 2> %t.twice
# RUN: %pcc %s -q -p recompute -o %t.onnx && %pcc %t.onnx -v -p recompute 2>> %t.twice
# RUN: FileCheck %s --check-prefix=TWICE < %t.twice
# TWICE: note: recompute: 4 nodes are made again
# TWICE: note: recompute: 0 nodes are made again
# TWICE: note: recompute: 0 nodes are made again
# Chosen results are kept: all between them is made again, g from d.
# RUN: %pcc %s -v -p 'recompute{keep=/[dz]$}' --emit ir 2>&1 | FileCheck %s --check-prefix=KEEP
# KEEP: note: recompute: 6 nodes are made again; 2 more must not run twice
# KEEP: %u_grad = Mul(%u, %loss_again)
# KEEP: %g_again = Exp(%d)
# KEEP-NEXT: %b_again = Relu(%g_again)
# KEEP-NEXT: %y_again = Exp(%b_again)
# KEEP-NEXT: %y_grad = Mul(%y_again, %z_grad)
# KEEP-NEXT: %g_grad = Mul(%g_again, %y_grad)
# KEEP-NEXT: %d_grad = Mul(%d, %g_grad)
# KEEP: %a_again = Exp(%x)
# What cannot be, and what a workload is: its forward times are added to backward nodes of their colours.
# RUN: sed 's/_grad/_back/g; s/loss/sum/g' %s > %t.forward.pir
# RUN: printf 'class acc x1\ngraph {\n%%%%a = profile:op() : ? !time=2us\n}\n' > %t.plain.pir
# RUN: sed 's/ = profile.*us/& !color=1/; s/^}/%%b = profile:op(%%a) : ? !time=5us !color=1 !backward\n&/' %t.plain.pir > %t.work.pir
# RUN: not %pcc %s -q -p 'recompute{keep=(}' 2> %t.refused
# RUN: not %pcc %s -q -p 'recompute{keep=none}' 2>> %t.refused
# RUN: not %pcc %t.forward.pir -q -p recompute 2>> %t.refused
# RUN: not %pcc %t.plain.pir -q -p recompute 2>> %t.refused
# RUN: %pcc %t.work.pir -q -p one-place,recompute --emit ir >> %t.refused
# RUN: FileCheck %s --check-prefix=REFUSED < %t.refused
# REFUSED: error: recompute: keep='(': not a regular expression:
# REFUSED: error: recompute: keep='none' matches no node
# REFUSED: error: recompute: the model has no backward pass
# REFUSED: error: recompute: in a workload a colour class has forward nodes
# REFUSED: %a = profile:op(){{.*}} !time=2us
# REFUSED: %b = profile:op(%a){{.*}} !time=7us
# Without layers three nodes are a stretch: d goes from the first to the second, y from that to the third.
# RUN: sed 's,/h[.],/h,' %s > %t.flat.pir
# RUN: %pcc %t.flat.pir -q -p recompute --emit ir | FileCheck %s --check-prefix=FLAT
# FLAT: %u_grad = Mul(%u, %loss_again)
# FLAT: %y_grad = Mul(%y, %z_grad)
# FLAT-NEXT: %g_again = Exp(%d)
# FLAT-NEXT: %g_grad = Mul(%g_again, %y_grad)
# FLAT-NEXT: %d_grad = Mul(%d, %g_grad)
# FLAT-NEXT: %e_grad = Mul(%e, %d_grad)
# FLAT-NEXT: %a_again = Exp(%x)
pcc 1
ir_version 10
opset ai.onnx 17
opset my 1
graph {
  in %x : f32[4]
  init %w : f32[4] = [1.0, 2.0, 3.0, 4.0]
  %a = Exp(%x) : f32[4] name="/h.0/a"
  %e = Bernoulli(%a) {seed=1.0} : f32[4] name="/h.0/e"
  %d = Add(%a, %e) : f32[4] name="/h.0/d"
  %g = Exp(%d) : f32[4] name="/h.0/g"
  %b = Relu(%g) : f32[4] name="/h.0/b"
  %y = Exp(%b) : f32[4] name="/h.1/y"
  %u = my:Twist(%y) : f32[4] name="/h.1/u"
  %z = Add(%u, %w) : f32[4] name="/head"
  %loss = ReduceSum(%z) {keepdims=0} : f32[] name="/loss"
  %u_grad = Mul(%u, %loss) : f32[4] name="u_grad"
  %z_grad = Mul(%z, %u_grad) : f32[4] name="z_grad"
  %y_grad = Mul(%y, %z_grad) : f32[4] name="y_grad"
  %g_grad = Mul(%g, %y_grad) : f32[4] name="g_grad"
  %d_grad = Mul(%d, %g_grad) : f32[4] name="d_grad"
  %e_grad = Mul(%e, %d_grad) : f32[4] name="e_grad"
  %a_grad = Mul(%a, %e_grad) : f32[4] name="a_grad"
  %new = my:SgdOptimizer(%w, %a_grad) : f32[4] name="sgd"
  out %loss, %new
}
