# Times from what kernels reach: whole waves of tiles, a bias in the kernel of its product, rows that are read again; the
# textual IR keeps the facts; with plain peaks nothing of this counts.
# RUN: %pcc %s -q -p one-place --emit csv | FileCheck %s
# RUN: %pcc %s -q -p one-place --emit=ir | FileCheck %s --check-prefix=IR
# RUN: %pcc %s -q -p one-place --efficiency=0.5 --emit csv | FileCheck %s --check-prefix=HALF
# RUN: sed 's/kernels=.*//' %s > %t.plain.pir
# RUN: %pcc %t.plain.pir -q -p one-place --emit csv | FileCheck %s --check-prefix=PLAIN
# RUN: printf 'name,time\nm,7ns\n' > %t.csv
# RUN: %pcc %s -q -p one-place --costs=%t.csv --emit csv | FileCheck %s --check-prefix=GIVEN
# RUN: sed 's/tile:64/tile:65/' %s > %t.bad.pir
# RUN: not %pcc %t.bad.pir 2>&1 | FileCheck %s --check-prefix=TILE
# RUN: sed 's/units:4, //' %s > %t.bad.pir
# RUN: not %pcc %t.bad.pir 2>&1 | FileCheck %s --check-prefix=UNITS
# One tile of 2 x 16 for a sum of 8: 4 * 2 * (2 * 16 + 8 * (2 + 16)) * 8 * 8 / 9 ps, and the overhead.
# CHECK: m,MatMul,512,704,128,11013
# CHECK: b,Add,32,320,128,0
# CHECK: twice,Add,32,320,128,1320
# HALF: m,MatMul,512,704,128,21026
# PLAIN: m,MatMul,512,704,128,1704
# PLAIN: b,Add,32,320,128,1320
# Three products, a tile each (one wave), at half the rate; grouped convolutions at a quarter; packed weights are one.
# CHECK: several,MatMul,{{.*}},190328
# CHECK: grouped,Conv,{{.*}},38320
# CHECK: packed,MatMulNBits,{{.*}},204890
# GIVEN: m,MatMul,512,704,128,7000
# GIVEN: b,Add,32,320,128,1320
# IR: kernels=[units:4, tile:64, prologue:0, product:1, batched:0.5, convolution:0.25, stream:1, row:100, burst:0ps, warm:1]
# TILE: "tile" is the edge of a square, 64 or 128
# UNITS: "tile" needs "units", the number of multiprocessors
class acc x1 link=25GB/s,10us overhead=1ns bandwidth=1TB/s peak=[f32:1T] kernels=[units:4, tile:64, batched:0.5, convolution:0.25, row:100]
graph {
  in %x : f32[2,8]
  in %w : f32[8,16]
  in %w2 : f32[40,32]
  init %v : f32[16] = [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]
  %m = MatMul(%x, %w)
  %b = Add(%m, %v)
  %n = MatMul(%x, %w)
  %twice = Add(%n, %v)
  %other = Relu(%n)
  in %y : f32[3,40,8]
  in %z : f32[3,8,16]
  %several = MatMul(%y, %z)
  in %image : f32[1,6,8,8]
  in %kernel : f32[6,2,1,1]
  %grouped = Conv(%image, %kernel) {group=3}
  in %packed_weights : u8[16,1,16]
  in %scales : f32[16]
  %packed = com.microsoft:MatMulNBits(%w2, %packed_weights, %scales) {K=32, N=16, bits=4, block_size=32}
  out %several
  out %grouped
  out %packed
  out %b
  out %twice
  out %other
}
