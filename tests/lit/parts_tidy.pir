# Parts are moved to other devices only where the plan takes no longer with what they cost.
# RUN: %pcc %s -p 'auto-place{gain=0}' --overlap=max --part-cost=5ms 2>&1 | FileCheck %s
# CHECK: time per sample 12.00 ms
class k0 x2  link=1GB/s,0us
class k1 x2 host
costs 2
graph {
  in %x0 : f32[100] !xfer=0ps !bytes=400B
  in %x1 : f32[100] !xfer=0ps !bytes=400B
  %n1 = x:Op(%x0, %x1) : f32[100] !xfer=1ms !bytes=400B !elems=100 name="n1" !time=[never,4ms] !own=3B
  %n2 = x:Op(%n1) : f32[100] !xfer=1ms !bytes=400B !elems=100 name="n2" !time=[1000000003ps,never] !own=3B !color=2
  %n3 = x:Op(%n2) : f32[100] !xfer=200000000ps !bytes=400B !elems=100 name="n3" !time=[10ms,4000000003ps] !own=3B
  %n4, %n4.1 = x:Op(%n1, %n3) : f32[100] !xfer=4ms !bytes=400B !elems=100, f32[100] !xfer=0ps !bytes=400B !elems=100 name="n4" !time=[1000000002ps,15000000006ps] !own=1B !color=2
  %n5 = x:Op(%n1, %n4, %x0) : f32[100] !xfer=0ps !bytes=400B !elems=100 name="n5" !time=[1000000007ps,10000000006ps] !own=8B !color=1
  out %n4.1
  out %n5
}
