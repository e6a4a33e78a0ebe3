# As many ways as pay, where bounds do not say whether plans of whole nodes take less: three equal products on two devices
# take at least the time of one and a half, and two whole ones take longer than three halves.
# RUN: %pcc %s --io=free --part-cost=0 -p shard 2>&1 | FileCheck %s
# RUN: %pcc %s --io=free --part-cost=0 -p 'shard{gain=0.5}' 2>&1 | FileCheck %s --check-prefix=STAYS
# CHECK: note: shard: 2 ways take {{.*}}, the plan of whole nodes 536.9 us{{$}}
# CHECK: sharded over 2 devices: 3 nodes in pieces
# STAYS: note: shard: 2 ways take {{.*}}, one device alone 805.3 us: nodes stay whole
# STAYS-NOT: sharded over
# RUN: %pcc %s --io=free --part-cost=0 -p 'shard{gain=0.3}' 2>&1 | FileCheck %s --check-prefix=BETTER
# BETTER: note: shard: 2 ways take {{.*}}, the plan of whole nodes 536.9 us: nodes stay whole
# BETTER-NOT: sharded over
# A pass behind it may change nodes in the meantime, but must not copy those that shard would cut.
# RUN: sed 's/MatMul(%%x, %%v)/Relu(%%x)\n  %%x2 = Identity(%%y)\n  %%z = MatMul(%%x2, %%v)/; s/out %%y/out %%z/' %s > %t.identity.pir
# RUN: %pcc %t.identity.pir --io=free --part-cost=0 -p shard,drop-identity 2>&1 | FileCheck %s --check-prefix=DROPPED
# RUN: not %pcc %s --io=free --part-cost=0 -p shard,split-batch 2>&1 | FileCheck %s --check-prefix=COPIES
# RUN: not %pcc %s --io=free --part-cost=0 -p 'shard{ways=2},split-batch' 2>&1 | FileCheck %s --check-prefix=COPIES
# DROPPED: note: shard: 2 ways take {{.*}}, the plan of whole nodes {{.*}} us{{$}}
# DROPPED: sharded over 2 devices: 4 nodes in pieces, 0 whole on each
# COPIES: error: split-batch: the pass shard has chosen pieces for nodes that this pass replaces: expected split-batch before shard
# The plan of the last planner counts, not that of one before the pass or before the last one.
# RUN: %pcc %s --io=free --part-cost=0 --objective=makespan -p 'dfs-place,shard{gain=0.3},portfolio-place' 2>&1 | FileCheck %s --check-prefix=BETTER
# RUN: %pcc %s --io=free --part-cost=0 --objective=makespan -p 'shard{gain=0.3},dfs-place,portfolio-place' 2>&1 | FileCheck %s --check-prefix=BETTER
# Where no whole matrix fits a device, no plan of whole nodes is found, and nothing is wrong.
# RUN: sed 's/memory=1GiB/memory=4MB/; /%%b/d; /%%c/d' %s > %t.pir
# RUN: %pcc %t.pir --io=free --part-cost=0 -p 'shard{gain=0.9}' 2>&1 | FileCheck %s --check-prefix=FITS
# FITS-NOT: error
# FITS: note: portfolio-place: 'y' needs 4.500 MiB, and no device that can run it has more than 3.815 MiB
# FITS: note: shard: 2 ways take {{.*}}, no plan of whole nodes was found that fits
# FITS-NOT: error
# FITS: sharded over 2 devices: 1 nodes in pieces
# What else is wrong with a planner is an error.
# RUN: not %pcc %s --io=free --part-cost=0 -p 'shard,plan{from=%t.none.json}' 2>&1 | FileCheck %s --check-prefix=NONE
# NONE: error: {{.*}}.none.json: cannot open
cluster network=direct
class acc x2 link=300GB/s,1us peak=[f32:1T] bandwidth=10TB/s memory=1GiB
file 1 "model.onnx" size=12582912
opset ai.onnx 17
graph {
  in %x : f32[128,1024]
  init %v : f32[1024,1024] = file 1 at 0 len 4194304
  init %bw : f32[1024,1024] = file 1 at 4194304 len 4194304
  init %cw : f32[1024,1024] = file 1 at 8388608 len 4194304
  %y = MatMul(%x, %v)
  %b = MatMul(%x, %bw)
  %c = MatMul(%x, %cw)
  out %y
  out %b
  out %c
}
