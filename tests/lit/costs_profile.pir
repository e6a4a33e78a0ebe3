# The profile of a session that was optimised names nodes that the model does not have.
# RUN: printf '[{"cat":"Node","name":"a_kernel_time","dur":5},{"cat":"Node","name":"fused_kernel_time","dur":5}]' > %t.half.json
# RUN: %pcc %s -q -p cost --costs=%t.half.json --emit csv 2>&1 | FileCheck %s --check-prefix=HALF
# HALF: warning: {{.*}}.half.json: 1 rows name nodes, operators or classes that are not there, the first is 'fused': they have no effect
# HALF: a,Relu,{{.*}},5000000
# RUN: printf '[{"cat":"Node","name":"a_kernel_time","dur":5},{"cat":"Node","name":"f_kernel_time","dur":5},{"cat":"Node","name":"g_kernel_time","dur":5}]' > %t.most.json
# RUN: %pcc %s -q -p cost --costs=%t.most.json --emit csv 2>&1 | FileCheck %s --check-prefix=MOST
# MOST: warning: {{.*}}.most.json: 2 of 3 rows name no node of the model, the first is 'f': was the session optimised, or of another model? measure with ORT_DISABLE_ALL, as tools/measure.py does [-Wunmatched-cost]
# MOST: a,Relu,{{.*}},5000000
# RUN: printf '[{"cat":"Node","name":"f_kernel_time","dur":5},{"cat":"Node","name":"g_kernel_time","dur":5}]' > %t.all.json
# RUN: not %pcc %s -q -p cost --costs=%t.all.json -o %t.out.json 2>&1 | FileCheck %s --check-prefix=ALL
# ALL: error: {{.*}}.all.json: none of 2 rows names a node of the model, the first is 'f': was the session optimised, or of another model? measure with ORT_DISABLE_ALL, as tools/measure.py does
# RUN: not test -e %t.out.json
class acc x1
graph {
  in %x : f32[4]
  %a = Relu(%x) name="a"
  %b = Neg(%a) name="b"
  out %b
}
