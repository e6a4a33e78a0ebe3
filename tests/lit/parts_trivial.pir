# b and c take no time, but have nodes of both passes: whoever runs them runs a part for each, so they stay a vertex of
# their own, which another device takes.
# RUN: %pcc %s -p auto-place --part-cost=5us --io=free 2>&1 | FileCheck %s
# CHECK: time per sample 15.00 us
# CHECK-NEXT: bound 15.00 us, gap 0.00 %: optimal
class acc x2 link=1GB/s,0us
costs 1
graph {
  %a = x:Op() : f32[1] !xfer=0us !bytes=4B !elems=1 name="a" !time=[10us] !own=0B
  %b = x:Op(%a) : f32[1] !xfer=0us !bytes=4B !elems=1 name="b" !time=[0us] !own=0B !color=1
  %c = x:Op(%b) : f32[1] !xfer=0us !bytes=4B !elems=1 name="c" !time=[0us] !own=0B !color=1 !backward
  out %c
}
