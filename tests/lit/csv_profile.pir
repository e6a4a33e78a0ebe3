# What a layer's results and weights take together stands in the table of costs of a profile as what its results take.
# RUN: printf 'node0 -- A -- forward_compute_time=1, backward_compute_time=2, activation_size=300, parameter_size=50\nnode1 -- B -- forward_compute_time=1, backward_compute_time=2, activation_size=70, parameter_size=0\n\tnode0 -- node1\n' > %t.txt
# RUN: %pcc %t.txt -q -p cost --emit csv | FileCheck %s
# CHECK: name,op,flops,traffic_bytes,result_bytes,ps_a100
# CHECK-NEXT: A,layer,0,0,350,1000000000
# CHECK-NEXT: B,layer,0,0,70,1000000000
# CHECK-NEXT: B/backward,layer,0,0,300,2000000000
# CHECK-NEXT: A/backward,layer,0,0,50,2000000000
