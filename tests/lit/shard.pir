# Two devices compute each product together; the value is that of the plan; what cannot be is refused.
# RUN: %pcc %s --io=free --part-cost=0 -p 'shard{ways=2}' 2>/dev/null | FileCheck %s
# RUN: %pcc %s --io=free --part-cost=0 -q -p 'shard{ways=2}' --emit ir | FileCheck %s --check-prefix=IR
# RUN: %pcc %s --io=free --part-cost=0 -v -p 'shard{gain=0.8}' 2>&1 | FileCheck %s --check-prefix=STAYS
# RUN: sed 's/1024/2/g; s/len 4194304/len 16/; s/at 4194304/at 16/' %s > %t.pir
# RUN: not %pcc %t.pir --io=free --part-cost=0 -p 'shard{ways=3}' 2>&1 | FileCheck %s --check-prefix=THREE
# RUN: not %pcc %s --io=free --part-cost=0 -p 'shard{ways=5}' 2>&1 | FileCheck %s --check-prefix=FEW
# RUN: sed 's/acc x4/acc x1/' %s > %t.one.pir && not %pcc %t.one.pir -q -p shard 2>&1 | FileCheck %s --check-prefix=ONE
# RUN: not %pcc %s --io=free --part-cost=0 -p 'shard{ways=no}' 2>&1 | FileCheck %s --check-prefix=WORD
# RUN: not %pcc %s --io=free --part-cost=0 -p 'shard{ways=2}' --cut=few 2>&1 | FileCheck %s --check-prefix=CUT
# RUN: not %pcc %s --io=free --part-cost=0 -p 'shard{ways=2},shard{ways=2}' 2>&1 | FileCheck %s --check-prefix=TWICE
# RUN: sed 's/acc x4/acc x4 memory=6MB/' %s > %t.small.pir
# RUN: %pcc %t.small.pir --io=free --part-cost=0 -p 'shard{ways=2}' 2>/dev/null | FileCheck %s --check-prefix=SMALL
# TWICE: error: shard: nodes are in pieces already: expected shard once
# CHECK: 1.96x one acc ({{.*}} of makespan)
# SMALL: does not fit one acc (needs 9.500 MiB of 5.722 MiB): {{.*}} of makespan
# CHECK: sharded over 2 devices: 3 nodes in pieces, 0 whole on each, 0 on one; 2 tensors
# CHECK-NEXT: joined
# CHECK-NEXT: in lock step
# IR: %"w@1.512.0" : f32[1024,512]
# IR: %"h@0" = MatMul(%x, %"w@1.512.0")
# IR-NEXT: %"h@1" = MatMul(%x, %"w@1.512.1")
# IR-NEXT: %"r@0" = Relu(%"h@0")
# IR-NEXT: %"r@1" = Relu(%"h@1")
# IR-NEXT: %"r@0.gather" = Concat(%"r@0", %"r@1") {axis=2}
# IR-NEXT: %"r@1.gather" = Concat(%"r@0", %"r@1") {axis=2}
# IR-NEXT: %"y@0" = MatMul(%"r@0.gather", %"v@1.512.0")
# IR-NEXT: %"y@1" = MatMul(%"r@1.gather", %"v@1.512.1")
# IR-NEXT: %y = Concat(%"y@0", %"y@1") {axis=2}
# STAYS: note: shard: 4 ways take {{.*}}, one device alone {{.*}}: nodes stay whole
# THREE: error: shard{ways=3}: no axis of known size can be cut 3 ways: the longest node, 'h' (MatMul), makes [batch, sequence, 2], which can be cut by ways=2
# FEW: error: shard{ways=5}: the cluster has 4 equal devices of a class: expected as many as ways
# ONE: error: shard: there are no two equal devices that could share nodes: expected 2 accelerators of a class at least, as in -d 2xa100, or, without any, CPUs
# WORD: error: shard{ways=no}: expected auto, or a number from 2 to 64
# CUT: error: --cut=few: devices that share nodes would take turns
cluster network=direct
class acc x4 link=300GB/s,1us peak=[f32:1T] bandwidth=1TB/s
file 1 "model.onnx" size=8388608
opset ai.onnx 17
graph {
  in %x : f32[batch,sequence,1024]
  init %w : f32[1024,1024] = file 1 at 0 len 4194304
  init %v : f32[1024,1024] = file 1 at 4194304 len 4194304
  %h = MatMul(%x, %w)
  %r = Relu(%h)
  %y = MatMul(%r, %v)
  out %y
}
