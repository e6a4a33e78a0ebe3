# A pinned node is on its device alone; where it stands in the choice is told, and what reads it gets its result there.
# RUN: %pcc %s --io=free --part-cost=0 --pin r=acc1 -p 'shard{ways=2}' 2>/dev/null | FileCheck %s
# RUN: %pcc %s --io=free --part-cost=0 -q --pin '^r$=acc3' -p 'shard{ways=2}' --emit ir | FileCheck %s --check-prefix=OTHER
# RUN: %pcc %s --io=free --part-cost=0 --pin none=acc1 -p shard 2>&1 | FileCheck %s --check-prefix=NONE
# CHECK: sharded over 2 devices: 2 nodes in pieces, 0 whole on each, 1 on one (1 by
# CHECK-NEXT: --pin)
# OTHER: %"h@2.gather" = Concat(%"h@0", %"h@1") {axis=2} {{.*}}!device=acc3
# OTHER-NEXT: %r = Relu(%"h@2.gather") {{.*}}!device=acc3
# OTHER-NEXT: %"y@0" = MatMul(%r, %"v@1.512.0") {{.*}}!device=acc0
# OTHER-NEXT: %"y@1" = MatMul(%r, %"v@1.512.1") {{.*}}!device=acc1
# Sharding specs may name a device that does not share nodes.
# RUN: sed 's/MatMul(%x, %w)/& !shard="R S1,512\/2 S2,512\/2"/;s/Relu(%h)/& !shard="@acc3 @acc3"/' %s > %t.self.pir
# RUN: %pcc %t.self.pir --io=free --part-cost=0 -q -p 'shard{from=self}' --emit ir | FileCheck %s --check-prefix=OTHER
# NONE: warning: --pin 'none=acc1' matches no node that is placed
# NONE-NOT: warning: --pin
# NONE: sharded over 4 devices
# An axis that is too short for pieces that differ by one, and what padding it would give.
# RUN: sed 's/%w : f32.1024,1024. = .*/%w : f32[1024,9]/;s/init %w/in %w/;s/%v : f32.1024,1024. = .*/%v : f32[9,1024]/;s/init %v/in %v/' %s > %t.pir
# RUN: %pcc %t.pir --io=free --part-cost=0 -p 'shard{ways=4}' 2>/dev/null | FileCheck %s --check-prefix=PAD
# PAD: memory of each {{.*}}, of one device alone
# PAD: an axis of 9 is whole, in 'h' (MatMul) and 1 more: 4 does not divide it; padded
# PAD-NEXT: to 12 it would save at most
# The original graph in its colours.
# RUN: %pcc %s -q --io=free --part-cost=0 --pin '^r$=acc3' -p 'shard{ways=2}' --view=shards -o %t.dot
# RUN: FileCheck %s --check-prefix=DOT < %t.dot
# DOT: label="2 devices share nodes: S(axis, run) is cut
# DOT: n0 [fillcolor="#{{.*}}" label="MatMul\nS(2,512)" tooltip="h"]
# DOT: n1 [fillcolor="#f2f2f2" style="filled,dashed" label="Relu\non acc3 alone" tooltip="r"]
# DOT: n2 [fillcolor="#{{.*}}" label="MatMul\nS(2,512)" tooltip="y"]
# DOT: n0 -> n1 [label=""]
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
