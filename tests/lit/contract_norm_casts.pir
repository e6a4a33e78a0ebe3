# A norm is known through up to four casts between two of its nodes.
# RUN: %pcc %s -p 'contract{norm=true}' --print-ir-after=contract 2>&1 | FileCheck %s
# CHECK: level contract: 2 vertices
# CHECK-NEXT: {start}
# CHECK-NEXT: {mean, h1, h2, h3, h4, d, d2, var, ve, sd, n}
# RUN: sed 's/^  .h4 = Cast(\(.\)h3)/  \1h5 = Cast(\1h3) {to=1} : f32[1,8,1] !time=1us\n  \1h4 = Cast(\1h5)/' %s > %t.five.pir
# RUN: %pcc %t.five.pir -p 'contract{norm=true}' --print-ir-after=contract 2>&1 | FileCheck %s --check-prefix=FIVE
# FIVE: level contract: 9 vertices
class acc x2 link=1GB/s,1us
graph {
  init %k : f32[] = [0.5]
  init %two : f32[] = [2]
  init %ax : i64[1] = [2]
  in %x : f32[1,8,8]
  %start = Relu(%x) : f32[1,8,8] !time=9us
  %mean = ReduceMean(%start, %ax) : f32[1,8,1] !time=1us
  %h1 = Cast(%mean) {to=1} : f32[1,8,1] !time=1us
  %h2 = Cast(%h1) {to=1} : f32[1,8,1] !time=1us
  %h3 = Cast(%h2) {to=1} : f32[1,8,1] !time=1us
  %h4 = Cast(%h3) {to=1} : f32[1,8,1] !time=1us
  %d = Sub(%start, %h4) : f32[1,8,8] !time=1us
  %d2 = Pow(%d, %two) : f32[1,8,8] !time=1us
  %var = ReduceMean(%d2, %ax) : f32[1,8,1] !time=1us
  %ve = Add(%var, %k) : f32[1,8,1] !time=1us
  %sd = Sqrt(%ve) : f32[1,8,1] !time=1us
  %n = Div(%d, %sd) : f32[1,8,8] !time=1us
  out %n
}
