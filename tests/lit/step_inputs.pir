# Inputs that are there already take room where they are read: the plan counts what its schedule counts.
# RUN: %pcc %s -q -p portfolio-place --objective=makespan --io=free -o %t.json && FileCheck %s --input-file=%t.json
# CHECK: "name": "acc1"
# CHECK: "used_bytes": 4194308,
class a x1 memory=1MiB link=1GB/s,1us
class b x1 memory=1GiB link=1GB/s,1us
graph {
  in %x : f32[1048576] !bytes=4MiB
  %a = Relu(%x) : f32[1] !bytes=4B !own=4B !time=[1us, 9us]
  out %a
}
