# Convex sets: v1 and v2 share a device, but no path leads from v0 over them to v3, so {v1, v2} and {v0, v3} are convex.
# RUN: %pcc %s -p 'ip-place{contiguous=convex}' 2>&1 | FileCheck %s
# CHECK: time per sample 600 ps
# CHECK-NEXT: bound 600 ps, gap 0.00 %: optimal
class "k0" x1
class "k1" x1
costs 2
graph {
  in %i0 : f32[100] !bytes=400B !xfer=0ps
  in %i1 : f32[100] !bytes=400B !xfer=600ps
  in %i2 : f32[100] !bytes=400B !xfer=0ps
  %v0 = Op0(%i2) : f32[100] !bytes=400B !xfer=0ps !time=[1200ps,0ps] !own=0B
  %v1 = Op1(%i1) : f32[100] !bytes=400B !xfer=0ps !time=[0ps,0ps] !own=0B !color=2
  %v2 = Op2(%v0,%i0) : f32[100] !bytes=400B !xfer=0ps !time=[0ps,0ps] !own=0B !color=2
  %v3 = Op3(%v1) : f32[100] !bytes=400B !xfer=0ps !time=[never,420ps] !own=0B
  out %v0
  out %v3
  out %v2
}
