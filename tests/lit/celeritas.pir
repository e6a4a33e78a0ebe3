# Celeritas' placements on the golden example of ten nodes (two devices): orders, Adjusting, Order-Place, too little
# room, nodes that must be together; fuse ranges of 3 nodes and 6 bytes, edges counted one by one.
# RUN: %pcc %s --memory-model=sum -p 'celeritas-place{range=3:mem=6B:cut=edge:contention=none}' --emit ir -q | FileCheck %s --check-prefix=ADJUST
# ADJUST: plan "celeritas-place" objective=makespan status=feasible value=20us bound=15us bound_all=15us argument="Adjusting of 5 clusters; bound: the longest way through the nodes" ordered {
# ADJUST-NEXT: "n1" = acc0
# ADJUST-NEXT: "n2" = acc0
# ADJUST-NEXT: "n5" = acc0
# ADJUST-NEXT: "n0" = acc0
# ADJUST-NEXT: "n4" = acc0
# ADJUST-NEXT: "n6" = acc0
# ADJUST-NEXT: "n3" = acc1
# ADJUST-NEXT: "n7" = acc1
# ADJUST-NEXT: "n8" = acc0
# ADJUST-NEXT: "n9" = acc0
# RUN: %pcc %s --memory-model=sum -p 'order-place{range=3:mem=6B:cut=edge}' --emit ir -q | FileCheck %s --check-prefix=ORDER
# ORDER: argument="Order-Place of 5 clusters
# ORDER: "n7" = acc0
# ORDER-NEXT: "n8" = acc1
# ORDER-NEXT: "n9" = acc1
# RUN: %pcc %s --memory-model=sum -p dfs-place --emit ir -q | FileCheck %s --check-prefix=DFS
# DFS: "n0" = acc0
# DFS-NEXT: "n1" = acc0
# DFS-NEXT: "n2" = acc0
# DFS-NEXT: "n3" = acc0
# DFS-NEXT: "n7" = acc0
# DFS-NEXT: "n5" = acc0
# DFS-NEXT: "n4" = acc0
# DFS-NEXT: "n6" = acc0
# DFS-NEXT: "n8" = acc1
# RUN: sed 's/memory=20B/memory=10B/' %s > %t.pir
# RUN: not %pcc %t.pir --memory-model=sum -p 'order-place{range=3:mem=6B:cut=edge}' -q 2>&1 | FileCheck %s --check-prefix=ROOM
# ROOM: error: order-place: acc{{.}} needs {{.*}} and has 10 B (best-effort=true leaves the plan all the same)
# RUN: %pcc %t.pir --memory-model=sum -p 'order-place{range=3:mem=6B:cut=edge:best-effort=true}' --emit ir -q 2>&1 | FileCheck %s --check-prefix=EFFORT
# EFFORT: warning: order-place: acc{{.}} needs
# EFFORT: status="over-memory" {{.*}} argument="Order-Place of 5 clusters, 1 without room
# RUN: sed 's/!time=6us !own=1B/!time=6us !own=1B !color=1/;s/!time=2us !own=3B$/!time=2us !own=3B !color=1/' %s > %t.color.pir
# RUN: %pcc %t.color.pir --memory-model=sum -p 'celeritas-place{range=3:mem=6B:cut=edge:contention=none}' --emit ir -q | FileCheck %s --check-prefix=COLOR
# COLOR: "n3" = [[WHERE:acc.]]
# COLOR: "n8" = [[WHERE]]
# RUN: not %pcc %s --objective=time-per-sample -p celeritas-place -q 2>&1 | FileCheck %s --check-prefix=SAMPLE
# SAMPLE: error: celeritas-place knows no time-per-sample; dpl-place, dp-place
# RUN: not %pcc %s --pin 'n3=acc1' -p dp-place -q 2>&1 | FileCheck %s --check-prefix=NONE
# NONE: error: dp-place knows no makespan; dfs-place, order-place, celeritas-place{{.*}} do
cluster io_free objective=makespan network=direct
class acc x2 memory=20B link=1TB/s,0ps
graph {
  %n0, %e0 = profile:op() : ?, ? !xfer=3us !time=4us !own=3B
  %n1, %e1, %e2, %e3 = profile:op() : ?, ? !xfer=3us, ? !xfer=1us, ? !xfer=4us !time=1us !own=3B
  %n2, %e4, %e5 = profile:op(%e1) : ?, ? !xfer=1us, ? !xfer=4us !time=4us !own=3B
  %n3, %e6 = profile:op(%e2, %e4) : ?, ? !xfer=4us !time=6us !own=1B
  %n4, %e7 = profile:op(%e0, %e3) : ?, ? !xfer=4us !time=1us !own=1B
  %n5, %e8 = profile:op(%e5) : ?, ? !xfer=1us !time=1us !own=2B
  %n6, %e9 = profile:op(%e7, %e8) : ?, ? !xfer=3us !time=6us !own=2B
  %n7, %e10 = profile:op(%e6) : ?, ? !xfer=3us !time=2us !own=3B
  %n8, %e11 = profile:op(%e9) : ?, ? !xfer=2us !time=2us !own=3B
  %n9 = profile:op(%e10, %e11) : ? !time=1us !own=1B
  out %n9
}
