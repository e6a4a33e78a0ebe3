# A call that leads into a cycle of functions: the error names the call, what it calls, and a function of the cycle.
# RUN: not %pcc %s -p inline-functions 2>&1 | FileCheck %s
# CHECK: functions_cycle.pir: node 'top' calls 'my:outer', which leads to 'my:ping', which calls itself: recursive
class acc x2
function my:outer {
  graph {
    in %x
    %y = my:ping(%x)
    out %y
  }
}
function my:ping {
  graph {
    in %x
    %y = my:pong(%x)
    out %y
  }
}
function my:pong {
  graph {
    in %x
    %y = my:ping(%x)
    out %y
  }
}
graph {
  in %x : f32[4]
  %y = my:outer(%x) name="top"
  out %y
}
