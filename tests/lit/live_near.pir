# A plan that fits what devices need at one time is near a quicker plan that does not: dp-place's best plan takes 172 ps
# and lacks memory.  The planner run again with less memory finds 266 ps; cuts of orders, moved, 182 ps.
# RUN: %pcc %s -p dp-place --emit ir -q | FileCheck %s
# CHECK: plan "dp-place" status=feasible value=182ps bound=172ps scope=contiguous
# auto-place goes on from that plan.
# RUN: %pcc %s -p auto-place --emit ir -q | FileCheck %s --check-prefix=AUTO
# AUTO: plan "auto-place" status=feasible value=172ps
pcc 1
cluster memory_model=live
class acc x3 memory=159B link=1TB/s,5ps
class oth x1 memory=318B link=1TB/s,1ps
graph {
  in %x : i8[10] !bytes=10B !elems=10
  %n1 = Relu(%x) : i8[20] name="n1" !bytes=20B !elems=20 !time=[32ps, 32ps] !own=20B
  %n7 = Relu(%x) : i8[40] name="n7" !bytes=40B !elems=40 !time=[14ps, 14ps] !own=40B
  %n9 = Relu(%x) : i8[10] name="n9" !bytes=10B !elems=10 !time=[33ps, 33ps] !own=10B
  %n11 = Relu(%n9) : i8[20] name="n11" !bytes=20B !elems=20 !time=[52ps, 156ps] !own=20B
  %n12 = Sum(%n1, %n11) : i8[40] name="n12" !bytes=40B !elems=40 !time=[49ps, 49ps] !own=40B
  %n16 = Relu(%n12) : i8[20] name="n16" !bytes=20B !elems=20 !time=[60ps, 60ps] !own=20B
  %n21 = Relu(%n7) : i8[20] name="n21" !bytes=20B !elems=20 !time=[56ps, 56ps] !own=20B
  %n27 = Relu(%n21) : i8[5] name="n27" !bytes=5B !elems=5 !time=[38ps, 38ps] !own=5B
  %n29 = Sum(%n21, %n27, %n16) : i8[20] name="n29" !bytes=20B !elems=20 !time=[36ps, 108ps] !own=20B
  out %n29
}
