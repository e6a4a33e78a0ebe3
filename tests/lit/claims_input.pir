# A plan that comes with the input says what held for the costs and devices that it was made for: its bound and
# "optimal" are left out where the plan takes another time here.
# RUN: %pcc %s -p dp-place -q -o %t.pir
# RUN: %pcc %t.pir 2>&1 | FileCheck %s --check-prefix=KEPT
# KEPT-NOT: warning
# KEPT: time per sample 21.00 us
# KEPT-NEXT: bound 21.00 us, {{.*}} optimal
# RUN: %pcc %t.pir --part-cost=5us 2>&1 | FileCheck %s
# RUN: sed 's/value=21us/value=26us/' %t.pir > %t.lie.pir
# RUN: %pcc %t.lie.pir 2>&1 | FileCheck %s --check-prefix=LIE
# RUN: sed 's/bound=21us bound_all=21us/bound=20us bound_all=20us/' %t.pir > %t.low.pir
# RUN: %pcc %t.low.pir 2>&1 | FileCheck %s --check-prefix=LOW
# CHECK: warning: {{.*}}: its plan takes 26us here, not 21us: its bounds are left out [-Winvalid-plan]
# CHECK: time per sample 26.00 us
# CHECK-NEXT: no bound known: heuristic
# CHECK-NOT: optimal
# LIE: warning: {{.*}}: its plan takes 21us here, not 26us
# LIE: time per sample 21.00 us
# LIE-NEXT: no bound known: heuristic
# LOW: time per sample 21.00 us
# LOW-NEXT: no bound known: heuristic
class acc x2 link=1GB/s,1us
graph {
  %a = profile:op() : !xfer=1us !time=10us
  %b = profile:op(%a) : !xfer=1us !time=10us
  %c = profile:op(%b) : !xfer=1us !time=10us
}
