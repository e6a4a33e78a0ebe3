# Which devices share nodes. A choice that does not fit them is not taken if a plan of whole nodes does: the first device
# would have the drawn matrix, too, which now is on another one.
# RUN: %pcc %s --io=free --part-cost=0 -p shard 2>&1 | FileCheck %s --check-prefix=FIT
# RUN: sed 's/memory=17MiB/memory=1GiB/' %s > %t.pir
# RUN: %pcc %t.pir --io=free --part-cost=0 -p shard 2>&1 | FileCheck %s --check-prefix=ROOM
# FIT-NOT: error
# FIT: note: shard: 2 ways take {{.*}}, the plan of whole nodes {{.*}}: nodes stay whole
# FIT-NOT: sharded over
# ROOM: sharded over 2 devices: 1 nodes in pieces, 0 whole on each, 1 on one
# More devices of a slower class change nothing, neither for as many ways as pay nor for a number of them.
# RUN: sed 's/^class acc/class slow x4 link=300GB\/s,1us peak=[f32:0.1T] bandwidth=1TB\/s\n&/' %t.pir > %t.slow.pir
# RUN: %pcc %t.slow.pir --io=free --part-cost=0 -p shard 2>&1 | FileCheck %s --check-prefix=FAST
# RUN: %pcc %t.slow.pir --io=free --part-cost=0 -p 'shard{ways=2}' 2>&1 | FileCheck %s --check-prefix=FAST
# RUN: sed 's/MatMul(%%x, %%v)/& !shard="R S1,512\/2 S1,512\/2"/' %t.slow.pir > %t.self.pir
# RUN: %pcc %t.self.pir --io=free --part-cost=0 -p 'shard{from=self}' 2>&1 | FileCheck %s --check-prefix=FAST
# FAST: 1.98x one acc
# FAST: sharded over 2 devices: 1 nodes in pieces, 0 whole on each, 1 on one
# A faster class whose memory has no room does not share them, neither for a number of ways nor for what was offered.
# RUN: sed 's/^class acc/class fast x2 link=300GB\/s,1us peak=[f32:2T] bandwidth=10TB\/s memory=3MiB\n&/' %t.pir > %t.full.pir
# RUN: %pcc %t.full.pir --io=free --part-cost=0 -p 'shard{ways=2}' 2>&1 | FileCheck %s --check-prefix=FULL
# RUN: sed '/Bernoulli/d; s/  %%y = .*/&\n  %%q = MatMul(%%x, %%p)\n  %%z = Softmax(%%q) {axis=-1}/' %t.full.pir > %t.offer.pir
# RUN: %pcc %t.offer.pir --io=free --part-cost=0 -p 'shard{gain=0.1}' 2>&1 | FileCheck %s --check-prefix=OFFER
# FULL: x one acc
# FULL: sharded over 2 devices: 1 nodes in pieces, 0 whole on each, 1 on one
# OFFER: note: shard: 2 ways take {{.*}}, the plan of whole nodes {{.*}} us{{$}}
# OFFER: x one acc
# OFFER: sharded over 2 devices
# Devices that share nodes exchange values more than once: subgraphs, one for each device, would wait for each other.
# RUN: %pcc %t.pir --objective=latency -p shard 2>&1 | FileCheck %s --check-prefix=LATENCY
# LATENCY: note: shard: devices that share nodes wait for each other more than once, so there is no latency by subgraphs: nodes stay whole
# LATENCY-NOT: error
# LATENCY: latency
cluster network=direct
class acc x2 link=300GB/s,1us peak=[f32:1T] bandwidth=10TB/s memory=17MiB
file 1 "model.onnx" size=12582912
opset ai.onnx 17
graph {
  in %x : f32[128,1024]
  init %v : f32[1024,1024] = file 1 at 0 len 4194304
  init %p : f32[1024,2048] = file 1 at 4194304 len 8388608
  %y = MatMul(%x, %v)
  %z = Bernoulli(%p) : f32[1024,2048]
  out %y
  out %z
}
