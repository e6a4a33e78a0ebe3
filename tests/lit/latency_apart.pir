# Nodes of one colour with another one between them: together they need 8 bytes, but the one between may be elsewhere, where
# the hosts run single nodes or an accelerator several subgraphs.  latency-place does not look for that, and says no more.
# RUN: not %pcc %s --objective=latency 2>&1 | FileCheck %s
# CHECK: no contiguous plan was found that fits the memory of the devices (not proven)
# RUN: sed 's/ x1 host//' %s > %t.pir
# RUN: not %pcc %t.pir --objective=latency -p 'latency-place{q=2}' 2>&1 | FileCheck %s
# RUN: not %pcc %t.pir --objective=latency 2>&1 | FileCheck %s --check-prefix=ONE
# ONE: they need 8 B per device (proven): 'a' and 2 more nodes
# RUN: sed '/%b/s/own=4B/own=9B/' %s > %t2.pir
# RUN: not %pcc %t2.pir --objective=latency 2>&1 | FileCheck %s --check-prefix=LARGE
# LARGE: nothing below 9 B per device does (proven): node
# RUN: sed '/%b/s/time=.1us,9us/time=[1us,never/; /%c/s/time=.9us/time=[never/' %s > %t3.pir
# RUN: not %pcc %t3.pir --objective=latency 2>&1 | FileCheck %s --check-prefix=NOWHERE
# NOWHERE: no contiguous plan was found: no device can run all that lies between
# RUN: printf 'b=acc0\n.=cpu0\n' > %t.plan
# RUN: %pcc %s --objective=latency -p 'plan{from=%t.plan}' | FileCheck %s --check-prefix=PLAN
# PLAN: latency 3.000 us
class acc x1 memory=4B link=1TB/s,0us
class cpu x1 host memory=4B
costs 2
graph {
  %a = profile:op() : ? !time=[9us,1us] !color=1 !own=2B
  %b = profile:op(%a) : ? !time=[1us,9us] !own=4B
  %c = profile:op(%b) : ? !time=[9us,1us] !color=1 !own=2B
}
