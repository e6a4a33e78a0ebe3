# The default planner for makespans on the golden example of ten nodes: 18, where the published rules reach 19 to 21;
# where nothing fits, the plan that lacks least or the node that is too large is named; what each kind reached; nodes that are pinned and devices of two classes.
# RUN: %pcc %s -p portfolio-place --emit json -q | FileCheck %s --check-prefix=GOLDEN
# GOLDEN: "value_s": 1.8e-5
# RUN: sed 's/memory=20B/memory=6B/' %s > %t.pir
# RUN: not %pcc %t.pir --memory-model=sum -p portfolio-place -q 2>&1 | FileCheck %s --check-prefix=LACKS
# LACKS: error: portfolio-place: acc{{.}} needs 11 B and has 6 B (best-effort=true leaves the plan all the same)
# RUN: sed 's/memory=20B/memory=2B/' %s > %t.tiny.pir
# RUN: not %pcc %t.tiny.pir --memory-model=sum -p portfolio-place -q 2>&1 | FileCheck %s --check-prefix=TOO
# TOO: error: portfolio-place: 'n0' needs 3 B, and no device that can run it has more than 2 B (best-effort=true
# RUN: %pcc %s -p 'portfolio-place{effort=2}' | FileCheck %s --check-prefix=TABLE
# TABLE: what each kind of plan reached:
# TABLE-NEXT: {{^  one device  *28.00 us.*}}
# TABLE: {{^  heft-place .* us, the best of 2$}}
# TABLE: {{^  improved  *18.00 us$}}
# RUN: %pcc %s -p portfolio-place --pin '^n5$=acc1' --pin '^n2$=acc0' --emit ir -q | FileCheck %s --check-prefix=PINS
# PINS-DAG: "n5" = acc1
# PINS-DAG: "n2" = acc0
# RUN: sed 's/^class acc.*/&\nclass cpu x1 host/' %s > %t.cpu.pir
# RUN: sed 's/!time=\([0-9][0-9]*\)us/!time=[\1us,1us]/' %t.cpu.pir > %t.two.pir
# RUN: %pcc %t.two.pir -p portfolio-place --emit ir -q | FileCheck %s --check-prefix=CPU
# CPU: value=10us bound=6us
# RUN: sed 's/!time=\([0-9][0-9]*\)us/!time=[\1us,1us]/;s/^class acc.*/&\nclass cpu x0 host/;s/time=.6us,1us. !own=1B/time=[never,1us] !own=1B/' %s > %t.none.pir
# RUN: not %pcc %t.none.pir -p portfolio-place -q 2>&1 | FileCheck %s --check-prefix=NOBODY
# NOBODY: error: portfolio-place: no device can run 'n3'
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
