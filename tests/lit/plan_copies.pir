# Copies of a stage are part of the plan in textual IR: read again, it takes the same and is as good.
# RUN: %pcc %s -p dp-place --replicate -q -o %t.pir
# RUN: FileCheck %s --check-prefix=TEXT < %t.pir
# RUN: %pcc %t.pir 2>&1 | FileCheck %s
# TEXT: plan "dp-place" {{.*}} copies=[2,0] {{.*}}
# CHECK-NOT: warning
# CHECK: acc0 to acc1 take turns with the parts of acc0
# CHECK: time per sample 10.00 us
# CHECK-NEXT: bound 10.00 us, {{.*}} optimal
# Beside another plan, its copies count, too.
# RUN: %pcc %s -p dp-place --replicate -q -o %t.json
# RUN: %pcc %s -p dp-place --replicate -q --compare %t.json | FileCheck %s --check-prefix=BESIDE
# BESIDE: 10.00 us {{.*}} dp-place
# BESIDE-NEXT: 10.00 us {{.*}}.json
# RUN: sed 's/copies=\[2,0\]/copies=[2]/' %t.pir > %t.few.pir
# RUN: not %pcc %t.few.pir 2>&1 | FileCheck %s --check-prefix=FEW
# FEW: error: {{.*}}: expected 2 numbers, one for each device, found 1
# RUN: sed 's/copies=\[2,0\]/copies=[3,0]/' %t.pir > %t.many.pir
# RUN: %pcc %t.many.pir -q 2>&1 | FileCheck %s --check-prefix=MANY
# MANY: warning: {{.*}} acc0 has 3 copies, and not as many idle devices of its class behind it
# Plan files have them, too.
# RUN: %pcc %s -p dp-place --replicate -q -o %t.json
# RUN: %pcc %s -p 'plan{from=%t.json}' 2>&1 | FileCheck %s
# RUN: sed 's/"copies": 2/"copies": 3/' %t.json > %t.more.json
# RUN: not %pcc %s -p 'plan{from=%t.more.json}' -q 2>&1 | FileCheck %s --check-prefix=MORE
# MORE: error: {{.*}}: 'acc0' has 3 copies: expected 1 to 2
class acc x2 link=1GB/s,1us
graph {
  %a = profile:op() : !xfer=1us !time=20us
}
