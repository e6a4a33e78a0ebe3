# The hand-computed example of optimal operation fusion: ten nodes, one tensor per edge.
# RUN: %pcc %s -p 'fuse{range=3:mem=6B:cut=edge}' --print-ir-after=fuse -q 2>&1 | FileCheck %s --check-prefix=SIX
# RUN: %pcc %s -p 'fuse{range=3:mem=8B:cut=edge}' --print-ir-after=fuse -q 2>&1 | FileCheck %s --check-prefix=EIGHT
# RUN: %pcc %s -v -p 'fuse{range=10:mem=1GiB:cut=edge}' 2>&1 | FileCheck %s --check-prefix=ONE
# RUN: %pcc %s -p 'fuse{range=3:mem=6B:cut=edge:order=dfs}' --print-ir-after=fuse -q 2>&1 | FileCheck %s --check-prefix=DFS
# RUN: %pcc %s -p 'fuse{range=3:mem=6B:cut=edge:order=fifo}' --print-ir-after=fuse -q 2>&1 | FileCheck %s --check-prefix=FIFO
# DFS: level fuse: 6 vertices
# DFS: {n0}
# DFS: {n1, n2}
# DFS: {n3, n7}
# DFS: {n5}
# DFS: {n4, n6, n8}
# DFS: {n9}
# FIFO: level fuse: 5 vertices
# FIFO: {n0}
# FIFO: {n1, n2}
# FIFO: {n3, n5, n7}
# FIFO: {n4}
# FIFO: {n6, n8, n9}
# SIX: level fuse: 5 vertices
# SIX: {n1}
# SIX: {n2, n5}
# SIX: {n0, n4, n6}
# SIX: {n3, n7}
# SIX: {n8, n9}
# EIGHT: level fuse: 4 vertices
# EIGHT: {n1, n2, n5}
# EIGHT: {n0, n4, n6}
# EIGHT: {n3, n7}
# EIGHT: {n8, n9}
# ONE: fuse: 10 vertices in 1 clusters, range 10, 100 % of transfers inside
class acc x2
graph {
  %a04 = profile:op() : !xfer=3us name="n0" !time=4us !own=3B
  %a12, %a13, %a14 = profile:op() : !xfer=3us, !xfer=1us, !xfer=4us name="n1" !time=1us !own=3B
  %a23, %a25 = profile:op(%a12) : !xfer=1us, !xfer=4us name="n2" !time=4us !own=3B
  %a37 = profile:op(%a13, %a23) : !xfer=4us name="n3" !time=6us !own=1B
  %a46 = profile:op(%a04, %a14) : !xfer=4us name="n4" !time=1us !own=1B
  %a56 = profile:op(%a25) : !xfer=1us name="n5" !time=1us !own=2B
  %a68 = profile:op(%a46, %a56) : !xfer=3us name="n6" !time=6us !own=2B
  %a79 = profile:op(%a37) : !xfer=3us name="n7" !time=2us !own=3B
  %a89 = profile:op(%a68) : !xfer=2us name="n8" !time=2us !own=3B
  %a9 = profile:op(%a79, %a89) : !xfer=0ps name="n9" !time=1us !own=1B
}
