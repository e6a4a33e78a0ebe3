# Pieces of which only the sizes are read need not be joined, however slow the link is: nodes in pieces are the least.
# RUN: %pcc %s --io=free --part-cost=0 -p 'shard{ways=2}' 2>/dev/null | FileCheck %s
# CHECK: sharded over 2 devices: 2 nodes in pieces, 1 whole on each, 0 on one; 0 tensors
# Where nothing can be cut, as many ways as pay are none.
# RUN: sed 's/4096,4096/3,1/' %s > %t.pir
# RUN: %pcc %t.pir -p shard 2>&1 | FileCheck %s --check-prefix=NONE
# NONE: note: shard: no node has an axis of known size that 2 devices, or a divisor of them, can share: nodes stay whole
# Nor on more devices than may share a node.
# RUN: sed 's/acc x2/acc x128/' %t.pir > %t.many.pir
# RUN: %pcc %t.many.pir -p shard,dfs-place 2>&1 | FileCheck %s --check-prefix=MANY
# MANY: note: shard: no node has an axis of known size that 128 devices, or a divisor of them, can share
cluster network=direct
class acc x2 link=1GB/s,1us peak=[f32:1T] bandwidth=1TB/s
opset ai.onnx 17
graph {
  in %x : f32[4096,4096]
  %a = Exp(%x)
  %b = Tanh(%a)
  %s = Shape(%b)
  out %s
}
