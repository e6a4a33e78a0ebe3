# Baechi's placements on the golden example of ten nodes (two devices).
# RUN: %pcc %s --memory-model=sum --contention=none --dispatch=fifo -p m-topo-place --emit ir -q | FileCheck %s --check-prefix=TOPO
# TOPO: plan "m-topo-place" objective=makespan status=feasible value=29us {{.*}} argument="m-TOPO; bound
# TOPO-NEXT: "n0" = acc0
# TOPO-NEXT: "n1" = acc0
# TOPO-NEXT: "n2" = acc0
# TOPO-NEXT: "n4" = acc0
# TOPO-NEXT: "n3" = acc0
# TOPO-NEXT: "n5" = acc0
# TOPO-NEXT: "n7" = acc1
# TOPO-NEXT: "n6" = acc1
# TOPO-NEXT: "n8" = acc1
# TOPO-NEXT: "n9" = acc1
# RUN: %pcc %s --memory-model=sum --contention=port --dispatch=fifo -p m-topo-place --emit ir -q | FileCheck %s --check-prefix=PORT
# PORT: value=31us
# What the memory holds, not a share: 20 of the 22 bytes.
# RUN: %pcc %s --memory-model=sum -p 'm-topo-place{fill=memory}' --emit ir -q | FileCheck %s --check-prefix=FILL
# FILL: "n6" = acc0
# FILL-NEXT: "n8" = acc1
# Too little room: an error that names the first node without it, or the device with least takes it.
# RUN: sed 's/memory=20B/memory=10B/' %s > %t.pir
# RUN: not %pcc %t.pir --memory-model=sum -p m-topo-place -q 2>&1 | FileCheck %s --check-prefix=ROOM
# ROOM: error: m-topo-place: 'n8' has no room on any device (best-effort=true puts it where least is used)
# RUN: %pcc %t.pir --memory-model=sum -p 'm-topo-place{best-effort=true}' --emit ir -q 2>&1 | FileCheck %s --check-prefix=EFFORT
# EFFORT: warning: m-topo-place: acc{{.}} needs
# EFFORT: status="over-memory" {{.*}} argument="m-TOPO, 2 without room
# A group takes all its room with its first node; the share has the largest group in it.
# RUN: sed '/^  .n[19]/s/$/ !color=1/' %s > %t.color.pir
# RUN: %pcc %t.color.pir --memory-model=sum -p m-topo-place --emit ir -q | FileCheck %s --check-prefix=GROUP
# GROUP: "n3" = acc0
# GROUP-NEXT: "n5" = acc0
# GROUP-NEXT: "n7" = acc1
# GROUP: "n9" = acc0
# m-ETF: 19, its published starts.
# RUN: %pcc %s --memory-model=sum --contention=none -p m-etf-place --emit ir -o %t.trace.json -q | FileCheck %s --check-prefix=ETF
# ETF: plan "m-etf-place" objective=makespan status=feasible value=19us {{.*}} argument="m-ETF; bound
# ETF-NEXT: "n0" = acc0
# ETF-NEXT: "n1" = acc1
# ETF-NEXT: "n2" = acc1
# ETF-NEXT: "n4" = acc0
# ETF-NEXT: "n3" = acc1
# ETF-NEXT: "n5" = acc0
# ETF-NEXT: "n6" = acc0
# ETF-NEXT: "n7" = acc1
# ETF-NEXT: "n8" = acc0
# ETF-NEXT: "n9" = acc0
# RUN: grep '"computing"' %t.trace.json | sed 's/"cat.*"tid"/"tid"/' | sort | FileCheck %s --check-prefix=STARTS
# STARTS: "n0", "tid": 1, "ts": 0, "dur": 4,
# STARTS: "n1", "tid": 2, "ts": 0, "dur": 1,
# STARTS: "n2", "tid": 2, "ts": 1, "dur": 4,
# STARTS: "n3", "tid": 2, "ts": 5, "dur": 6,
# STARTS: "n4", "tid": 1, "ts": 5, "dur": 1,
# STARTS: "n5", "tid": 1, "ts": 9, "dur": 1,
# STARTS: "n6", "tid": 1, "ts": 10, "dur": 6,
# STARTS: "n7", "tid": 2, "ts": 11, "dur": 2,
# STARTS: "n8", "tid": 1, "ts": 16, "dur": 2,
# STARTS: "n9", "tid": 1, "ts": 18, "dur": 1,
# RUN: not %pcc %t.pir --memory-model=sum -p m-etf-place -q 2>&1 | FileCheck %s --check-prefix=NOROOM
# NOROOM: error: m-etf-place: acc{{.}} needs 11 B and has 10 B (best-effort=true leaves the plan all the same)
# m-SCT by hand: favourites 1-2-5-6-8-9, 3-7 and 0-4; acc1 waits for n6 from 6 to 10.
# RUN: %pcc %s --memory-model=sum --contention=none -p m-sct-place --emit ir -q | FileCheck %s --check-prefix=SCT
# SCT: plan "m-sct-place" objective=makespan status=feasible value=19us {{.*}} argument="m-SCT; bound
# SCT-NEXT: "n0" = acc0
# SCT-NEXT: "n1" = acc1
# SCT-NEXT: "n2" = acc1
# SCT-NEXT: "n4" = acc0
# SCT-NEXT: "n5" = acc1
# SCT-NEXT: "n3" = acc0
# SCT-NEXT: "n6" = acc1
# SCT-NEXT: "n7" = acc0
# SCT-NEXT: "n8" = acc1
# SCT-NEXT: "n9" = acc1
# RUN: %pcc %s --memory-model=sum --contention=none -p 'm-sct-place{favourites=lp}' --emit ir -q > %t.lp 2>&1 || grep 'lp_solve (not built in) has no answer; favourites=clusters needs none' %t.lp
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
