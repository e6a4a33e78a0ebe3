# One device whose memory holds a micro-batch only if a part of the layers runs forward again: two stages on the
# device, of which the first one does.
# RUN: printf 'node1 -- L1 -- forward_compute_time=0.0, backward_compute_time=0.5, activation_size=10000, parameter_size=4000\nnode2 -- L2 -- forward_compute_time=0.0, backward_compute_time=0.0, activation_size=0, parameter_size=40000, stored_size=300000\nnode3 -- L3 -- forward_compute_time=0.5, backward_compute_time=0.0, activation_size=0, parameter_size=0, stored_size=400000\n\tnode1 -- node2\n\tnode2 -- node3\n' > %t.txt
# RUN: %pcc %t.txt -d 1xv100:798000B --profiled-batch=1 --objective=iteration-time --global-batch=2 --part-cost=200us --optimizer=2 2>&1 | FileCheck %s
# An iteration of 2^63 ps or more cannot be counted; it is not the memory that lacks.
# RUN: printf 'node1 -- L1 -- forward_compute_time=100000000.0, backward_compute_time=200000000.0, activation_size=1000000, parameter_size=5000000\nnode2 -- L2 -- forward_compute_time=100000000.0, backward_compute_time=100000000.0, activation_size=2000000, parameter_size=1000000\n\tnode1 -- node2\n' > %t.2.txt
# RUN: not %pcc %t.2.txt -d 2xv100 --profiled-batch=1 --objective=iteration-time --global-batch=1000 2>&1 | FileCheck %s --check-prefix=LONG
# RUN: not %pcc %t.2.txt -d 2xv100 --profiled-batch=1 --objective=iteration-time --global-batch=1000 -p data-parallel-place 2>&1 | FileCheck %s --check-prefix=LONG
# A bound is not above what a stage takes that reaches it exactly: 3.5 ms here, in every micro-batch the same.
# RUN: printf 'node1 -- L1 -- forward_compute_time=0.5, backward_compute_time=1.0, activation_size=1000000, parameter_size=50000\nnode2 -- L2 -- forward_compute_time=1.0, backward_compute_time=1.0, activation_size=0, parameter_size=0\nnode3 -- L3 -- forward_compute_time=0.0, backward_compute_time=0.5, activation_size=0, parameter_size=4000\n\tnode1 -- node2\n\tnode2 -- node3\n' > %t.3.txt
# RUN: %pcc %t.3.txt -d 3xv100:1686400B --link 100000000B/s,0us --objective=iteration-time --profiled-batch=4 --global-batch=4 --allreduce=50000000B/s --duplex=half --allreduce-lane=own --schedule=interleaved --micro-batch-size=1 --emit=json | FileCheck %s --check-prefix=BOUND
# CHECK: iteration time 4.000 ms
# LONG: place: no plan that was tried takes less than 2^63 ps (106 days) for an iteration
# BOUND: "bound_s": 0.003{{4[0-9]*|5}},
