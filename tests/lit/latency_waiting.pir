# Nodes of hosts that wait for one CPU wait at the same time: of three nodes of 3, 2 and 1 us, which run in this order and
# have their inputs from the start, some wait for 5 us, not for 3 + 5.
# RUN: printf '.=cpu0\n' > %t.one
# RUN: %pcc %s --objective=latency -p 'plan{from=%t.one:effort=0}' | FileCheck %s
# CHECK: waiting {{ *}}in {{ *}}computing {{ *}}out
# CHECK-NEXT: 5.000 us {{ *}}0 ps {{ *}}6.000 us {{ *}}0 ps {{ *}}3 nodes of hosts
# CHECK: latency 6.000 us
class acc x1
class cpu x1 host
graph {
  %a = profile:op() : ? !time=[9us,1us]
  %b = profile:op() : ? !time=[9us,2us]
  %c = profile:op() : ? !time=[9us,3us]
}
