# Where only a wish (whole layers, nodes with their single reader) excludes a plan, no plan of these is what is proven.
# RUN: not %pcc %s -p 'contract{by=layer},anneal-place' 2>&1 | FileCheck %s --check-prefix=ANY
# RUN: not %pcc %s -p 'contract{coplace=true},anneal-place' 2>&1 | FileCheck %s --check-prefix=ANY
# RUN: not %pcc %s -p 'contract{by=layer},dp-place' 2>&1 | FileCheck %s --check-prefix=CUT
# RUN: not %pcc %s -p 'contract{by=layer},ip-place' 2>&1 | FileCheck %s --check-prefix=IP
# RUN: %pcc %s -p anneal-place 2>&1 | FileCheck %s --check-prefix=FREE
# RUN: not %pcc %s -p ip-place --pin 'v0=acc2' 2>&1 | FileCheck %s --check-prefix=PINNED
# ANY: error: no plan among plans that keep groups of nodes together fits the memory of the devices: they need 8 B per device (proven)
# CUT: error: no contiguous plan among plans that keep groups of nodes together fits the memory of the devices: they need 8 B per device (proven)
# IP: error: no plan among plans that keep groups of nodes together fits the memory of the devices: they need 8 B per device
# FREE: gap 0.00 %: optimal
# PINNED: error: there is no plan: pins and what devices can run leave none
class "k0" x2 memory=4B
class "k1" x1 memory=4B
costs 2
graph {
  in %i0 : f32[100] !bytes=400B !xfer=0ps
  %v0 = Op0(%i0) : f32[100] name="v0" !bytes=400B !xfer=10ps !time=[250ps,never] !own=4B !layer=1
  %v1 = Op1(%v0) : f32[100] name="v1" !bytes=400B !xfer=10ps !time=[250ps,250ps] !own=4B !layer=1
  out %v1
}
