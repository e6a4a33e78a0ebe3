# What parts cost at least, in GPipe's passes: acc2 receives most of the forward pass and has none of its nodes, acc5
# of the backward pass; neither runs a part for it, so neither pass takes 5 us more than its largest load.
# RUN: %pcc %s -q -p dp-place --explain-bound --emit csv 2>&1 | FileCheck %s --check-prefix=ORDER
# ORDER: the devices of the plan, in the order in which samples pass them: acc0, acc1, acc3, acc4, acc2, acc5{{$}}
# RUN: %pcc %s -p dp-place --schedule=gpipe --part-cost=5us --io=free 2>&1 | FileCheck %s
# RUN: %pcc %s -p auto-place --schedule=gpipe --part-cost=5us --io=free 2>&1 | FileCheck %s
# CHECK: time per sample 40.00 us
# CHECK-NEXT: bound 40.00 us, gap 0.00 %: optimal among contiguous plans
class acc x6 memory=10B link=1GB/s,0us
costs 1
graph {
  %a = x:Op() : f32[1] !xfer=10us !bytes=4B !elems=1 name="a" !time=[1us] !own=8B
  %b = x:Op() : f32[1] !xfer=10us !bytes=4B !elems=1 name="b" !time=[1us] !own=8B
  %c = x:Op(%a, %b) : f32[1] !xfer=0us !bytes=4B !elems=1 name="c" !time=[1us] !own=8B !backward
  %d = x:Op() : f32[1] !xfer=10us !bytes=4B !elems=1 name="d" !time=[1us] !own=8B !backward
  %e = x:Op() : f32[1] !xfer=10us !bytes=4B !elems=1 name="e" !time=[1us] !own=8B !backward
  %f = x:Op(%d, %e) : f32[1] !xfer=0us !bytes=4B !elems=1 name="f" !time=[1us] !own=8B
  out %c
  out %f
}
