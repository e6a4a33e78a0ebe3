# CPUs of a class are one place in a latency: their memory is shared, a pin to one of them is to any, and the plan that is
# written names the CPU on which a node ran, whichever it was given to.
# RUN: printf '.=cpu1\n' > %t.one
# RUN: %pcc %s --objective=latency -p 'plan{from=%t.one}' --pin c=cpu0 -q --emit=ir | FileCheck %s
# CHECK: plan {{.*}} value=3us
# CHECK: "a" = cpu0
# CHECK: "b" = cpu0
# CHECK: "c" = cpu1
# RUN: %pcc %s --objective=latency -p 'plan{from=%t.one}' --cpus=unbounded -q --emit=ir | FileCheck %s --check-prefix=ENDLESS
# ENDLESS: plan {{.*}} value=2us
# RUN: %pcc %s --objective=latency -p 'plan{from=%t.one}' | FileCheck %s --check-prefix=SAID
# SAID: with --cpus=unbounded 2.000 us
# RUN: sed 's/own=1MiB/own=2MiB/' %s > %t.large
# RUN: sh -c '%pcc %t.large --objective=latency -p "plan{from=%t.one}" > %t.out 2>&1; echo "exit $?" >> %t.out'; FileCheck %s --check-prefix=FULL < %t.out
# FULL: the hosts of class cpu need 6.000 MiB and have 4.000 MiB
# FULL: exit 3
# RUN: not %pcc %s --objective=latency -p 'plan{from=%t.one}' --pin c=acc0 2>&1 | FileCheck %s --check-prefix=PIN
# PIN: node 'c' is on 'cpu1' and pinned to 'acc0'
class acc x1
class cpu x2 host memory=2MiB
graph {
  %a = profile:op() : ? !time=[9us,2us] !own=1MiB
  %b = profile:op() : ? !time=[9us,1us] !own=1MiB
  %c = profile:op() : ? !time=[9us,2us] !own=1MiB
}
