# A plan that breaks colocation is bad input (1); one that does not fit the memory is infeasible (3).  Both
# say what is wrong.
# RUN: printf 'c=acc1\n.=acc0\n' > %t.apart
# RUN: sh -c '%pcc %s -p "plan{from=%t.apart}" -q > %t.out 2>&1; echo "exit $?" >> %t.out'; FileCheck %s --check-prefix=APART < %t.out
# APART: error: plan from {{.*}}.apart: nodes 'b' and 'c' of one colour class are apart
# APART: exit 1
# RUN: printf '.=acc0\n' > %t.full
# RUN: sh -c '%pcc %s -p "plan{from=%t.full}" -q > %t.out 2>&1; echo "exit $?" >> %t.out'; FileCheck %s --check-prefix=FULL < %t.out
# FULL: error: plan from {{.*}}.full: acc0 needs 18.00 MiB and has 16.00 MiB
# FULL: exit 3
class acc x2 memory=16MiB link=1GB/s,1us
graph {
  %a = profile:op() : !xfer=1us !time=10us !own=6MiB
  %b = profile:op(%a) : !xfer=1us !time=10us !own=6MiB !color=1
  %c = profile:op(%b) : !xfer=1us !time=10us !own=6MiB !color=1
}
