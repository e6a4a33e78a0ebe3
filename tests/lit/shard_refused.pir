# What cannot be shared is refused, with the reason.
# RUN: sed 's/= MatMul/= profile:op/;s/^  out.*//' %s > %t.profile.pir
# RUN: not %pcc %t.profile.pir -p 'shard{ways=2}' 2>&1 | FileCheck %s --check-prefix=PROFILE
# PROFILE: is a profile: expected a model, whose operators say how they can be cut
# RUN: sed 's/MatMul(%x, %w)/& !color=1/' %s > %t.color.pir
# RUN: not %pcc %t.color.pir -p 'shard{ways=2}' 2>&1 | FileCheck %s --check-prefix=COLOR
# COLOR: error: shard: nodes of one colour must share a device: expected a model without colours
# RUN: sed 's/MatMul(%x, %w)/& !slot=1/' %s > %t.slot.pir
# RUN: not %pcc %t.slot.pir -p 'shard{ways=2}' 2>&1 | FileCheck %s --check-prefix=SLOT
# SLOT: error: shard: nodes have slots: expected a model without slots
# RUN: not %pcc %s -p 'shard{from=self}' 2>&1 | FileCheck %s --check-prefix=SELF
# SELF: error: shard{from=self}: {{.*}} has no sharding spec that cuts a tensor: pcc --annotate=ir11 -o FILE.onnx writes
# RUN: sed 's/MatMul(%x, %w)/& !shard="S2,512\/2 S0,512\/2 R"/' %s > %t.sums.pir
# RUN: not %pcc %t.sums.pir -p 'shard{from=self}' 2>&1 | FileCheck %s --check-prefix=NEVER
# NEVER: error: shard{from=self}: {{.*}}: node 'h' (MatMul): 2 devices cannot share it as its sharding specs say (S2,512/2 S0,512/2 R): 'x' is 'S2,512/2', expected R (or sums=any)
# RUN: %pcc %t.sums.pir -q -p 'shard{from=self:sums=any}' --emit ir | FileCheck %s --check-prefix=SUMS
# SUMS: Sum(
# RUN: sed 's/MatMul(%x, %w)/& !shard="? R S2,512\/2"/' %s > %t.odd.pir
# RUN: not %pcc %t.odd.pir -p 'shard{from=self}' 2>&1 | FileCheck %s --check-prefix=ODD
# ODD: error: shard{from=self}: {{.*}}: node 'h' (MatMul): 2 devices cannot share it as its sharding specs say (? R S2,512/2): 'x' is '?', several axes, uneven blocks, or pieces on groups of devices, expected R
# RUN: sed 's/MatMul(%x, %w)/& !shard="R S1,8\/65 -"/' %s > %t.ways.pir
# RUN: not %pcc %t.ways.pir -p 'shard{from=self}' 2>&1 | FileCheck %s --check-prefix=WAYS
# WAYS: error: shard{from=self}: {{.*}} has sharding specs for 65 devices: expected from 2 to 64
# Terms of a sum are no cut, even along an axis whose size is 1.
# RUN: sed 's/batch/1/;s/MatMul(%x, %w)/& !shard="- - S0\/2"/' %s > %t.one.pir
# RUN: not %pcc %t.one.pir -p 'shard{from=self:sums=any}' 2>&1 | FileCheck %s --check-prefix=ONE
# ONE: error: shard{from=self}: {{.*}}: node 'h' (MatMul): 2 devices cannot share it as its sharding specs say (- - S0/2): 'h' is 'S0/2', expected R, S2,512/2
# RUN: sed 's/MatMul(%x, %w)/& !shard="R S1,512\/2 R"/' %s > %t.against.pir
# RUN: not %pcc %t.against.pir -p 'shard{from=self}' 2>&1 | FileCheck %s --check-prefix=AGAINST
# AGAINST: specs say (R S1,512/2 R): 'h' is 'R', expected S2,512/2{{$}}
# RUN: sed 's/MatMul(%x, %w)/& !shard="@acc0 - S2,512\/2"/' %s > %t.alone.pir
# RUN: not %pcc %t.alone.pir -p 'shard{from=self}' 2>&1 | FileCheck %s --check-prefix=ALONE
# ALONE: error: shard{from=self}: {{.*}}: node 'h' (MatMul) is on 'acc0' alone by its sharding specs (@acc0 - S2,512/2), but its result 'h' is cut: expected '@acc0' or no word
# RUN: sed 's/MatMul(%x, %w)/& !shard="R S1,512\/2 S2,512\/2"/;s/MatMul(%h, %w)/& !shard="- - @acc7"/' %s > %t.gone.pir
# RUN: not %pcc %t.gone.pir -p 'shard{from=self}' 2>&1 | FileCheck %s --check-prefix=GONE
# GONE: error: shard{from=self}: {{.*}}.gone.pir: node 'y' (MatMul) is on 'acc7' alone by its sharding specs (- - @acc7), which is no device: expected one of acc0 to acc3
# RUN: sed 's/MatMul(%x, %w)/& !shard="R S1,128\/8 -"/' %s > %t.many.pir
# RUN: not %pcc %t.many.pir -p 'shard{from=self}' 2>&1 | FileCheck %s --check-prefix=MANY
# MANY: error: shard{from=self}: {{.*}}.many.pir has sharding specs for 8 devices, and of acc0 to acc3 no more than 4 are equal: expected as many devices as the specs have
# RUN: sed 's/MatMul(%[xh], %w)/RandomNormalLike(%x)/' %s > %t.once.pir
# RUN: not %pcc %t.once.pir -p 'shard{ways=2}' 2>&1 | FileCheck %s --check-prefix=ONCE
# ONCE: error: shard: no node of this model can be cut: the longest, 'y' (RandomNormalLike), runs whole, on one device
# RUN: sed 's/MatMul(%\([xh]\), %w)/Softmax(%\1) {axis=-1}/' %s > %t.rows.pir
# RUN: not %pcc %t.rows.pir -p 'shard{ways=2}' 2>&1 | FileCheck %s --check-prefix=ROWS
# ROWS: error: shard{ways=2}: no node can be cut 2 ways: the longest, 'h' (Softmax), makes [batch, sequence, 1024], but its operands, sizes that are not known, or what it computes do not allow it
# An axis is counted from the last, and a size is left to the model.
# RUN: sed 's/MatMul(%x, %w)/& !shard="R S-1\/2 S-1\/2"/' %s > %t.last.pir
# RUN: %pcc %t.last.pir -q -p 'shard{from=self}' --emit ir | FileCheck %s --check-prefix=LAST
# LAST: %"h@0" = MatMul(%x, %"w@0.slice1")
# RUN: %pcc %t.last.pir -q -p cost --emit ir | FileCheck %s --check-prefix=KEPT
# KEPT: %h = MatMul(%x, %w) {{.*}}!shard="R S-1/2 S-1/2"
# RUN: not %pcc %s -p dp-place --view=shards -o %t.dot 2>&1 | FileCheck %s --check-prefix=VIEW
# RUN: not %pcc %s -p dp-place --view=shards -o %t.svg 2>&1 | FileCheck %s --check-prefix=VIEW
# VIEW: error: {{[^ ]*}}.tmp.{{dot|svg}}: --view=shards shows how devices share nodes: expected the pass shard in -p, and that it cuts some
class acc x4 link=300GB/s,1us peak=[f32:1T] bandwidth=1TB/s
opset ai.onnx 17
graph {
  in %x : f32[batch,sequence,1024]
  in %w : f32[1024,1024]
  %h = MatMul(%x, %w)
  %y = MatMul(%h, %w)
  out %y
}
