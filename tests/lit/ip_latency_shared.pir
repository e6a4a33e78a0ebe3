# Weights that several nodes read lie on an accelerator once: with 10 B it holds both nodes, with 9 B one of them.
# RUN: %pcc %s -p 'ip-place{objective=latency}' -q --emit=ir | FileCheck %s
# CHECK: status=optimal value=2us
# CHECK: "a" = acc0
# CHECK: "b" = acc0
# RUN: sed 's/memory=10B/memory=9B/' %s > %t.less
# RUN: %pcc %t.less -p 'ip-place{objective=latency}' -q --emit=ir | FileCheck %s --check-prefix=LESS
# LESS: value=10us
# LESS: = cpu0
cluster io_free
class acc x1 memory=10B
class cpu x1 host
graph {
  init %w : f32[1] = [0.0] !bytes=6B !elems=1
  %a = profile:op(%w) : ? !time=[1us,9us] !own=2B
  %b = profile:op(%a, %w) : ? !time=[1us,9us] !own=2B
}
