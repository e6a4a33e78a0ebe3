# A training plan with all of a pass on a device in one piece: the accelerator of the first layer runs two subgraphs, one for
# each pass, which is contiguous, though a gradient that needs only what is kept (ka) runs with the forward nodes.  Not so
# where a path leaves the nodes of a pass and comes back to them.
# RUN: printf 'a=acc0\n.=acc1\n' > %t.row
# RUN: %pcc %s --objective=latency -p 'plan{from=%t.row:effort=0}' | FileCheck %s --check-prefix=ROW
# ROW: 3 subgraphs of accelerators
# ROW: shape: contiguous subgraphs of each pass,
# RUN: printf '^[ac]$=acc0\n.=acc1\n' > %t.forward
# RUN: %pcc %s --objective=latency -p 'plan{from=%t.forward:effort=0}' | FileCheck %s --check-prefix=FORWARD
# FORWARD: shape: not contiguous, 1 accelerator cut into 2 subgraphs,
# RUN: printf 'gc=acc0\nga=acc0\n.=acc1\n' > %t.back
# RUN: %pcc %s --objective=latency -p 'plan{from=%t.back:effort=0}' | FileCheck %s --check-prefix=BACK
# BACK: shape: not contiguous, 1 accelerator cut into 2 subgraphs,
class acc x2
graph {
  %a = profile:op() : ? !xfer=1us !time=[1us]
  %b = profile:op(%a) : ? !xfer=1us !time=[1us]
  %c = profile:op(%b) : ? !xfer=1us !time=[1us]
  %ka = profile:op(%a) : ? !xfer=1us !time=[1us] !backward
  %gc = profile:op(%c) : ? !xfer=1us !time=[1us] !backward
  %gb = profile:op(%gc) : ? !xfer=1us !time=[1us] !backward
  %ga = profile:op(%gb, %ka) : ? !xfer=1us !time=[1us] !backward
}
