# Two devices share two products: the first one by columns, the second one by rows. The bias is added by the first device alone;
# the terms are added up by one Sum, which is the Add of the residual at once.
# RUN: %pcc %s --io=free --part-cost=0 -p 'shard{ways=2:sums=any}' 2>/dev/null | FileCheck %s
# RUN: %pcc %s --io=free --part-cost=0 -q -p 'shard{ways=2:sums=any}' --emit ir | FileCheck %s --check-prefix=IR
# RUN: %pcc %s --io=free --part-cost=0 -p 'shard{ways=2:sums=integers}' 2>/dev/null | FileCheck %s --check-prefix=NONE
# Slow links: in two steps, each device adds up a piece.
# RUN: sed 's/link=300GB.s,1us/link=10GB\/s,1us/' %s > %t.pir
# RUN: %pcc %t.pir --io=free --part-cost=0 -q -p 'shard{ways=4:sums=any}' --emit ir | FileCheck %s --check-prefix=STEPS
# An axis that is no multiple: the last device has less of it. It can be the inner one of a product, too.
# RUN: sed 's/4096]/4093]/; s/4096,/4093,/; s/len 16777216/len 16764928/' %s > %t.odd.pir
# RUN: %pcc %t.odd.pir --io=free --part-cost=0 -q -p 'shard{ways=4:sums=any}' --emit ir | FileCheck %s --check-prefix=ODD
# ODD: init %"w@1.1024.2" : f32[1024,1024] = slice 1 [2048:3072] of
# ODD: init %"w@1.1024.3" : f32[1024,1021] = slice 1 [3072:4093] of
# ODD: init %"v@0.1024.3" : f32[1021,1024] = slice 0 [3072:4093] of
# ODD: %"h@3" = MatMul(%x, %"w@1.1024.3") : f32[batch,sequence,1021]
# CHECK: sharded over 2 devices: 5 nodes in pieces, 0 whole on each, 0 on one; 0 tensors
# CHECK-NEXT: joined, 0 B, 0 cut, and 1 added up over devices, 512.0 KiB
# IR: %"y@0" = MatMul(%"r@0", %"v@0.2048.0")
# IR-NEXT: %"y@1" = MatMul(%"r@1", %"v@0.2048.1")
# IR-NEXT: %"c@0" = Add(%"y@0", %b)
# IR-NEXT: %z = Sum(%x, %"c@0", %"y@1")
# IR-NEXT: out %z
# NONE: sharded over 2 devices
# NONE: joined, {{.*}} 1 cut, and 0 added up over devices, 0 B
# STEPS: %"{{.@0.scatter2}}", %"{{.@0.scatter2.1}}", %"{{.@0.scatter2.2}}", %"{{.@0.scatter2.3}}" = Split(%"{{.@0}}") {axis=2}
# STEPS: %"{{.@3}}.sum2" = Sum(%"{{.}}@0.scatter2.3", %"{{.}}@1.scatter2.3", %"{{.}}@2.scatter2.3", %"{{.}}@3.scatter2.3")
# STEPS: Concat(
# A pinned reader may be the only one that adds terms up, on a device that is not the first.
# RUN: %pcc %s --io=free --part-cost=0 --pin '^[cz]$=acc1' -p 'shard{ways=2:sums=any:number=1}' 2>/dev/null | FileCheck %s --check-prefix=PIN
# PIN: --pin); 0 tensors joined, 0 B, 1 cut, and 2 added up over devices, 2.500 MiB
cluster network=direct
class acc x4 link=300GB/s,1us peak=[f32:1T] bandwidth=1TB/s
file 1 "model.onnx" size=33558528
opset ai.onnx 17
graph {
  in %x : f32[batch,sequence,1024]
  init %w : f32[1024,4096] = file 1 at 0 len 16777216
  init %v : f32[4096,1024] = file 1 at 16777216 len 16777216
  init %b : f32[1024] = file 1 at 33554432 len 4096
  %h = MatMul(%x, %w)
  %r = Relu(%h)
  %y = MatMul(%r, %v)
  %c = Add(%y, %b)
  %z = Add(%x, %c)
  out %z
}
