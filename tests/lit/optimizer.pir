# What a device has room for in training: weights, under --memory-model=paper their gradients, and with --optimizer copies
# for it.  Planners count them: two layers of 10 B fit one device of 25 B as they are, and with gradients one device each.
# RUN: %pcc %s -p 'm-topo-place{fill=memory}' -q --emit ir | FileCheck %s --check-prefix=ONE
# RUN: %pcc %s -p 'm-topo-place{fill=memory}' --memory-model=sum -q --emit ir | FileCheck %s --check-prefix=ONE
# ONE: "f2" = acc0
# RUN: %pcc %s -p 'm-topo-place{fill=memory}' --memory-model=paper -q --emit ir | FileCheck %s --check-prefix=TWO
# RUN: %pcc %s -p 'm-topo-place{fill=memory}' --optimizer=1 -q --emit ir | FileCheck %s --check-prefix=TWO
# RUN: %pcc %s -p 'm-topo-place{fill=memory}' --optimizer=1 --memory-model=sum -q --emit ir | FileCheck %s --check-prefix=TWO
# RUN: %pcc %s -p m-etf-place --optimizer=1 -q --emit ir | FileCheck %s --check-prefix=TWO
# RUN: %pcc %s -p m-topo-place --optimizer=1 -q --emit ir | FileCheck %s --check-prefix=TWO
# RUN: %pcc %s -p celeritas-place --optimizer=1 -q --emit ir | FileCheck %s --check-prefix=TWO
# TWO: "f2" = acc1
# An even share, too, is one of all that counts: half of 40 and the largest, 20, hold both.
# RUN: sed 's/memory=25B/memory=100B/' %s > %t.even.pir
# RUN: %pcc %t.even.pir -p m-topo-place --optimizer=1 -q --emit ir | FileCheck %s --check-prefix=ONE
# RUN: not %pcc %s -p 'm-topo-place{fill=memory}' --memory-model=paper --optimizer=1 -q 2>&1 | FileCheck %s --check-prefix=NONE
# RUN: not %pcc %s -p 'm-topo-place{fill=memory}' --optimizer=2 -q 2>&1 | FileCheck %s --check-prefix=NONE
# NONE: error: m-topo-place: 'f1' has no room on any device
# RUN: not %pcc %s -p 'm-etf-place' --optimizer=2 -q 2>&1 | FileCheck %s --check-prefix=BYTES
# BYTES: error: m-etf-place: acc{{.}} needs 30 B and has 25 B
# It is said where figures are, and read again.
# RUN: %pcc %s -p m-etf-place --optimizer=1 -o %t.json | FileCheck %s --check-prefix=SAID
# SAID: memory live, optimizer 1{{$}}
# RUN: %pcc %s -p m-etf-place --optimizer=1 --emit ir -q > %t.again.pir
# RUN: %pcc %t.again.pir -p m-etf-place --emit ir -q | FileCheck %s --check-prefix=TEXT
# TEXT: optimizer=1
# TEXT: "f2" = acc1
# RUN: FileCheck %s --check-prefix=JSON < %t.json
# JSON: "optimizer": "1"
# RUN: %pcc %s -p 'plan{from=%t.json}' -q --emit ir | FileCheck %s --check-prefix=AGAIN
# AGAIN: memory_model=live optimizer=1
# RUN: %pcc %s -p 'plan{from=%t.json:best-effort=true}' --optimizer=2 -q --emit ir 2>&1 | FileCheck %s --check-prefix=OTHER
# OTHER: over-memory
# Nothing is trained: nothing is kept, and pcc says so.
# RUN: sed 's/ !backward//;s/!color=.//' %s > %t.pir
# RUN: %pcc %t.pir -p 'm-topo-place{fill=memory}' --optimizer=4 --emit ir 2>&1 | FileCheck %s --check-prefix=IDLE
# IDLE: warning: --optimizer has no effect: the model has no backward pass
# RUN: not %pcc %s --optimizer=5 2>&1 | FileCheck %s --check-prefix=WRONG
# WRONG: error: --optimizer '5': expected 0, 1, 2, 3 or 4
# Inference by the table: weights of 20 B and, while k runs, 50 more; i and j need 35 and 29.  Planners count just that;
# all bytes added up are 134.
# RUN: sed -n 's/^#TABLE //p' %s > %t.table.pir
# RUN: %pcc %t.table.pir -p 'm-topo-place{fill=memory}' -q --emit ir | FileCheck %s --check-prefix=TABLE
# RUN: %pcc %t.table.pir -p 'm-etf-place' -q --emit ir | FileCheck %s --check-prefix=TABLE
# TABLE: status={{optimal|feasible}} value=3us {{.*}} argument="m-{{ETF|TOPO}}; bound
# RUN: sed 's/memory=70B/memory=69B/' %t.table.pir > %t.less.pir
# RUN: not %pcc %t.less.pir -p 'm-topo-place{fill=memory}' -q 2>&1 | FileCheck %s --check-prefix=LESS
# LESS: error: m-topo-place: 'k' has no room on any device
# RUN: not %pcc %t.table.pir -p 'm-topo-place{fill=memory}' --memory-model=sum -q 2>&1 | FileCheck %s --check-prefix=ADDED
# ADDED: error: m-topo-place: 'j' has no room on any device
# An even share is half of 70, and 50 that the largest needs while it runs: one device takes all.
# RUN: sed 's/x1 memory=70B/x2 memory=100B/' %t.table.pir > %t.share.pir
# RUN: %pcc %t.share.pir -p m-topo-place -q --emit ir | FileCheck %s --check-prefix=SHARE
# SHARE: "k" = acc0
# In training results of i stay as well, and gradients of the weights: 20 and 20, 30 of i, and 50.
# RUN: sed 's/memory=70B/memory=120B/;s/%%[jk] = .*/& !backward/' %t.table.pir > %t.train.pir
# RUN: %pcc %t.train.pir -p 'm-topo-place{fill=memory}' -q --emit ir | FileCheck %s --check-prefix=TABLE
# RUN: sed 's/memory=120B/memory=119B/' %t.train.pir > %t.less.pir
# RUN: not %pcc %t.less.pir -p 'm-topo-place{fill=memory}' -q 2>&1 | FileCheck %s --check-prefix=LESS
#TABLE ir_version 10
#TABLE cluster io_free objective=makespan network=direct contention=none memory_model=paper
#TABLE class acc x1 memory=70B link=1TB/s,0ps
#TABLE graph {
#TABLE   in %x : f32[1] !bytes=0B
#TABLE   init %w : f32[2] = [1, 1] !bytes=20B
#TABLE   %i = Add(%x, %w) : f32[1] !bytes=30B !own=35B !xfer=1us !time=1us
#TABLE   %j = Add(%i, %w) : f32[1] !bytes=20B !own=29B !xfer=1us !time=1us
#TABLE   %k = Neg(%j) : f32[1] !bytes=10B !own=50B !xfer=1us !time=1us
#TABLE   out %k
#TABLE }
ir_version 0
cluster io_free objective=makespan network=direct contention=none
class acc x2 memory=25B link=1TB/s,0ps
graph {
  %f1 = profile:op() : ? !xfer=1ps !time=4ps !own=10B !color=1
  %f2 = profile:op(%f1) : ? !xfer=1ps !time=4ps !own=10B !color=2
  %g2 = profile:op(%f2) : ? !xfer=1ps !time=4ps !own=0B !color=2 !backward
  %g1 = profile:op(%g2) : ? !xfer=1ps !time=4ps !own=0B !color=1 !backward
}
