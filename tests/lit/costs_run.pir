# A trace of a run as a file of --costs: a part's nodes get shares of what the part took, as another table, or the
# roofline, has them.
# RUN: printf '{"traceEvents":[],"otherData":{"pcc_run":1,"parts":[{"file":"p0","time":10,"nodes":["a","b","c"]}]}}' > %t.run.json
# RUN: printf 'name,time\na,2\nb,1\nc,0\n' > %t.csv
# RUN: %pcc %s -d 1xa100,1xh100 -q --costs=%t.run.json --costs=%t.csv:a100 --emit csv 2>&1 | FileCheck %s
# CHECK: name,op,flops,traffic_bytes,result_bytes,ps_a100,ps_h100
# CHECK-NEXT: a,Relu,{{.*}},6,3
# CHECK-NEXT: b,Neg,{{.*}},4,3
# CHECK-NEXT: c,Neg,{{.*}},0,4
# CHECK-NEXT: d,Neg,{{.*}},5000019,5000012
# Only for one class; all times 0: equal shares; a class that cannot run a node.
# RUN: printf 'name,time,class\na,0,a100\nb,0,a100\nc,never,a100\n' > %t.none.csv
# RUN: %pcc %s -d 1xa100,1xh100 -q -Wno-unsized-cost --costs=%t.none.csv --costs=%t.run.json:a100 --emit csv 2>&1 | FileCheck %s --check-prefix=NONE
# NONE: a,Relu,{{.*}},5,{{[0-9]+}}
# NONE-NEXT: b,Neg,{{.*}},5,{{[0-9]+}}
# NONE-NEXT: c,Neg,{{.*}},,{{[0-9]+}}
# Of another model, of another version, without times.
# RUN: printf '{"otherData":{"pcc_run":1,"parts":[{"time":10,"nodes":["x","y"]}]}}' > %t.other.json
# RUN: not %pcc %s -q --costs=%t.other.json 2>&1 | FileCheck %s --check-prefix=OTHER
# OTHER: error: {{.*}}.other.json: none of its 2 nodes is in the model, the first is 'x': another model ran
# RUN: printf '{"otherData":{"pcc_run":2,"parts":[]}}' > %t.two.json
# RUN: not %pcc %s -q --costs=%t.two.json 2>&1 | FileCheck %s --check-prefix=TWO
# TWO: error: {{.*}}.two.json: otherData: expected "pcc_run": 1 and a list "parts"
# RUN: printf '{"otherData":{"pcc_run":1,"parts":[{"time":-1,"nodes":["a"]}]}}' > %t.time.json
# RUN: not %pcc %s -q --costs=%t.time.json 2>&1 | FileCheck %s --check-prefix=TIME
# TIME: error: {{.*}}.time.json: otherData: parts[0]: expected "time", an integer of ps below 2^60, and a list "nodes"
# RUN: printf '{"otherData":{"pcc_run":1,"parts":[{"time":10,"nodes":["a","y"]}]}}' > %t.some.json
# RUN: %pcc %s -q --costs=%t.some.json --emit csv 2>&1 | FileCheck %s --check-prefix=SOME
# SOME: warning: {{.*}}.some.json: 1 node is not in the model, the first is 'y': its part's time goes to the others [-Wunmatched-cost]
# SOME: a,Relu,{{.*}},10
# A node twice counts once; no part at all is no run.
# RUN: printf '{"otherData":{"pcc_run":1,"parts":[{"time":10,"nodes":["a","a","b"]},{"time":4,"nodes":["b","c"]}]}}' > %t.twice.json
# RUN: %pcc %s -d 1xa100 -q --costs=%t.twice.json --emit csv 2>&1 | FileCheck %s --check-prefix=TWICE
# TWICE: a,Relu,{{.*}},5
# TWICE-NEXT: b,Neg,{{.*}},5
# TWICE-NEXT: c,Neg,{{.*}},4
# RUN: printf '{"otherData":{"pcc_run":1,"parts":[]}}' > %t.empty.json
# RUN: not %pcc %s -q --costs=%t.empty.json 2>&1 | FileCheck %s --check-prefix=EMPTY
# EMPTY: error: {{.*}}.empty.json: no part ran: there are no times
graph {
  in %x : f32[4]
  %a = Relu(%x) name="a"
  %b = Neg(%a) name="b"
  %c = Neg(%b) name="c"
  %d = Neg(%c) name="d"
  out %d
}
