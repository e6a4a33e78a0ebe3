# What parts cost in a training graph: once for each pass that a device has nodes of, so one that is in a single pass
# pays less than one that is in both.  dp-place counts that, and proves its plan.
# RUN: %pcc %s -p dp-place 2>&1 | FileCheck %s
# RUN: %pcc %s -p auto-place 2>&1 | FileCheck %s
# CHECK: time per sample 37 ps
# CHECK-NEXT: bound 37 ps, gap 0.00 %: optimal among contiguous plans
cluster overlap=sum schedule=pipedream part_cost=20ps
class acc x2 link=10TB/s,0ps
class cpu x2 host
graph {
  in %i0 : f32[65] !bytes=0B !elems=65
  %v0 = profile:op() : f32[65] name="n0" !bytes=1B !elems=65 !own=0B !time=[0ps,5ps]
  %v1 = profile:op(%i0) : f32[65] name="n1" !bytes=1B !elems=65 !own=0B !time=[5ps,5ps]
  %v2 = profile:op(%v1) : f32[65] name="n2" !bytes=10B !elems=65 !own=0B !time=[10ps,10ps]
  %v3 = profile:op(%v0) : f32[65] name="n3" !bytes=4B !elems=65 !own=0B !time=[5ps,5ps] !backward
  %v4 = profile:op(%v2) : f32[65] name="n4" !bytes=1B !elems=65 !own=0B !time=[5ps,15ps] !backward
  %v5 = profile:op(%v2) : f32[65] name="n5" !bytes=4B !elems=65 !own=0B !time=[10ps,25ps] !backward
  %v6 = profile:op(%v4) : f32[65] name="n6" !bytes=4B !elems=65 !own=0B !time=[10ps,11ps] !backward
  out %v2, %v3, %v5
}
