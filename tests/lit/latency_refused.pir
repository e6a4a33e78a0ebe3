# Plans with slots that are none: one line says what is wrong.
# RUN: sed 's/^  b=.*/  b=acc0/' %s > %t.none && not %pcc %t.none --emit=json 2>&1 | FileCheck %s --check-prefix=NONE
# NONE: its plan does not hold: node 'b' has no slot on acc0
# RUN: sed 's/slot=2/slot=0/' %s > %t.zero && not %pcc %t.zero 2>&1 | FileCheck %s --check-prefix=ZERO
# ZERO: 0 is out of range (1 to 65536)
# RUN: sed 's/slot=1/slot=3/' %s > %t.turn && not %pcc %t.turn --emit=json 2>&1 | FileCheck %s --check-prefix=TURN
# TURN: there is no latency, subgraphs wait for each other: subgraph {{[23]}} of acc0 ('{{[bc]}}') waits for subgraph
# RUN: %pcc %s -q --emit=json > %t.json
# RUN: sed 's/"slots": \[/"slots": [7,/' %t.json > %t.bad.json
# RUN: not %pcc %s -p 'plan{from=%t.bad.json}' 2>&1 | FileCheck %s --check-prefix=LIST
# LIST: expected a list of lists of names in 'slots'
# RUN: sed 's/"slots": \[/"slots": [["nobody"],/' %t.json > %t.who.json
# RUN: not %pcc %s -p 'plan{from=%t.who.json}' 2>&1 | FileCheck %s --check-prefix=WHO
# WHO: there is no node 'nobody'
# RUN: not %pcc %s --cpus=many 2>&1 | FileCheck %s --check-prefix=CPUS
# CPUS: --cpus 'many': expected list or unbounded
class acc x1
class cpu x1 host
graph {
  %a = profile:op() : ? !time=[1us,2us]
  %b = profile:op(%a) : ? !time=[2us,5us]
  %c = profile:op(%b) : ? !time=[1us,4us]
}
plan "by hand" objective="latency" status=heuristic value=3us {
  a=cpu0
  b=acc0 slot=1
  c=acc0 slot=2
}
