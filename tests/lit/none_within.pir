# Without a plan within the limit, the error does not say that there is none at all: a larger limit has one.
# RUN: sh -c '%pcc %s -q -p "ip-place{moves=0:limit=19us}" > %t.out 2>&1; echo "exit $?" >> %t.out'; FileCheck %s < %t.out
# RUN: %pcc %s -p 'ip-place{moves=0:limit=30us}' 2>&1 | FileCheck %s --check-prefix=PLAN
# A program that is only written tells nothing of plans.
# RUN: not %pcc %s -q -p 'ip-place{moves=0:limit=30us:solve=false:write=%t.lp}' 2>&1 | FileCheck %s --check-prefix=WRITTEN
# RUN: not %pcc %s -q -p 'ip-place{moves=0:solve=false:write=%t.lp}' 2>&1 | FileCheck %s --check-prefix=WRITTEN
# RUN: not %pcc %s -q -p 'ip-place{contiguous=none:moves=0:solve=false:write=%t.lp}' --pin a=acc0 --pin b=acc1 --pin c=acc0 2>&1 | FileCheck %s --check-prefix=WRITTEN
# WRITTEN: error: no plan was found: the program was written, but not solved
# CHECK: error: no plan takes 19us or less
# CHECK: exit 3
# PLAN: 22.00 us per sample
class acc x2 memory=10B link=1GB/s,1us
graph {
  %a = profile:op() : !xfer=1us !time=10us !own=6B
  %b = profile:op(%a) : !xfer=1us !time=10us !own=6B
  %c = profile:op(%b) : !xfer=1us !time=10us !own=4B
  %d = profile:op(%c) : !xfer=1us !time=10us !own=4B
}
