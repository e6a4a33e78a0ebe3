# A profile has times of one kind of accelerator.  Its textual IR keeps that, whether or not the classes of the devices
# were known when it was written, so it can be read and planned with other devices.
# RUN: printf 'node1 -- a -- forward_compute_time=1, backward_compute_time=2, activation_size=8, parameter_size=8\nnode2 -- b -- forward_compute_time=3, backward_compute_time=4, activation_size=8, parameter_size=8\n\tnode1 -- node2\n' > %t.txt
# RUN: %pcc %t.txt -d 1xv100,1xa100 --emit ir -o %t.1.pir -q
# RUN: FileCheck %s --check-prefix=TEXT < %t.1.pir
# RUN: %pcc %t.1.pir -p one-place 2>&1 | FileCheck %s
# RUN: %pcc %t.txt -d 1xv100,1xa100,1xcpu -p one-place -o %t.2.pir -q
# RUN: FileCheck %s --check-prefix=TEXT < %t.2.pir
# RUN: %pcc %t.2.pir -p one-place 2>&1 | FileCheck %s
# RUN: %pcc %t.txt -d 2xv100 --objective=latency -o %t.json -q && grep '"latency"' %t.json
# TEXT: costs accelerator
# TEXT: !time=1ms
# CHECK: 10.00 ms per sample
