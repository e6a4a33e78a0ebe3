# Hosts of a class share their memory in a latency: what no CPU holds alone may lie on two of them, and what is said of
# the memory that would do is about all of them together.
# RUN: %pcc %s -p latency-place -q --emit=ir | FileCheck %s
# RUN: %pcc %s -p 'ip-place{objective=latency}' -q --emit=ir | FileCheck %s
# CHECK: "a" = cpu
# RUN: sed 's/own=3MiB/own=5MiB/' %s > %t.large
# RUN: sh -c '%pcc %t.large -p latency-place > %t.out 2>&1; echo "exit $?" >> %t.out'; FileCheck %s --check-prefix=FULL < %t.out
# FULL: needs 5.000 MiB, the largest device, or all hosts, that may run it has 4.000 MiB
# FULL: exit 3
# RUN: sed 's/own=3MiB/own=1MiB !color=1/; s/^}/  %%b = profile:op() : ? !time=[9us,2us] !own=4MiB !color=1\n}/' %s > %t.two
# RUN: not %pcc %t.two -p latency-place 2>&1 | FileCheck %s --check-prefix=TWO
# TWO: need 5.000 MiB, the largest device, or all hosts, that may run them has 4.000 MiB
class acc x1 memory=1MiB
class cpu x2 host memory=2MiB
graph {
  %a = profile:op() : ? !time=[9us,2us] !own=3MiB
}
