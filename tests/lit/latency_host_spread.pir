# Where the fastest hosts have no room for all of their nodes, some go to other hosts: 5 ps, 20 ps on accelerators.
# RUN: %pcc %s --objective=latency --cpus=unbounded 2>&1 | FileCheck %s
# CHECK: latency 5 ps
# CHECK-NEXT: bound 5 ps, gap 0.00 %: optimal among contiguous plans
cluster overlap=sum schedule=pipedream part_cost=20ps
class acc x2 memory=4B link=1TB/s,0ps
class big x1 memory=9B link=2TB/s,0ps
class cpu x2 host memory=4B
class slow x2 host memory=3B
graph {
  %v0 = profile:op() : f32[65] name="n0" !bytes=4B !elems=65 !own=2B !time=[0ps,0ps,5ps,never]
  %v1 = profile:op() : f32[65] name="n1" !bytes=10B !elems=65 !own=2B !time=[3ps,0ps,3ps,6ps]
  %v2 = profile:op() : f32[65] name="n2" !bytes=10B !elems=65 !own=5B !time=[1ps,2ps,1ps,2ps]
  %v3 = profile:op() : f32[65] name="n3" !bytes=4B !elems=65 !own=0B !time=[0ps,0ps,0ps,4ps]
  out %v0, %v2, %v3
}
