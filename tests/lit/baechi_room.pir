# Nine bytes on two devices of five: Baechi's placers, which go breadth first, put a and c together and have no room for
# two of three bytes each; celeritas-place, which begins with the longest, has.
# RUN: %pcc %s -p celeritas-place --emit ir -q | FileCheck %s
# CHECK: status=optimal value=7us
# CHECK: "c" = acc0
# CHECK: "a" = acc1
# RUN: not %pcc %s -p m-topo-place -q 2>&1 | FileCheck %s --check-prefix=TOPO
# TOPO: error: m-topo-place: 'e' has no room on any device
# RUN: not %pcc %s -p m-etf-place -q 2>&1 | FileCheck %s --check-prefix=ETF
# ETF: error: m-etf-place: acc{{.}} needs {{.*}} and has 5 B
# RUN: not %pcc %s -p m-sct-place -q 2>&1 | FileCheck %s --check-prefix=SCT
# SCT: error: m-sct-place: acc{{.}} needs {{.*}} and has 5 B
# A pin takes its group with it, to where all of it can run.
# RUN: sed 's/acc x2/acc x1/;s/^graph/class other x1\ngraph/;s/!time=\(.*us\)/!time=[\1,1us] !color=1/;s/,1us\(.*=2B\)/,never\1/' %s > %t.pir
# RUN: not %pcc %t.pir --pin a=acc1 -p m-etf-place -q 2>&1 | FileCheck %s --check-prefix=PIN
# PIN: error: m-etf-place: 'a' is pinned to acc1, which cannot run 'c', which must be where it is
# RUN: not %pcc %t.pir --pin c=acc1 -p m-etf-place -q 2>&1 | FileCheck %s --check-prefix=ITSELF
# ITSELF: error: m-etf-place: 'c' is pinned to acc1, which cannot run it
cluster io_free objective=makespan network=direct contention=none memory_model=sum
class acc x2 memory=5B link=1TB/s,0ps
graph {
  %a = profile:op() : ? !time=3us !own=1B
  %b = profile:op() : ? !time=3us
  %c = profile:op() : ? !time=4us !own=2B
  %d = profile:op() : ? !time=1us !own=3B
  %e = profile:op() : ? !time=3us !own=3B
}
