# List schedules are of nodes, with groups as pins: c runs behind a on its device, and d on the other one.  With contract in
# the pipeline they are of its vertices: a and c, of one colour, are one, and d waits for both.
# RUN: %pcc %s -p m-etf-place --emit ir -q | FileCheck %s --check-prefix=NODES
# RUN: %pcc %s -p portfolio-place --emit ir -q | FileCheck %s --check-prefix=NODES
# NODES: value=7us
# RUN: %pcc %s -p contract,m-etf-place --emit ir -q | FileCheck %s --check-prefix=MERGED
# RUN: %pcc %s -p 'contract,m-etf-place{fuse=true}' --emit ir -q | FileCheck %s --check-prefix=MERGED
# RUN: %pcc %s -p contract,heft-place --emit ir -q | FileCheck %s --check-prefix=MERGED
# RUN: %pcc %s -p contract,celeritas-place --emit ir -q | FileCheck %s --check-prefix=MERGED
# RUN: %pcc %s -p contract,m-topo-place --emit ir -q | FileCheck %s --check-prefix=MERGED
# MERGED: value=1{{[01]}}us
# Groups that are there for list schedules of nodes, Baechi's co-placement, stay pins.
# RUN: %pcc %s -p 'contract{coplace=true},m-etf-place' --emit ir -q | FileCheck %s --check-prefix=ALONE
# RUN: %pcc %s -p 'contract{pins=true},m-etf-place' --emit ir -q | FileCheck %s --check-prefix=NODES
# ALONE: value=10us
# Classes that close a cycle of transfers are one vertex.
# RUN: sed -n 's/^#CYCLE //p' %s > %t.cycle.pir
# RUN: %pcc %t.cycle.pir -p contract,heft-place --emit ir -q | FileCheck %s --check-prefix=CYCLE
# CYCLE: "a" = acc[[D:[01]]]
# CYCLE-NEXT: "b" = acc[[D]]
# CYCLE-NEXT: "c" = acc[[D]]
#CYCLE cluster io_free objective=makespan network=direct contention=none memory_model=sum
#CYCLE class acc x2 memory=1KiB link=1TB/s,0ps
#CYCLE graph {
#CYCLE   %a = profile:op() : ? !xfer=0us !time=3us !own=1B !color=1
#CYCLE   %b = profile:op(%a) : ? !xfer=0us !time=3us !own=1B
#CYCLE   %c = profile:op(%b) : ? !xfer=0us !time=3us !own=1B !color=1
#CYCLE }
ir_version 0
cluster io_free objective=makespan network=direct contention=none memory_model=sum
class acc x2 memory=1KiB link=1TB/s,0ps
graph {
  %a = profile:op() : ? !xfer=1us !time=1us !own=1B !color=1
  %c = profile:op() : ? !xfer=1us !time=4us !own=1B !color=1
  %d = profile:op(%a) : ? !xfer=1us !time=5us !own=1B
}
