# dp-place's plan lacks what its devices need at one time, and the cuts that fit have no copies: auto-place, which may have
# copies, goes on from these cuts.
# RUN: %pcc %s -p auto-place --replicate --emit ir -q | FileCheck %s
# CHECK: plan "auto-place" status=feasible
pcc 1
cluster memory_model=live
class acc x1 memory=105B link=1TB/s,1ps
class b1 x2 memory=210B link=1TB/s,1ps
graph {
  in %x : i8[10] !bytes=10B !elems=10
  %v0 = Relu(%x) : i8[10] name="n0" !bytes=10B !elems=10 !time=[20ps, 40ps] !own=10B
  %v1 = Relu(%x) : i8[20] name="n1" !bytes=20B !elems=20 !time=[20ps, 40ps] !own=20B
  %v2 = Relu(%v1) : i8[10] name="n2" !bytes=10B !elems=10 !time=[20ps, 40ps] !own=10B
  %v4 = Relu(%v0) : i8[5] name="n4" !bytes=5B !elems=5 !time=[50ps, 100ps] !own=5B
  %v5 = Relu(%v1) : i8[20] name="n5" !bytes=20B !elems=20 !time=[50ps, 100ps] !own=20B
  %v6 = Relu(%v4) : i8[5] name="n6" !bytes=5B !elems=5 !time=[10ps, 20ps] !own=5B
  %v7 = Relu(%v6) : i8[20] name="n7" !bytes=20B !elems=20 !time=[200ps, 400ps] !own=20B
  %v8 = Relu(%v7) : i8[40] name="n8" !bytes=40B !elems=40 !time=[5ps, 10ps] !own=40B
  out %v2, %v5, %v8
}
