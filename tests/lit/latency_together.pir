# Nodes of one colour, and what lies between them, go to the hosts together in the plans that are searched; with b on the
# accelerator it would take 3 us.  So the claim is not about all contiguous plans, and says so.
# RUN: %pcc %s 2>&1 --objective=latency | FileCheck %s
# RUN: %pcc %s 2>&1 --objective=latency -q --emit=json | FileCheck %s --check-prefix=JSON
# CHECK: latency 11.00 us
# CHECK-NEXT: bound 11.00 us, gap 0.00 %: optimal among contiguous plans that keep groups of
# JSON: "scope": "{{(contiguous-)?}}layers"
class acc x1 link=1TB/s,0us
class cpu x2 host
costs 2
graph {
  %a = profile:op() : ? !time=[9us,1us] !color=1
  %b = profile:op(%a) : ? !time=[1us,9us]
  %c = profile:op(%b) : ? !time=[9us,1us] !color=1
}
