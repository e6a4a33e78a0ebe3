# What is said of a plan's shape is about what runs: a subgraph for each accelerator, hosts node by node on either side of
# it; an accelerator whose nodes a path leaves and comes back to, cut into several; hosts alone; slots.
# RUN: printf 'b=acc0\n.=cpu0\n' > %t.one
# RUN: %pcc %s --objective=latency -p 'plan{from=%t.one:effort=0}' | FileCheck %s --check-prefix=ONE
# ONE: shape: contiguous subgraphs, 4 parts
# RUN: printf 'c=acc1\n.=acc0\n' > %t.cut
# RUN: %pcc %s --objective=latency -p 'plan{from=%t.cut:effort=0}' | FileCheck %s --check-prefix=CUT
# CUT: shape: not contiguous, 1 accelerator cut into 2 subgraphs, 3 parts
# RUN: %pcc %s --objective=latency --pieces=apart -p 'plan{from=%t.cut:effort=0}' | FileCheck %s --check-prefix=APART
# APART: shape: not contiguous, 1 accelerator cut into 2 subgraphs that may run at once, 3 parts
# RUN: printf '.=cpu0\n' > %t.hosts
# RUN: %pcc %s --objective=latency -p 'plan{from=%t.hosts:effort=0}' | FileCheck %s --check-prefix=HOSTS
# HOSTS: shape: no subgraphs, hosts alone,
# RUN: %pcc %s -p 'latency-place{q=2}' | FileCheck %s --check-prefix=SLOTS
# SLOTS: shape: contiguous subgraphs,
class a x2
class c host
graph {
  %a = profile:op() : ? !xfer=1us !time=[1us,8us]
  %b = profile:op(%a) : ? !xfer=1us !time=[1us,8us]
  %c = profile:op(%a) : ? !xfer=1us !time=[1us,8us]
  %d = profile:op(%b, %c) : ? !xfer=0us !time=[1us,8us]
}
