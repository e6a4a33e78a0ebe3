# A class of hosts that has no room for a node does not run it, however fast it is: n1 runs on the slower one.
# RUN: %pcc %s --objective=latency --cpus=unbounded 2>&1 | FileCheck %s
# CHECK-NOT: error
# CHECK: latency 15 ps
# CHECK-NEXT: bound
cluster overlap=sum schedule=pipedream part_cost=0ps
class acc x3 link=1TB/s,7ps
class cpu x1 host
class slow x1 host memory=2B
graph {
  %v0 = profile:op() : f32[65] name="n0" !bytes=10B !elems=65 !own=2B !time=[2ps,4ps,4ps]
  %v1 = profile:op(%v0) : f32[65] name="n1" !bytes=10B !elems=65 !own=5B !time=[never,11ps,3ps]
  %v2 = profile:op() : f32[65] name="n2" !bytes=4B !elems=65 !own=0B !time=[0ps,3ps,never]
  %v3 = profile:op() : f32[65] name="n3" !bytes=0B !elems=65 !own=3B !time=[0ps,5ps,5ps]
  out %v3
}
