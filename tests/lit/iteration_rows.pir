# Between two devices and one: the one joins the rows of the value that it gets, and cuts the gradient that it sends, an
# operator of 1 us that reads and writes it (2 us for 1 kB, 1 us for 500 B).  F0 6 us, F1 12 + 3, B1 8 + 2, B0 5.
# RUN: %pcc %s --slices=any --judge=iteration-time 2>&1 | FileCheck %s
# CHECK: iteration time 36.00 us
# Two devices each have no rows for several others; times that are given have no such cost.
# RUN: sed 's/\[2 ahead=1\]/[2,3 ahead=1]/' %s > %t.even.pir
# RUN: %pcc %t.even.pir --slices=any --judge=iteration-time 2>&1 | FileCheck %s --check-prefix=EVEN
# RUN: sed 's/ !overhead=2us//' %s > %t.given.pir
# RUN: %pcc %t.given.pir --slices=any --judge=iteration-time 2>&1 | FileCheck %s --check-prefix=GIVEN
# EVEN: iteration time 21.00 us
# GIVEN: iteration time 30.00 us
pcc 1
opset ai.onnx 20
cluster objective="iteration-time" micro_batches=1
class "acc" x4 overhead=1us bandwidth=1GB/s link=1TB/s,0ps
costs 1
graph {
  in %x : f32[4]
  %a = Relu(%x) : f32[250] !bytes=1000B !time=10us !overhead=2us name="a"
  %b = Relu(%a) : f32[250] !time=12us name="b"
  %c = Relu(%b) : f32[125] !bytes=500B !time=8us !backward name="c"
  %d = Relu(%c) : f32[4] !time=10us !backward name="d"
  out %d
}
plan "hand" objective="iteration-time" value=1us stages [0,1 ahead=1] [2 ahead=1] {
  "a" = acc0
  "b" = acc2
  "c" = acc2
  "d" = acc0
}
