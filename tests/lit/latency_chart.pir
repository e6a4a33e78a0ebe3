# The chart and the trace of one sample of training: an accelerator runs its forward subgraphs by slot, then the backward
# ones the other way, each with its transfers; the critical chain is told subgraph by subgraph.
# RUN: %pcc %s -q -o %t.trace.json && FileCheck %s --check-prefix=TRACE < %t.trace.json
# RUN: %pcc %s -q -o %t.gantt.svg && FileCheck %s --check-prefix=SVG < %t.gantt.svg
# RUN: %pcc %s | FileCheck %s --check-prefix=CHAIN
# TRACE: "subgraph 1 compute"
# TRACE: "subgraph 1 send"
# TRACE: "subgraph 2 receive"
# TRACE: "subgraph 2, backward compute"
# TRACE: "subgraph 1, backward compute"
# SVG: one sample on 2 devices, latency 15.00 us
# SVG: pieces by slots; 4 subgraphs of accelerators, 1 node of hosts; 5 of these critical
# SVG: forward
# SVG: backward
# SVG: subgraph 1 of acc0 ('a'): {{.*}}<rect x="56.00" y="114.0" width="138.67"
# SVG-NEXT: <rect x="125.33" y="114.0" width="69.33" height="32.0" class="p"/>
# SVG: subgraph 2 of acc0 ('b'): {{.*}}<rect x="333.33" y="114.0" width="208.00"
# SVG-NEXT: <rect x="333.33" y="114.0" width="69.33" height="32.0" class="p"/>
# SVG-NEXT: <rect x="472.00" y="114.0" width="69.33" height="32.0" class="p"/>
# CHAIN: waiting         in  computing        out
# CHAIN: 0 ps       0 ps   1.000 us   1.000 us  subgraph 1 of acc0 ('a')
# CHAIN: 0 ps       0 ps   2.000 us       0 ps  node 'h' on a host
# CHAIN: 0 ps   1.000 us   1.000 us   1.000 us  subgraph 2 of acc0 ('b')
# CHAIN: 0 ps   1.000 us   2.000 us   1.000 us  backward subgraph 2 of acc0 ('gb')
# CHAIN: 0 ps   1.000 us   3.000 us       0 ps  backward subgraph 1 of acc0 ('ga')
# CHAIN: as 5 parts, each of which waits for all that it reads: 15.00 us
class acc x1
class cpu x1 host
graph {
  %a = profile:op() : ? !xfer=1us !time=[1us,9us] !color=1
  %h = profile:op(%a) : ? !xfer=1us !time=[9us,2us]
  %b = profile:op(%h) : ? !xfer=1us !time=[1us,9us] !color=2
  %gb = profile:op(%b) : ? !xfer=1us !time=[2us,9us] !color=2 !backward
  %ga = profile:op(%gb) : ? !xfer=1us !time=[3us,9us] !color=1 !backward
}
plan "by hand" objective="latency" status=heuristic value=15us {
  a=acc0 slot=1
  h=cpu0
  b=acc0 slot=2
  gb=acc0 slot=2
  ga=acc0 slot=1
}
