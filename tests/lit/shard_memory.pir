# A quantised weight counts in pieces where its readers take it in pieces: by halves 20.6 MiB of each device, whole 24.4 MiB.
# RUN: %pcc %s --io=free --part-cost=0 --dim batch=16 -p shard 2>&1 | FileCheck %s --check-prefix=PIECES
# PIECES-NOT: note: shard:
# PIECES: sharded over 2 devices: 2 nodes in pieces
# A batch that could be cut in the place of the weights takes less time, but then each device would hold 40 MiB of them.
# RUN: sed 's/batch,/16,/' %s > %t.fixed.pir
# RUN: %pcc %t.fixed.pir --io=free --part-cost=0 -p 'shard{ways=2}' 2>&1 | FileCheck %s --check-prefix=LIGHT
# RUN: %pcc %t.fixed.pir --io=free --part-cost=0 -p 'shard{ways=2}' --emit ir 2>&1 | FileCheck %s --check-prefix=COLUMNS
# LIGHT: does not fit one acc
# LIGHT: sharded over 2 devices: 2 nodes in pieces
# COLUMNS: DequantizeLinear(%"v@1.2048.0"
# Where there is room, the batch is cut.
# RUN: sed 's/=22MiB/=1GiB/' %t.fixed.pir > %t.room.pir
# RUN: %pcc %t.room.pir --io=free --part-cost=0 -p 'shard{ways=2}' --emit ir 2>&1 | FileCheck %s --check-prefix=ROWS
# ROWS: DequantizeLinear(%v, %s) : f32[1024,4096]
# Of two classes without room, the quicker one is offered, wherever it stands.
# RUN: sed 's/^class acc x2\(.*\)f32:1T\(.*\)=22MiB/class quick x2\1f32:1T\2=1MiB\nclass slow x2\1f32:500G\2=1MiB/' %s > %t.two.pir
# RUN: not %pcc %t.two.pir --io=free --part-cost=0 --dim batch=16 -p shard 2>&1 | FileCheck %s --check-prefix=TWO
# RUN: sed 's/^class acc x2\(.*\)f32:1T\(.*\)=22MiB/class slow x2\1f32:500G\2=1MiB\nclass quick x2\1f32:1T\2=1MiB/' %s > %t.too.pir
# RUN: not %pcc %t.too.pir --io=free --part-cost=0 --dim batch=16 -p shard 2>&1 | FileCheck %s --check-prefix=TWO
# TWO: note: shard: 2 ways take 136.8 us
cluster network=direct
class acc x2 link=300GB/s,1us peak=[f32:1T] bandwidth=10TB/s memory=22MiB
file 1 "model.onnx" size=8388608
opset ai.onnx 17
graph {
  in %x : f32[batch,1024]
  init %v : i8[1024,4096] = file 1 at 0 len 4194304
  init %u : i8[4096,1024] = file 1 at 4194304 len 4194304
  init %s : f32[] = [0.5]
  %vf = DequantizeLinear(%v, %s)
  %uf = DequantizeLinear(%u, %s)
  %h = MatMul(%x, %vf)
  %y = MatMul(%h, %uf)
  out %y
}
