# Where a bound that is known before proves the plan, the solver is not asked, and the claim does not name it.
# RUN: printf 'name,time\na,4us\nb,4us\nc,1us\n' > %t.csv
# RUN: %pcc %s -d 2xa100 --link 10000GB/s,0us --io=free --part-cost=0 --costs %t.csv -p 'fuse{range=3},ip-place' --explain-bound | FileCheck %s
# CHECK: why: no plan among plans of the fused graph takes less: longest node
# CHECK: no plan of any shape takes less than 5.0
# CHECK: longest node: 'a' (3 nodes) takes 0.009 ms where it is fastest: no plan takes less
# RUN: %pcc %s -d 2xa100 --link 10000GB/s,0us --io=free --part-cost=0 --costs %t.csv -p 'ip-place{objective=latency}' | FileCheck %s --check-prefix=LATENCY
# LATENCY: why: no plan takes less: the longest way through the nodes
opset ai.onnx 17
graph {
  in %x : f32[256,256]
  %a = MatMul(%x, %x)
  %b = MatMul(%a, %x)
  %c = Exp(%b)
  out %c
}
