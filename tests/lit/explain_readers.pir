# The bound by the number of devices that read one dear value: on three devices all pay 30 us, 78 us with four of twelve
# nodes each; fewer devices would have more to compute.
# RUN: printf 'c[0-3]$=acc0\nc[4-7]$=acc1\na=acc0\n.=acc2\n' > %t.plan
# RUN: %pcc %s -p 'plan{from=%t.plan}' --explain-bound | FileCheck %s
# CHECK: bound 78.00 us, gap 0.00 %: optimal
# CHECK: one value is read or made by {'a', 'c0', 'c1',
# CHECK: if they are on 1 device, these pay that transfer, 0 ms
# CHECK: if they are on 2 devices, these pay that transfer, 0.06 ms
# CHECK: if they are on 3 devices or more, these pay that transfer, 0.09 ms
# CHECK: (0.144 ms + 0.09 ms) / that = 0.078 ms
# CHECK: no plan takes less than the least of these, 0.078 ms
class acc x3
graph {
  %a = profile:op() : ? !xfer=30us !time=0us
  %c0 = profile:op(%a) : ? !time=12us
  %c1 = profile:op(%a) : ? !time=12us
  %c2 = profile:op(%a) : ? !time=12us
  %c3 = profile:op(%a) : ? !time=12us
  %c4 = profile:op(%a) : ? !time=12us
  %c5 = profile:op(%a) : ? !time=12us
  %c6 = profile:op(%a) : ? !time=12us
  %c7 = profile:op(%a) : ? !time=12us
  %c8 = profile:op(%a) : ? !time=12us
  %c9 = profile:op(%a) : ? !time=12us
  %c10 = profile:op(%a) : ? !time=12us
  %c11 = profile:op(%a) : ? !time=12us
}
