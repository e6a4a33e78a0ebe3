# Nodes are not gathered on a device where they would be parts of another pass, which cost something.
# RUN: %pcc %s -p dp-place --part-cost=5us 2>&1 | FileCheck %s
# CHECK: time per sample 22.10 us
class k0 x2  link=1GB/s,0us
class k1 x1  link=1GB/s,0us
costs 2
graph {
  %n1 = x:Op() : f32[100] !xfer=1us !bytes=400B !elems=100 name="n1" !time=[5us,1us] !own=8B !color=10
  %n2 = x:Op() : f32[100] !xfer=0us !bytes=400B !elems=100 name="n2" !time=[0us,0us] !own=1B !color=11
  %n3 = x:Op() : f32[100] !xfer=100ns !bytes=400B !elems=100 name="n3" !time=[5us,9us] !own=1B !color=12
  %n4 = x:Op(%n2) : f32[100] !xfer=0us !bytes=400B !elems=100 name="n4" !time=[5us,0us] !own=3B !backward
  %n5, %n5.1 = x:Op(%n1, %n2) : f32[100] !xfer=4us !bytes=400B !elems=100, f32[100] !xfer=1us !bytes=400B !elems=100 name="n5" !time=[1us,never] !own=4B !color=12 !backward
  %n6 = x:Op(%n3, %n4) : f32[100] !xfer=4us !bytes=400B !elems=100 name="n6" !time=[3us,0us] !own=1B !color=11 !backward
  %n7 = x:Op(%n5.1) : f32[100] !xfer=1us !bytes=400B !elems=100 name="n7" !time=[0us,3us] !own=8B !color=10 !backward
  out %n5
  out %n6
  out %n7
}
