# Order-Place and its kin fill a device by what is there at once: 2 values of 1 MiB of a chain of six, not the sum of all;
# three where a value is read again late.
# RUN: %pcc %s -q -d 3xa100:2560KiB --objective=makespan -p order-place --emit ir | FileCheck %s
# RUN: %pcc %s -q -d 3xa100:2560KiB --objective=makespan -p dfs-place --emit ir | FileCheck %s
# RUN: %pcc %s -q -d 3xa100:2560KiB --objective=makespan -p celeritas-place --emit ir | FileCheck %s
# RUN: %pcc %s -q -d 3xa100:2560KiB --objective=makespan --memory-model=sum -p order-place --emit ir | FileCheck %s --check-prefix=SUM
# RUN: sed 's/Relu(.e)/Add(%%e, %%a)/' %s > %t.pir
# RUN: not %pcc %t.pir -q -d 1xa100:2560KiB --objective=makespan -p order-place
# RUN: %pcc %t.pir -q -d 1xa100:3MiB --objective=makespan -p order-place
# CHECK: "{{[a-f]}}" = acc0
# CHECK-NOT: acc1
# CHECK: "f" = acc0
# SUM: "a" = acc0
# SUM-NEXT: "b" = acc0
# SUM-NEXT: "c" = acc1
# SUM: "f" = acc2
opset ai.onnx 20
graph {
  in %x : f32[262144]
  %a = Relu(%x)
  %b = Relu(%a)
  %c = Relu(%b)
  %d = Relu(%c)
  %e = Relu(%d)
  %f = Relu(%e)
  out %f
}
