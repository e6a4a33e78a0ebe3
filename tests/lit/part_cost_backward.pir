# A backward node that is ready early makes one part with the others of its device, where it could stand with the
# forward ones: then both passes would pay for two parts of acc0, and the plan 18 ps.
# RUN: %pcc %s -p dp-place 2>&1 | FileCheck %s
# CHECK: time per sample 17 ps
# CHECK-NEXT: bound 17 ps, gap 0.00 %: optimal among contiguous plans
cluster overlap=max schedule=pipedream part_cost=1ps
class acc x2 link=1TB/s,0ps
class cpu x1 host
graph {
  in %i0 : f32[65] !bytes=4B !elems=65
  %v0 = profile:op(%i0, %i0) : f32[65] name="n0" !bytes=4B !elems=65 !own=3B !time=[5ps,15ps] !color=1
  %v1 = profile:op(%v0, %v0) : f32[65] name="n1" !bytes=4B !elems=65 !own=0B !time=[never,5ps] !color=2
  %v2 = profile:op(%v0) : f32[65] name="n2" !bytes=4B !elems=65 !own=3B !time=[10ps,21ps] !color=1 !backward
  %v3 = profile:op(%v1, %v0) : f32[65] name="n3" !bytes=0B !elems=65 !own=2B !time=[0ps,10ps] !color=1 !backward
  out %v1, %v2, %v3
}
