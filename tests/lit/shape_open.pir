# Dimensions of inputs that have neither number nor name are guessed for planning, and that is said.
# RUN: %pcc %s -q -d 2xa100 -p cost --emit csv 2>&1 | FileCheck %s
# CHECK: pcc: warning: assuming 'x' as [1,4], 'y' as [2,128] [-Wguessed-dim]
# CHECK: name,op,flops,traffic_bytes,result_bytes
# CHECK-NEXT: a,Relu,4,32,16,
# CHECK-NEXT: b,Relu,256,2048,1024,
graph {
  in %x : f32[?,4]
  in %y : f32[2,?]
  %a = Relu(%x)
  %b = Relu(%y)
  out %a
  out %b
}
