# Three devices, twelve samples: micro-batches of three samples or more can be shared by all of them, so these are offered,
# too, beside powers of two; none waits for another.
# RUN: printf 'node1 -- a -- forward_compute_time=1, backward_compute_time=2, activation_size=0, parameter_size=0\nnode2 -- b -- forward_compute_time=2, backward_compute_time=4, activation_size=0, parameter_size=0\n\tnode1 -- node2\n' > %t.txt
# RUN: %pcc %t.txt -d 3xv100 --profiled-batch=4 --objective=iteration-time --global-batch=12 2>&1 | FileCheck %s
# CHECK: micro-batches of 12 x 1: {{.*}}, 4 x 3: 9.000 ms, {{.*}}, 1 x 12: 9.000 ms
# CHECK: iteration time 9.000 ms
# CHECK-NEXT: bound 9.000 ms, gap 0.00 %: optimal
# Of a batch with many divisors, sizes of each magnitude are tried, not the smallest ones alone.
# RUN: %pcc %t.txt -d 3xv100 --profiled-batch=4 --objective=iteration-time --global-batch=65536 2>&1 | FileCheck %s --check-prefix=MANY
# MANY: micro-batches of 65536 x 1: {{.*}}, 8 x 8192: {{.*}}, 4 x 16384: {{.*}}, 1 x 65536:
# A layer that takes no time but has parameters can be a stage by itself, on one device, whose gradients nobody exchanges.
# RUN: printf 'node1 -- a -- forward_compute_time=1, backward_compute_time=2, activation_size=0, parameter_size=0\nnode2 -- b -- forward_compute_time=0, backward_compute_time=0, activation_size=0, parameter_size=8000000\n\tnode1 -- node2\n' > %t2.txt
# RUN: %pcc %t2.txt -d 3xv100 --link 1GB/s,0us --profiled-batch=2 --objective=iteration-time --micro-batches=1 -p dapple-place | FileCheck %s --check-prefix=FREE
# FREE: iteration time 1.500 ms
# FREE-NEXT: bound 1.500 ms, gap 0.00 %: optimal
