# Loads without what parts cost are as low as any plan's, but the most loaded device has nodes of both passes, and plans
# may have none such: the claim says what it has compared.
# RUN: %pcc %s -p 'dp-place{max-states=0}' -q --emit=ir | FileCheck %s
# CHECK: status=feasible value=96ps bound=92ps {{.*}} argument="no plan takes less without what parts cost: what devices
# RUN: sed 's/part_cost=20ps/part_cost=0ps/' %s > %t.pir
# RUN: %pcc %t.pir -p 'dp-place{max-states=0}' -q --emit=ir | FileCheck %s --check-prefix=FREE
# FREE: status=optimal {{.*}} argument="no plan takes less: what devices
cluster overlap=sum schedule=pipedream part_cost=20ps
class acc x2 link=10TB/s,0ps
graph {
  %v0 = profile:op() : f32[65] name="n0" !bytes=1B !elems=65 !own=0B !time=10ps
  %v1 = profile:op(%v0) : f32[65] name="n1" !bytes=4B !elems=65 !own=0B !time=5ps
  %v2 = profile:op(%v1, %v0) : f32[65] name="n2" !bytes=4B !elems=65 !own=0B !time=60ps
  %v3 = profile:op(%v1) : f32[65] name="n3" !bytes=1B !elems=65 !own=0B !time=60ps !backward
}
