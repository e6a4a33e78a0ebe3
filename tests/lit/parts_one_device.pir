# One plan, whose load is at the lower bound from the start, and whose parts take more than that: no move is tried, and
# the search ends all the same (the limit is against hanging).
# RUN: timeout 60 %pcc %s -p anneal-place --part-cost=5us --io=free 2>&1 | FileCheck %s
# CHECK: time per sample 12.00 us
# CHECK-NEXT: bound 7.000 us
class acc x1
costs 1
graph {
  %a = x:Op() : f32[1] !xfer=0us !bytes=4B !elems=1 name="a" !time=[1us] !own=0B
  %b = x:Op(%a) : f32[1] !xfer=0us !bytes=4B !elems=1 name="b" !time=[1us] !own=0B !backward
  out %b
}
