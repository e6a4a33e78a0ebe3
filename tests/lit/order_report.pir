# How far the order of a plan is from that of the file: an encoder and a decoder of 35 nodes, written layer by layer in
# turn, each on a device of its own.  By the order of all nodes the decoder's first layers are behind the whole encoder;
# by the order of each device nothing waits.
# RUN: printf 'enc=acc0\ndec=acc1\n' > %t.list
# RUN: %pcc %s -p 'plan{from=%t.list}' --order-report=host -q | FileCheck %s
# CHECK: one host thread that takes the nodes in the file's order would have to put off
# CHECK-NEXT: 13 of 35 by the plan's order of all nodes,
# CHECK-NEXT: 0 by the order of each device
# RUN: not %pcc %s --order-report=thread 2>&1 | FileCheck %s --check-prefix=WHICH
# WHICH: error: --order-report 'thread': expected host
# RUN: not %pcc %s --stop-after=cost --order-report=host -p cost 2>&1 | FileCheck %s --check-prefix=NOPLAN
# NOPLAN: error: --order-report: there is no plan: give a planner, such as -p auto-place
class acc x2 link=1GB/s,1us
graph {
  %"enc/embed" = profile:op() : ? !bytes=1KiB !time=1us
  %"dec/embed" = profile:op() : ? !bytes=1KiB !time=1us
  %"enc/0/q" = profile:op(%"enc/embed") : ? !bytes=1KiB !time=1us
  %"enc/0/k" = profile:op(%"enc/embed") : ? !bytes=1KiB !time=1us
  %"enc/0/attend" = profile:op(%"enc/0/q", %"enc/0/k") : ? !bytes=1KiB !time=1us
  %"enc/0/feed" = profile:op(%"enc/0/attend", %"enc/embed") : ? !bytes=1KiB !time=1us
  %"dec/0/q" = profile:op(%"dec/embed") : ? !bytes=1KiB !time=1us
  %"dec/0/k" = profile:op(%"dec/embed") : ? !bytes=1KiB !time=1us
  %"dec/0/attend" = profile:op(%"dec/0/q", %"dec/0/k") : ? !bytes=1KiB !time=1us
  %"dec/0/feed" = profile:op(%"dec/0/attend", %"dec/embed") : ? !bytes=1KiB !time=1us
  %"enc/1/q" = profile:op(%"enc/0/feed") : ? !bytes=1KiB !time=1us
  %"enc/1/k" = profile:op(%"enc/0/feed") : ? !bytes=1KiB !time=1us
  %"enc/1/attend" = profile:op(%"enc/1/q", %"enc/1/k") : ? !bytes=1KiB !time=1us
  %"enc/1/feed" = profile:op(%"enc/1/attend", %"enc/0/feed") : ? !bytes=1KiB !time=1us
  %"dec/1/q" = profile:op(%"dec/0/feed") : ? !bytes=1KiB !time=1us
  %"dec/1/k" = profile:op(%"dec/0/feed") : ? !bytes=1KiB !time=1us
  %"dec/1/attend" = profile:op(%"dec/1/q", %"dec/1/k") : ? !bytes=1KiB !time=1us
  %"dec/1/feed" = profile:op(%"dec/1/attend", %"dec/0/feed") : ? !bytes=1KiB !time=1us
  %"enc/2/q" = profile:op(%"enc/1/feed") : ? !bytes=1KiB !time=1us
  %"enc/2/k" = profile:op(%"enc/1/feed") : ? !bytes=1KiB !time=1us
  %"enc/2/attend" = profile:op(%"enc/2/q", %"enc/2/k") : ? !bytes=1KiB !time=1us
  %"enc/2/feed" = profile:op(%"enc/2/attend", %"enc/1/feed") : ? !bytes=1KiB !time=1us
  %"dec/2/q" = profile:op(%"dec/1/feed") : ? !bytes=1KiB !time=1us
  %"dec/2/k" = profile:op(%"dec/1/feed") : ? !bytes=1KiB !time=1us
  %"dec/2/attend" = profile:op(%"dec/2/q", %"dec/2/k") : ? !bytes=1KiB !time=1us
  %"dec/2/feed" = profile:op(%"dec/2/attend", %"dec/1/feed") : ? !bytes=1KiB !time=1us
  %"enc/3/q" = profile:op(%"enc/2/feed") : ? !bytes=1KiB !time=1us
  %"enc/3/k" = profile:op(%"enc/2/feed") : ? !bytes=1KiB !time=1us
  %"enc/3/attend" = profile:op(%"enc/3/q", %"enc/3/k") : ? !bytes=1KiB !time=1us
  %"enc/3/feed" = profile:op(%"enc/3/attend", %"enc/2/feed") : ? !bytes=1KiB !time=1us
  %"enc/norm" = profile:op(%"enc/3/feed") : ? !bytes=1KiB !time=1us
  %"dec/cross/q" = profile:op(%"dec/2/feed") : ? !bytes=1KiB !time=1us
  %"dec/cross/attend" = profile:op(%"dec/cross/q", %"enc/norm") : ? !bytes=1KiB !time=1us
  %"dec/norm" = profile:op(%"dec/cross/attend", %"dec/2/feed") : ? !bytes=1KiB !time=1us
  %"dec/head" = profile:op(%"dec/norm") : ? !bytes=1KiB !time=1us
  out %"dec/head"
}
