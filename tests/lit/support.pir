# --support: the three forms of lists of what a class can run, nodes that a list does not name, and lists that are wrong.
# RUN: printf '# no Relu here\n\n  Relu \r\ncom.example.Odd\nNone.Such\nRelu\n' > %t.txt
# RUN: %pcc %s -d 1xa100,1xcpu --support=%t.txt:a100 --emit csv 2>&1 | FileCheck %s --check-prefix=OPS
# OPS: warning: {{.*}}.txt: 1 operators that no node has, the first is 'None.Such': they have no effect [-Wunmatched-cost]
# OPS: note: {{.*}}.txt: a100 cannot run 3 of 12 nodes, the first is 'a' (Relu)
# OPS: {{^}}a,Relu,{{.*}},,{{[0-9]+$}}
# OPS: {{^}}b,Odd,{{.*}},,{{[0-9]+$}}
# OPS: {{^}}c,Neg,{{.*}},{{[0-9]+}},{{[0-9]+$}}
# OPS: {{^}}if,If,{{.*}},,{{[0-9]+$}}
# ONNX Runtime: what went to the CPU although there was another provider; nodes without a name by their operators.
# RUN: printf '{"ep":"CUDAExecutionProvider","name":"%%s","op_type":""}\n' a c last > %t.jsonl
# RUN: printf '{"ep":"CPUExecutionProvider","name":"b","op_type":"Odd"}\n{"ep":"CPUExecutionProvider","name":"if","op_type":"If"}\n{"ep":"CUDAExecutionProvider","name":"","op_type":"Abs"}\n' >> %t.jsonl
# RUN: printf '{"ep":"CPUExecutionProvider","name":"","op_type":"Tanh"}\n' >> %t.jsonl
# RUN: %pcc %s -d 1xa100,1xcpu --support=%t.jsonl:a100 --emit csv 2>&1 | FileCheck %s --check-prefix=ORT
# ORT: note: {{.*}}.jsonl: a100 cannot run 6 of 12 nodes, the first is 'b' (Odd)
# ORT: {{^}}a,Relu,{{.*}},{{[0-9]+}},{{[0-9]+$}}
# ORT: {{^}}b,Odd,{{.*}},,{{[0-9]+$}}
# ORT: {{^}}{{.*}},Tanh,{{.*}},,{{[0-9]+$}}
# ORT: {{^}}struck,Exp,{{.*}},,{{[0-9]+$}}
# A session that had joined nodes: what the file does not name runs where its readers do.
# RUN: printf '{"ep":"CUDAExecutionProvider","name":"a+c","op_type":"Fused"}\n' >> %t.jsonl
# RUN: %pcc %s -d 1xa100,1xcpu --support=%t.jsonl:a100,cpu --emit csv 2>&1 | FileCheck %s --check-prefix=JOINED
# JOINED: warning: {{.*}}.jsonl: 1 of 8 rows name no node of the model, the first is 'a+c': the session was optimised,
# JOINED: note: {{.*}}.jsonl: a100 cannot run 3 of 12 nodes, the first is 'b' (Odd)
# JOINED: note: {{.*}}.jsonl: cpu can run all nodes
# JOINED: {{^}}struck,Exp,{{.*}},{{[0-9]+}},{{[0-9]+$}}
# A file in which all is on the CPU is about the CPU.
# RUN: sed s/CUDA/CPU/ %t.jsonl > %t.cpu.jsonl
# RUN: %pcc %s -d 1xa100,1xcpu --support=%t.cpu.jsonl:a100 -q -Wno-unmatched-cost --emit csv 2>&1 | FileCheck %s --check-prefix=ALL
# ALL: {{^}}if,If,{{.*}},{{[0-9]+}},{{[0-9]+$}}
# OpenVINO: by the node's name or what it makes; a node whose name the reader took over, null, and one that is not there.
# RUN: printf '{"x":"GPU","a":"GPU","b":"GPU","c":null,"if":"GPU","made":"GPU","drop":"GPU","last":"GPU","last/port":"GPU"}' > %t.json
# RUN: %pcc %s -d 1xa100,1xcpu --support=%t.json:a100 --emit csv 2>&1 | FileCheck %s --check-prefix=OV
# OV: note: {{.*}}.json: a100 cannot run 3 of 12 nodes, the first is 'c' (Neg)
# OV: {{^}}{{.*}},Abs,{{.*}},{{[0-9]+}},{{[0-9]+$}}
# OV: {{^}}renamed,Sqrt,{{.*}},{{[0-9]+}},{{[0-9]+$}}
# OV: {{^}}struck,Exp,{{.*}},,{{[0-9]+$}}
# A module with costs of its own.
# RUN: printf 'op\n' > %t.op.txt
# RUN: printf 'class acc x2 link=1GB/s,1us\nclass cpu host\ngraph {\n %%%%a = profile:op() : !xfer=1us !time=10us\n %%%%b = profile:two(%%%%a) : !xfer=1us !time=2us\n}\n' > %t.pir
# RUN: %pcc %t.pir -q --support=%t.op.txt:acc --emit csv | FileCheck %s --check-prefix=OWN
# OWN: {{^}}a,op,0,0,0,,10000000
# OWN: {{^}}b,two,0,0,0,2000000,2000000
# RUN: not %pcc %t.pir -q --support=%t.op.txt:acc,cpu --emit csv 2>&1 | FileCheck %s --check-prefix=NOWHERE
# NOWHERE: error: no class of the cluster can run node 'a' (op): expected one that supports it
# Wrong ones.
# RUN: not %pcc %s -q --support=%t.txt 2>&1 | FileCheck %s --check-prefix=USE
# USE: error: --support '{{.*}}.txt': expected FILE:CLASS
# RUN: not %pcc %s -q --support=%t.none:a100 --emit csv 2>&1 | FileCheck %s --check-prefix=NONE
# NONE: error: {{.*}}.none: {{.*}}No such file
# RUN: not %pcc %s -q --support=%t.txt:b200x --emit csv 2>&1 | FileCheck %s --check-prefix=CLASS
# CLASS: error: --support '{{.*}}.txt:b200x': the cluster has no class 'b200x'; the first is 'a100'
# RUN: printf 'Relu\nMatMul, Add\n' > %t.bad && not %pcc %s -q --support=%t.bad:a100 --emit csv 2>&1 | FileCheck %s --check-prefix=FORM
# FORM: error: {{.*}}.bad:2: 'MatMul, Add': expected lines [domain.]OpType, ONNX Runtime's assignment
# RUN: printf '{"ep":"X","name":"a","op_type":"Relu"}\n{"ep":"X","name":1,"op_type":"Relu"}\n' > %t.bad && not %pcc %s -q --support=%t.bad:a100 --emit csv 2>&1 | FileCheck %s --check-prefix=ROW
# ROW: error: {{.*}}.bad:2: expected an object with the texts "ep", "name" and "op_type"
# RUN: printf '{"a":"CPU",\n"b":[]}' > %t.bad && not %pcc %s -q --support=%t.bad:a100 --emit csv 2>&1 | FileCheck %s --check-prefix=KEY
# KEY: error: {{.*}}.bad: 'b': expected the name of a device, or null for none
# RUN: printf '{"a":"CPU",\n}' > %t.bad && not %pcc %s -q --support=%t.bad:a100 --emit csv 2>&1 | FileCheck %s --check-prefix=JSON
# JSON: error: {{.*}}.bad:2:1:
# RUN: printf '{"other":"CPU"}' > %t.bad && not %pcc %s -q --support=%t.bad:a100 --emit csv 2>&1 | FileCheck %s --check-prefix=MODEL
# MODEL: error: {{.*}}.bad: none of 1 rows names a node of the model, the first is 'other'
# RUN: printf '# nothing\n' > %t.bad && not %pcc %s -q --support=%t.bad:a100 --emit csv 2>&1 | FileCheck %s --check-prefix=EMPTY
# EMPTY: error: {{.*}}.bad: it lists nothing: expected lines
# RUN: printf '{"classes":[{"preset":"a100","supported":["Relu"]}]}' > %t.c.json && not %pcc %s -q -d %t.c.json --support=%t.txt:a100 --emit csv 2>&1 | FileCheck %s --check-prefix=BOTH
# BOTH: error: --support '{{.*}}': the class 'a100' has "supported" in the cluster: expected one of them
graph {
  in %x : f32[4]
  in %c : bool[]
  %a = Relu(%x) : f32[4] name="a"
  %b = com.example:Odd(%a) : f32[4] name="b"
  %d = Neg(%b) : f32[4] name="c"
  %e = If(%c | %d) {then_branch=@t, else_branch=@u} : f32[4] name="if"
  %made = Abs(%e) : f32[4] !unnamed
  %f = Tanh(%made) : f32[4] !unnamed
  %g = Sqrt(%f) : f32[4] name="renamed"
  %h = Dropout(%g) : f32[4] name="drop"
  %i = Exp(%h) : f32[4] name="struck"
  %j = Neg(%i) : f32[4] name="last"
  out %j
}
graph @t { %k = Relu(%d) : f32[4] name="inside" out %k }
graph @u { %l = Neg(%d) : f32[4] name="inside2" out %l }
