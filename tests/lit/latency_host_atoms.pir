# All numbers of nodes on hosts are the same, also where nodes must share a device.
# RUN: %pcc %s -d 1xa100,1xcpu --objective=latency | FileCheck %s
# CHECK: cpu0 {{.*}} 1 {{ *}}4 4.00
# CHECK: 0 subgraphs of accelerators, 4 nodes of hosts
# CHECK: 4 nodes of hosts, 'a' to 'b'
graph {
  in %x : f32[8]
  %a = Relu(%x)
  %b = my:foo(%a)
  %c = my:bar(%b)
  %d = Exp(%c)
  out %d
}
