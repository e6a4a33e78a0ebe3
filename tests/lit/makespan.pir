# Plans by makespan: the golden example of ten nodes, whose value is 20 in the plan's order and 22 by becoming ready;
# what a plan's files say of it, what contradicts them, and what is refused.
# RUN: %pcc %s --network=direct --emit json -q > %t.json
# RUN: FileCheck %s --check-prefix=JSON < %t.json
# JSON: "name": "makespan"
# JSON-NEXT: "value_s": 2e-5
# JSON: "network": "direct"
# JSON-NEXT: "contention": "port"
# JSON-NEXT: "dispatch": "plan"
# JSON-NEXT: "memory_model": "live"
# JSON: "ordered": true
# RUN: %pcc %s -p 'plan{from=%t.json}' | FileCheck %s --check-prefix=TABLE
# TABLE: network direct, contention port, dispatch plan, memory live
# TABLE-NEXT: 3 transfers
# TABLE-NEXT: critical chain, whose tasks set the makespan:
# TABLE-NEXT: 20.00 us  acc0: 8 nodes, n1 to n9
# TABLE-NEXT: as 5 parts, each of which waits for all that it reads: 20.00 us
# TABLE-NEXT: as 3, with --cut=few: 33.00 us
# TABLE-NEXT: makespan 20.00 us
# TABLE-NEXT: bound 15.00 us, gap 25.00 %: feasible
# RUN: %pcc %s -p 'plan{from=%t.json}' --cut=few | FileCheck %s --check-prefix=FEW
# FEW: as 3 parts, each of which waits for all that it reads: 33.00 us (+65.0 %)
# FEW-NEXT: as 5, with --cut=transfers: 20.00 us
# A plan for the time per sample has few parts, whatever it is judged by.
# RUN: %pcc %s -p 'plan{from=%t.json}' --objective=time-per-sample --judge=makespan | FileCheck %s --check-prefix=JUDGED
# JUDGED: as 3 parts, each of which waits for all that it reads: {{.*}} us
# JUDGED-NEXT: as {{.*}}, with --cut=transfers: {{.*}} us
# RUN: %pcc %s --network=direct --contention=none --emit json -q | FileCheck %s --check-prefix=MODES
# RUN: %pcc %s --network=direct --contention=link --emit json -q | FileCheck %s --check-prefix=MODES
# RUN: %pcc %s --network=direct --contention=half --emit json -q | FileCheck %s --check-prefix=MODES
# RUN: %pcc %s --network=direct --contention=rx --emit json -q | FileCheck %s --check-prefix=MODES
# MODES: "value_s": 2e-5
# RUN: %pcc %s --network=direct --dispatch=fifo --emit json -q | FileCheck %s --check-prefix=FIFO
# FIFO: "value_s": 2.2e-5
# RUN: %pcc %s -p 'plan{from=%t.json}' --contention=none --emit json -q 2>&1 | FileCheck %s --check-prefix=NONE
# NONE: "value_s": 2e-5
# NONE: "contention": "none"
# RUN: %pcc %s -p 'plan{from=%t.json}' --dispatch=fifo 2>&1 | FileCheck %s --check-prefix=NOTE
# NOTE-DAG: note: plan from {{.*}}.json: it was made for dispatch plan, and is judged by fifo
# NOTE-DAG: makespan 22.00 us
# RUN: %pcc %s -p 'plan{from=%t.json}' --objective=time-per-sample 2>&1 | FileCheck %s --check-prefix=SAMPLE
# SAMPLE-DAG: note: plan from {{.*}}.json: it was made for objective makespan, and is judged by time-per-sample
# SAMPLE-DAG: time per sample
# RUN: %pcc %s -p 'plan{from=%t.json}' --judge=time-per-sample | FileCheck %s --check-prefix=JUDGE
# JUDGE: time per sample {{.*}}
# JUDGE-NEXT: no bound known: heuristic
# JUDGE: why: made by plan for a makespan
# RUN: %pcc %s -p 'plan{from=%t.json}' --baselines | FileCheck %s --check-prefix=BASE
# BASE: makespan  of plan's  memory
# BASE-NEXT: 20.00 us      1.000
# BASE-NEXT: 28.00 us      1.400  fits    contiguous      1 {{.*}} one-place
# RUN: not %pcc %s -p dp-place --objective=makespan -q 2>&1 | FileCheck %s --check-prefix=REFUSED
# REFUSED: error: dp-place knows no makespan; {{.*}}order-place{{.*}} do
# RUN: not %pcc %s --contention=blocking -q 2>&1 | FileCheck %s --check-prefix=HOPS
# HOPS: error: --contention=blocking needs --network=direct
# RUN: not %pcc %s --objective=time-per-sample --memory-model=paper -q 2>&1 | FileCheck %s --check-prefix=PAPER
# PAPER: error: --memory-model=paper is about one sample alone: it needs --objective=makespan or --judge=makespan
# RUN: not %pcc %s --objective=latency --memory-model=paper -q 2>&1 | FileCheck %s --check-prefix=PAPER
# RUN: not %pcc %s --network=ring -q 2>&1 | FileCheck %s --check-prefix=WORD
# WORD: error: --network 'ring': expected host or direct
# RUN: sed 's/"network": "direct"/"network": "ring"/' %t.json > %t.ring.json
# RUN: not %pcc %s -p 'plan{from=%t.ring.json}' -q 2>&1 | FileCheck %s --check-prefix=RING
# RING: error: {{.*}}: objective: network 'ring': expected host or direct
# RUN: sed 's/^  "n1" = acc0$/  "n9" = acc0/;t;s/^  "n9" = acc0$/  "n1" = acc0/' %s > %t.pir
# RUN: %pcc %t.pir --emit ir 2>&1 | FileCheck %s --check-prefix=NEVER
# NEVER: warning: {{.*}}: its plan does not hold: the orders of the devices can never be kept: node 'n9' on acc0 waits for
cluster io_free objective=makespan
class acc x2 link=1TB/s,0ps
graph {
  %n0, %e0 = profile:op() : ?, ? !xfer=3us !time=4us
  %n1, %e1, %e2, %e3 = profile:op() : ?, ? !xfer=3us, ? !xfer=1us, ? !xfer=4us !time=1us
  %n2, %e4, %e5 = profile:op(%e1) : ?, ? !xfer=1us, ? !xfer=4us !time=4us
  %n3, %e6 = profile:op(%e2, %e4) : ?, ? !xfer=4us !time=6us
  %n4, %e7 = profile:op(%e0, %e3) : ?, ? !xfer=4us !time=1us
  %n5, %e8 = profile:op(%e5) : ?, ? !xfer=1us !time=1us
  %n6, %e9 = profile:op(%e7, %e8) : ?, ? !xfer=3us !time=6us
  %n7, %e10 = profile:op(%e6) : ?, ? !xfer=3us !time=2us
  %n8, %e11 = profile:op(%e9) : ?, ? !xfer=2us !time=2us
  %n9 = profile:op(%e10, %e11) : ? !time=1us
  out %n9
}
plan "by hand" ordered {
  "n1" = acc0
  "n2" = acc0
  "n5" = acc0
  "n0" = acc0
  "n4" = acc0
  "n6" = acc0
  "n8" = acc0
  "n9" = acc0
  "n3" = acc1
  "n7" = acc1
}
