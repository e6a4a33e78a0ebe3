# One sample alone: an accelerator that runs two subgraphs takes 3 us, one that runs all in one 4 us.
# RUN: %pcc %s -q --emit=json | FileCheck %s
# RUN: %pcc %s -q --emit=ir | FileCheck %s --check-prefix=IR
# RUN: %pcc %s -q --emit=json > %t.json && %pcc %s -p 'plan{from=%t.json}' -q --emit=ir | FileCheck %s --check-prefix=IR
# RUN: sed '1i ir_version 0' %s > %t.pir
# RUN: %pcc %t.pir -q --emit=json > %t2.json
# RUN: FileCheck %s --check-prefix=PAPER < %t2.json
# RUN: %pcc %t.pir -p 'plan{from=%t2.json}' -q --emit=ir | FileCheck %s --check-prefix=IR
# RUN: %pcc %s -q --replay 3 | FileCheck %s --check-prefix=REPLAY
# RUN: %pcc %s -p 'plan{from=%t.json}' --compare %t2.json 2>&1 | FileCheck %s --check-prefix=COMPARE
# COMPARE: 3.000 us {{.*}} plan
# COMPARE: 3.000 us {{.*}}2.json
# REPLAY: replay of 3 samples: {{.*}} % above the plan's 3.000 us
# REPLAY-NEXT: (ends at
# CHECK: "name": "latency"
# CHECK-NEXT: "value_s": 3e-6
# CHECK: "cpus": "list"
# CHECK-NEXT: "pieces": "exclusive"
# CHECK: "slots": [
# PAPER: "fpgas": [
# PAPER-NEXT: {"nodes": [1]},
# PAPER-NEXT: {"nodes": [2]}
# PAPER: "q": 2,
# PAPER-NEXT: "totalLatency": 0.003
# IR: plan {{.*}} objective=latency status={{.*}} value=3us
# IR-DAG: "a" = cpu0
# IR-DAG: "b" = acc0 slot=1
# IR-DAG: "c" = acc0 slot=2
cluster io_free
class acc x1
class cpu x1 host
graph {
  %a = profile:op() {id=0} : ? !xfer=0us !time=[1us,2us]
  %b = profile:op() {id=1} : ? !xfer=0us !time=[2us,5us]
  %c = profile:op(%a) {id=2} : ? !xfer=1us !time=[1us,4us]
}
plan "by hand" objective="latency" status=heuristic value=3us {
  "a" = cpu0
  "b" = acc0 slot=1
  "c" = acc0 slot=2
}
