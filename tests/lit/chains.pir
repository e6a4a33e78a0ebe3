# Four chains of four equal nodes on two devices: breadth first, as Kahn's order goes, each chain is cut; depth first and
# along critical paths none is.
# RUN: %pcc %s -p 'm-topo-place{fill=memory}' --cut=few | FileCheck %s --check-prefix=KAHN
# RUN: %pcc %s -p dfs-place | FileCheck %s --check-prefix=NONE
# RUN: %pcc %s -p 'order-place{range=1}' | FileCheck %s --check-prefix=NONE
# KAHN: 4 tensors cross
# KAHN-NEXT: part 0 -> part 1
# NONE: 0 tensors cross
# RUN: %pcc %s -p 'contract{trivial=false},fuse{range=8:mem=8B:order=fifo},levels' -q | FileCheck %s --check-prefix=FIFO
# RUN: %pcc %s -p 'contract{trivial=false},fuse{range=8:mem=8B:order=dfs},levels' -q | FileCheck %s --check-prefix=PATHS
# RUN: %pcc %s -p 'contract{trivial=false},fuse{range=8:mem=8B:order=cpd},levels' -q | FileCheck %s --check-prefix=PATHS
# FIFO: fuse 2 1 4.000 us
# PATHS: fuse {{[0-9]+}} 0 0 ps
cluster io_free objective=makespan network=direct memory_model=sum
class acc x2 memory=8B link=1TB/s,0ps
graph {
  %a0 = profile:op() : ? !xfer=1us !time=1us !own=1B
  %b0 = profile:op() : ? !xfer=1us !time=1us !own=1B
  %c0 = profile:op() : ? !xfer=1us !time=1us !own=1B
  %d0 = profile:op() : ? !xfer=1us !time=1us !own=1B
  %a1 = profile:op(%a0) : ? !xfer=1us !time=1us !own=1B
  %b1 = profile:op(%b0) : ? !xfer=1us !time=1us !own=1B
  %c1 = profile:op(%c0) : ? !xfer=1us !time=1us !own=1B
  %d1 = profile:op(%d0) : ? !xfer=1us !time=1us !own=1B
  %a2 = profile:op(%a1) : ? !xfer=1us !time=1us !own=1B
  %b2 = profile:op(%b1) : ? !xfer=1us !time=1us !own=1B
  %c2 = profile:op(%c1) : ? !xfer=1us !time=1us !own=1B
  %d2 = profile:op(%d1) : ? !xfer=1us !time=1us !own=1B
  %a3 = profile:op(%a2) : ? !xfer=1us !time=1us !own=1B
  %b3 = profile:op(%b2) : ? !xfer=1us !time=1us !own=1B
  %c3 = profile:op(%c2) : ? !xfer=1us !time=1us !own=1B
  %d3 = profile:op(%d2) : ? !xfer=1us !time=1us !own=1B
}
