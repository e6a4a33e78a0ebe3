# --cut-at: edges from a node that matches to one that does not are cut.  --no-cut: edges between two nodes that match
# are not.  Of a chain of six equal nodes on three devices; free, each device gets two.
# RUN: %pcc %s -q -p dp-place --emit json | grep -A3 '"nodes"' | FileCheck %s --check-prefix=FREE
# FREE: "/h.0/a",
# FREE-NEXT: "/h.0/b"
# FREE-NEXT: ]
# RUN: %pcc %s -q -p dp-place --cut-at=/h.0/ --emit json > %t.json
# RUN: grep -A4 '"nodes"' %t.json | FileCheck %s --check-prefix=CUT
# CUT: "/h.0/a",
# CUT-NEXT: "/h.0/b",
# CUT-NEXT: "/h.0/c"
# CUT-NEXT: ]
# RUN: %pcc %s -q -p auto-place --cut-at=/h.0/ --cut-at=/h.1/ --emit json | grep -A3 '"nodes"' | FileCheck %s --check-prefix=BOTH
# BOTH: "/h.1/d",
# BOTH-NEXT: "/h.1/e"
# BOTH-NEXT: ]
# BOTH: "nodes": [
# BOTH-NEXT: "f"
# BOTH-NEXT: ]
# RUN: not %pcc %s -q -p linearize,dpl-place --cut-at=/h.0/ --no-cut=^f$ --no-cut=[cd]$ --emit json 2>&1 | FileCheck %s --check-prefix=NONE
# NONE: warning: --no-cut '^f$' matches nodes, but none of them reads from another [-Wunmatched-pattern]
# NONE: error: --cut-at=/h.0/ and --no-cut=[cd]$ contradict each other: between '/h.0/c' and '/h.1/d'
# RUN: %pcc %s -p fuse{range=6},dp-place --cut-at=x --cut-at=^f --no-cut=/h.0/ -Wno-large-class 2>&1 | FileCheck %s --check-prefix=WHOLE
# WHOLE: warning: --cut-at 'x' matches no node that is placed [-Wunmatched-pattern]
# WHOLE: warning: --cut-at '^f' matches nodes, but no edge from them to other nodes can be cut [-Wunmatched-pattern]
# WHOLE: time per sample 30
# WHOLE: optimal among contiguous plans that keep groups of
# Whatever joins vertices keeps those of a cut apart: fuse, subdivide, linearize.
# RUN: %pcc %s -q -p subdivide,contract,fuse{range=6},linearize,dp-place --cut-at=/h.0/ --emit json > %t.more.json
# RUN: grep -A4 '"nodes"' %t.more.json | FileCheck %s --check-prefix=CUT
# A plan by hand is held to them.
# RUN: %pcc %s -q -p plan{from=%t.json} --cut-at=/h.0/ --emit json | grep -A4 '"nodes"' | FileCheck %s --check-prefix=CUT
# RUN: not %pcc %s -q -p plan{from=%t.json} --cut-at=b$ 2>&1 | FileCheck %s --check-prefix=HAND
# HAND: error: plan from {{.*}}: nodes '/h.0/b' and '/h.0/c' are on one device, against --cut-at=b$
# RUN: not %pcc %s -q -p plan{from=%t.json} --no-cut=[cd]$ 2>&1 | FileCheck %s --check-prefix=SPLIT
# SPLIT: error: plan from {{.*}}: nodes '/h.0/c' and '/h.1/d' are on two devices, against --no-cut=[cd]$
# RUN: not %pcc %s -q -p 'contract{by=layer},dp-place' --cut-at=d$ 2>&1 | FileCheck %s --check-prefix=LAYER
# LAYER: error: --cut-at=d$: nodes '/h.1/d' and '/h.1/e' must stay together (contract{by=layer})
# RUN: sed 's,name="f",name="/h.1/f",' %s > %t.pir
# RUN: not %pcc %t.pir -q -p dp-place --cut-at=d$ --keep-blocks 2>&1 | FileCheck %s --check-prefix=KEEP
# KEEP: error: --cut-at=d$: nodes '/h.1/d' and '/h.1/e' must stay together (--keep-blocks)
# RUN: %pcc %s --cut-at=a -p cost 2>&1 | FileCheck %s --check-prefix=IDLE
# IDLE: warning: --cut-at has no effect: nothing is planned
class a100 x3 link=1TB/s,0ps
graph {
  in %x : f32[4]
  %a = Relu(%x) : f32[4] !time=10us name="/h.0/a"
  %b = Relu(%a) : f32[4] !time=10us name="/h.0/b"
  %c = Relu(%b) : f32[4] !time=10us name="/h.0/c"
  %d = Relu(%c) : f32[4] !time=10us name="/h.1/d"
  %e = Relu(%d) : f32[4] !time=10us name="/h.1/e"
  %f = Relu(%e) : f32[4] !time=10us name="f"
  out %f
}
