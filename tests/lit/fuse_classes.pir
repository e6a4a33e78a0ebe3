# A cheap end joins the one that it reads unless it would bar it from a class of devices: 'e' runs on accelerators alone
# and leaves 'p' free; 'f' runs anywhere, and joins 'q', which does not.
# RUN: %pcc %s -p 'contract{trivial=false},fuse{max-states=22}' --print-ir-after=fuse -q 2>&1 | FileCheck %s
# CHECK: level fuse: 19 vertices
# CHECK-NOT: {p, e}
# CHECK: {q, f}
# CHECK-NOT: {p, e}
# Nor where both need more bytes than a cluster may.
# RUN: %pcc %s -p 'contract{trivial=false},fuse{max-states=22:mem=8B}' --print-ir-after=fuse -q 2>&1 | FileCheck %s
# RUN: %pcc %s -p 'contract{trivial=false},fuse{max-states=22:mem=7B}' -q --print-ir-after=fuse 2>&1 | FileCheck %s --check-prefix=LESS
# LESS-NOT: {q, f}
class acc x1
class cpu x1 host
graph {
  %c0 = profile:op() : ? !xfer=1us !time=[1ms,9ms]
  %c1 = profile:op(%c0) : ? !xfer=1us !time=[1ms,9ms]
  %c2 = profile:op(%c1) : ? !xfer=1us !time=[1ms,9ms]
  %c3 = profile:op(%c2) : ? !xfer=1us !time=[1ms,9ms]
  %c4 = profile:op(%c3) : ? !xfer=1us !time=[1ms,9ms]
  %c5 = profile:op(%c4) : ? !xfer=1us !time=[1ms,9ms]
  %c6 = profile:op(%c5) : ? !xfer=1us !time=[1ms,9ms]
  %c7 = profile:op(%c6) : ? !xfer=1us !time=[1ms,9ms]
  %c8 = profile:op(%c7) : ? !xfer=1us !time=[1ms,9ms]
  %c9 = profile:op(%c8) : ? !xfer=1us !time=[1ms,9ms]
  %c10 = profile:op(%c9) : ? !xfer=1us !time=[1ms,9ms]
  %c11 = profile:op(%c10) : ? !xfer=1us !time=[1ms,9ms]
  %c12 = profile:op(%c11) : ? !xfer=1us !time=[1ms,9ms]
  %c13 = profile:op(%c12) : ? !xfer=1us !time=[1ms,9ms]
  %c14 = profile:op(%c13) : ? !xfer=1us !time=[1ms,9ms]
  %c15 = profile:op(%c14) : ? !xfer=1us !time=[1ms,9ms]
  %p = profile:op(%c15) : ? !xfer=1us !time=[1ms,9ms]
  %q = profile:op(%c15) : ? !xfer=1us !time=[1ms,never] !own=4B
  %e = profile:op(%p) : ? !xfer=1us !time=[0us,never]
  %f = profile:op(%q) : ? !xfer=1us !time=[0us,0us] !own=4B
}
