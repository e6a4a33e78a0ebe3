# Baechi's co-placement and fusion, by hand.  Each node that one node reads goes with it: b, c, d and e are a group, and so
# are f and g; a has two readers, and stays alone.
# RUN: %pcc %s -p 'contract{coplace=true},m-etf-place' --emit ir 2>&1 | FileCheck %s
# CHECK: note: contract: 4 nodes stay with the one node that reads them
# CHECK: value=12us
# CHECK: "a" = acc0
# CHECK-NEXT: "b" = acc0
# CHECK-NEXT: "f" = acc1
# CHECK-NEXT: "c" = acc0
# CHECK-NEXT: "g" = acc1
# CHECK-NEXT: "d" = acc0
# CHECK-NEXT: "e" = acc0
# Fused: b and c go into d, d into e; f into g.  a and two vertices are left, which run without a pause.
# RUN: %pcc %s -v -p 'contract{coplace=true},m-etf-place{fuse=true}' --emit ir 2>&1 | FileCheck %s --check-prefix=FUSED
# FUSED: note: m-etf-place: 7 nodes fused to 3
# FUSED: value=12us
# FUSED: "a" = acc0
# FUSED-NEXT: "b" = acc0
# FUSED-NEXT: "c" = acc0
# FUSED-NEXT: "d" = acc0
# FUSED-NEXT: "e" = acc0
# FUSED-NEXT: "f" = acc1
# FUSED-NEXT: "g" = acc1
# RUN: %pcc %s -p 'contract{coplace=true},m-topo-place{fuse=true}' -q --emit ir | FileCheck %s --check-prefix=TOPO
# RUN: %pcc %s -p 'contract{coplace=true},m-sct-place{fuse=true}' -q --emit ir | FileCheck %s --check-prefix=TOPO
# TOPO: "b" = acc[[D:[01]]]
# TOPO-NEXT: "c" = acc[[D]]
# TOPO-NEXT: "d" = acc[[D]]
# TOPO-NEXT: "e" = acc[[D]]
# Within a group of one colour: p has two readers, and q is read outside, too; but nothing else enters q or r.  s has two
# edges in, from r and q; that from r is the only one to leave r.  So all are one vertex.
# RUN: sed -n 's/^#COLOUR //p' %s > %t.colour.pir
# RUN: %pcc %t.colour.pir -v -p 'm-etf-place{fuse=true}' --emit ir 2>&1 | FileCheck %s --check-prefix=COLOUR
# COLOUR: note: m-etf-place: 5 nodes fused to 2
#COLOUR cluster io_free objective=makespan network=direct contention=none
#COLOUR class acc x2 memory=1KiB link=1TB/s,0ps
#COLOUR graph {
#COLOUR   %p = profile:op() : ? !xfer=1us !time=1us !color=1
#COLOUR   %q = profile:op(%p) : ? !xfer=1us !time=1us !color=1
#COLOUR   %r = profile:op(%p) : ? !xfer=1us !time=1us !color=1
#COLOUR   %s = profile:op(%q, %r) : ? !xfer=1us !time=1us !color=1
#COLOUR   %t = profile:op(%q) : ? !xfer=1us !time=1us
#COLOUR }
# What would make a cycle stays apart: y is between u and x, which have a colour.
# RUN: sed -n 's/^#CYCLE //p' %s > %t.cycle.pir
# RUN: %pcc %t.cycle.pir -v -p 'm-etf-place{fuse=true}' --emit ir 2>&1 | FileCheck %s --check-prefix=CYCLE
# CYCLE: note: m-etf-place: 3 nodes fused to 3
#CYCLE cluster io_free objective=makespan network=direct contention=none
#CYCLE class acc x2 memory=1KiB link=1TB/s,0ps
#CYCLE graph {
#CYCLE   %u = profile:op() : ? !xfer=1us !time=1us !color=1
#CYCLE   %y = profile:op(%u) : ? !xfer=1us !time=1us
#CYCLE   %x = profile:op(%u, %y) : ? !xfer=1us !time=1us !color=1
#CYCLE }
# Bytes: i needs 30 and 5 beside, j 20 and 9, k 10; fused they need the 10 that leave and 9 beside, and fit a device
# of 20 as far as planners see; all added up (--memory-model=sum) they do not.
# RUN: sed -n 's/^#BYTES //p' %s > %t.bytes.pir
# RUN: %pcc %t.bytes.pir -p 'contract{coplace=true},m-topo-place{fuse=true:fill=memory:best-effort=true}' --memory-model=paper --emit ir 2>&1 | FileCheck %s --check-prefix=PAPER
# PAPER: argument="m-TOPO; bound
# RUN: sed 's/x2 memory=20B/x2 memory=18B/' %t.bytes.pir > %t.less.pir
# RUN: %pcc %t.less.pir -p 'contract{coplace=true},m-topo-place{fuse=true:fill=memory:best-effort=true}' --memory-model=paper --emit ir 2>&1 | FileCheck %s --check-prefix=LESS
# LESS: argument="m-TOPO, 1 without room; bound
# RUN: %pcc %t.bytes.pir -p 'contract{coplace=true},m-topo-place{fuse=true:fill=memory:best-effort=true}' --memory-model=sum --emit ir 2>&1 | FileCheck %s --check-prefix=SUM
# SUM: argument="m-TOPO, 1 without room; bound
#BYTES ir_version 10
#BYTES cluster io_free objective=makespan network=direct contention=none
#BYTES class acc x2 memory=20B link=1TB/s,0ps
#BYTES graph {
#BYTES   in %x : f32[1] !bytes=0B
#BYTES   %i = Neg(%x) : f32[1] !bytes=30B !own=35B !xfer=1us !time=1us
#BYTES   %j = Neg(%i) : f32[1] !bytes=20B !own=29B !xfer=1us !time=1us
#BYTES   %k = Neg(%j) : f32[1] !bytes=10B !own=10B !xfer=1us !time=1us
#BYTES   out %k
#BYTES }
cluster io_free objective=makespan network=direct contention=none memory_model=sum
class acc x2 memory=50B link=1TB/s,0ps
graph {
  %a = profile:op() : ? !xfer=1us !time=1us !own=1B
  %b = profile:op(%a) : ? !xfer=1us !time=3us
  %c = profile:op(%a) : ? !xfer=1us !time=4us !own=2B
  %f = profile:op(%a) : ? !xfer=1us !time=4us !own=2B
  %d = profile:op(%b, %c) : ? !xfer=1us !time=1us !own=3B
  %e = profile:op(%d) : ? !xfer=1us !time=3us !own=3B
  %g = profile:op(%f) : ? !xfer=1us !time=4us !own=2B
}
