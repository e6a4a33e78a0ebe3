# ort_name_assignment: substrings of names that mark the nodes of each device and no others, and why there are none.
# RUN: printf '^a/h.1/=acc0\n.=cpu0\n' > %t.a && %pcc %s -q -d 1xa100,1xcpu -p 'plan{from=%t.a}' -o %t.split --pictures=none && FileCheck %s --input-file=%t.split/manifest.json --check-prefix=LAYER
# The shortest prefix of /h.1/ ends where /h.10/ goes on; that of C1/b, "C", is inside zC1, and grows to the next slash.
# LAYER: "ort_name_assignment": "gpu:0(a/h.1/); cpu(C,a/h.10,z)"
# RUN: printf '^C1=acc0\n.=cpu0\n' > %t.b && %pcc %s -q -d 1xa100,1xcpu -p 'plan{from=%t.b}' -o %t.split --pictures=none && FileCheck %s --input-file=%t.split/manifest.json --check-prefix=GROWS
# GROWS: "ort_name_assignment": "gpu:0(C1/); cpu(a,z)"
# RUN: %pcc %s -q -d 1xcpu -p one-place -o %t.split --pictures=none && FileCheck %s --input-file=%t.split/manifest.json --check-prefix=ALL
# ALL: "ort_name_assignment": "cpu(C,a,z)"
# RUN: printf '10/Add$=acc0\n.=cpu0\n' > %t.c && %pcc %s -q -d 1xa100,1xcpu -p 'plan{from=%t.c}' -o %t.split --pictures=none && FileCheck %s --input-file=%t.split/manifest.json --check-prefix=WITHIN
# WITHIN: "ort_name_assignment": null,
# WITHIN-NEXT: "ort_name_assignment_why": "the name of node 'a/h.10/Add' is part of that of 'a/h.10/Add_1', which runs elsewhere"
# RUN: sed s,zC1,y:C1/b:, %s > %t.inner.pir && %pcc %t.inner.pir -q -d 1xa100,1xcpu -p 'plan{from=%t.b}' -o %t.split --pictures=none && FileCheck %s --input-file=%t.split/manifest.json --check-prefix=INNER
# INNER: "ort_name_assignment_why": "the name of node 'C1/b' is part of that of 'y:C1/b:', which runs elsewhere"
# RUN: sed s,zC1,z=C1, %s > %t.sign.pir && %pcc %t.sign.pir -q -d 1xa100,1xcpu -p 'plan{from=%t.b}' -o %t.split --pictures=none && FileCheck %s --input-file=%t.split/manifest.json --check-prefix=GROWS
# RUN: sed 's,a/h.10/,=/,' %s > %t.sign.pir && %pcc %t.sign.pir -q -d 1xa100,1xcpu -p 'plan{from=%t.a}' -o %t.split --pictures=none && FileCheck %s --input-file=%t.split/manifest.json --check-prefix=SIGN
# SIGN: "ort_name_assignment_why": "the setting has no way to write '=', of the node '=/Add'"
# RUN: sed 's,name="zC1",!unnamed,' %s > %t.none.pir && %pcc %t.none.pir -q -d 1xcpu -p one-place -o %t.split --pictures=none && FileCheck %s --input-file=%t.split/manifest.json --check-prefix=NONE
# NONE: "ort_name_assignment_why": "a node has no name in the file, '{{.*}}' (Abs)"
# RUN: printf '^a=acc0\n.=acc1\n' > %t.d && %pcc %s -q -d 2xa100 -p 'plan{from=%t.d}' -o %t.split --pictures=none && FileCheck %s --input-file=%t.split/manifest.json --check-prefix=TWO
# TWO: "ort_name_assignment_why": "acc0 and acc1 are both 'gpu' to ONNX Runtime
graph {
  in %x : f32[4]
  %a = Relu(%x) : f32[4] name="a/h.1/Relu"
  %b = Neg(%a) : f32[4] name="a/h.1/Neg"
  %c = Add(%b, %a) : f32[4] name="a/h.10/Add"
  %d = Add(%c, %c) : f32[4] name="a/h.10/Add_1"
  %e = Tanh(%d) : f32[4] name="C1/b"
  %f = Abs(%e) : f32[4] name="zC1"
  out %f
}
