# Copies of stages, and a leaf without time whose weights copies would have to keep equal: nodes that --cut-at keeps
# apart stay apart in the plan that the graph without the leaf gives.
# RUN: %pcc %s -p dp-place --replicate --cut-at='^a$' | FileCheck %s
# CHECK: bound 60.50 us, gap 0.00 %: optimal
class acc x4 link=1GB/s,0us
graph {
  %a = profile:op() : !bytes=1KB !own=1KB !params=0B !time=10us !xfer=100us
  %b = profile:op(%a) : !bytes=1KB !own=1KB !params=0B !time=10us !xfer=1us
  %c = profile:op(%b) : !bytes=1KB !own=1KB !params=0B !time=10us !xfer=1us
  %k = profile:op(%c) : !bytes=0B !own=1KB !params=1KB !time=0us !xfer=1us
  %z = profile:op(%c) : !bytes=1KB !own=1KB !params=0B !time=1us !xfer=1us !backward
}
