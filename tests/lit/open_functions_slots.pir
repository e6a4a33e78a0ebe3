# Calls stay open in a plan with slots, also if it is judged by another objective: slots are about the nodes of open calls.
# RUN: echo '{"pcc_plan": 1, "objective": {"name": "latency"}, "devices": [{"name": "acc0", "nodes": ["a", "b", "c"], "slots": [["a"], ["b"], ["c"]]}]}' > %t.hand.json
# RUN: %pcc %s -q -d 2xa100 -p 'open-functions,plan{from=%t.hand.json}' --objective=latency --judge=time-per-sample -o %t.json
# RUN: tr -d ' \n' < %t.json | FileCheck %s
# CHECK: "slots":{{\[\[}}"a/m","a/y"],["b/m","b/y"],["c/m","c/y"]]
function my:layer {
  graph {
    in %x
    %m = Sigmoid(%x)
    %y = Neg(%m)
    out %y
  }
}
graph {
  in %x : f32[30,40]
  %a = my:layer(%x) name="a"
  %b = my:layer(%a) name="b"
  %c = my:layer(%b) name="c"
  out %c
}
