# Baechi's planners place the forward nodes, and each backward node goes where the forward node is that it is named after,
# by TensorFlow's names, ONNX Runtime's or others'; without that, and for other planners, it goes where there is time.
# RUN: %pcc %s -d 2xa100 --link 1000GB/s,0us --objective=makespan -p m-topo-place --emit ir 2>&1 | FileCheck %s
# RUN: %pcc %s -d 2xa100 --link 1000GB/s,0us --objective=makespan -p 'contract{mirror=false:pins},m-topo-place' --emit ir 2>&1 | FileCheck %s --check-prefix=FREE
# RUN: %pcc %s -d 2xa100 --link 1000GB/s,0us --objective=makespan -p m-etf-place --print-pipeline 2>&1 | FileCheck %s --check-prefix=LINE
# RUN: %pcc %s -d 2xa100 --link 1000GB/s,0us --objective=makespan -p m-sct-place --print-pipeline 2>&1 | FileCheck %s --check-prefix=LINE
# RUN: %pcc %s -d 2xa100 --link 1000GB/s,0us --objective=makespan -p 'contract,m-sct-place' --print-pipeline 2>&1 | FileCheck %s --check-prefix=LINE
# RUN: %pcc %s -d 2xa100 --link 1000GB/s,0us --objective=makespan -p heft-place --print-pipeline 2>&1 | FileCheck %s --check-prefix=OTHER
# CHECK: note: contract: 4 backward nodes stay with their forward nodes
# CHECK: "a" = acc0
# CHECK-NEXT: "b" = acc0
# CHECK-NEXT: "c" = acc1
# CHECK-NEXT: "c_grad" = acc1
# CHECK-NEXT: "gradients/b_grad/Mul_1" = acc0
# CHECK-NEXT: "a_Grad/Mul_0" = acc0
# CHECK-NEXT: "gradients/a_grad/Mul_2" = acc0
# FREE-NOT: stay with their forward nodes
# FREE: "b" = acc0
# FREE: "gradients/b_grad/Mul_1" = acc1
# LINE: contract{mirror=true},m-
# OTHER: contract,heft-place
opset ai.onnx 20
graph {
  in %x : f32[262144]
  %a = Relu(%x) name="a"
  %b = Relu(%a) name="b"
  %c = Relu(%b) name="c"
  %gc = Relu(%c) name="c_grad" !backward
  %gb = Relu(%gc) name="gradients/b_grad/Mul_1" !backward
  %ga = Relu(%gb) name="a_Grad/Mul_0" !backward
  %gx = Relu(%ga) name="gradients/a_grad/Mul_2" !backward
  out %gx
}
