# All numbers of nodes on hosts are the same, also where nodes must share a device.
# RUN: %pcc %s -d 1xa100,1xcpu --objective=latency | FileCheck %s
# CHECK: cpu0 {{.*}} 1 {{ *}}4 4.00
# CHECK: 0 subgraphs of accelerators, 4 nodes of hosts
# CHECK: 4 nodes of hosts, 'a' to 'b'
# RUN: %pcc %s -d 1xa100,1xcpu --objective=latency -q -o %t.gantt.svg && FileCheck %s --check-prefix=SVG < %t.gantt.svg
# SVG: 0 subgraphs of accelerators, 4 nodes of hosts
# RUN: sed '/Relu/d; s/my:foo(%%a)/my:foo(%%x)/' %s > %t.pir
# RUN: %pcc %t.pir -d 1xa100,1xcpu --objective=latency | FileCheck %s --check-prefix=ONE
# ONE: nodes 'b' and 2 more on a host
graph {
  in %x : f32[8]
  %a = Relu(%x)
  %b = my:foo(%a)
  %c = my:bar(%b)
  %d = Exp(%c)
  out %d
}
