# Tables of measured times say at which sizes they were measured: the plan is for these, and for no others.
# RUN: printf 'name,time\n#pcc_measured 1,0\n#dim batch=3,0\n"#dim a ""b""=5",0\n#threads 2,0\na,7us\n' > %t.3.csv
# RUN: %pcc %s -d 1xa100 -p cost --costs=%t.3.csv --emit csv 2>&1 | FileCheck %s
# CHECK: pcc: note: planning for the sizes at which times were measured: batch=3 a "b"=5
# CHECK-NEXT: name,op,flops,traffic_bytes,result_bytes
# CHECK-NEXT: a,Relu,15,120,60,7000000
# RUN: not %pcc %s -d 1xa100 -p cost --costs=%t.3.csv --dim batch=4 -q 2>&1 | FileCheck %s --check-prefix=OTHER
# OTHER: error: --costs {{.*}}.3.csv: it was measured at batch=3, but --dim says batch=4: measure it at that size, or
# RUN: not %pcc %s -d 1xa100 -p cost --costs=%t.3.csv --dim batch=3,batch=4 -q 2>&1 | FileCheck %s --check-prefix=OTHER
# RUN: %pcc %s -d 1xa100 -p cost --costs=%t.3.csv --dim batch=3 -q --emit csv 2>&1 | FileCheck %s --check-prefix=SAME
# RUN: %pcc %s -d 1xa100 -p cost --costs=%t.3.csv --dim batch=4 --dim batch=3 -q --emit csv 2>&1 | FileCheck %s --check-prefix=SAME
# SAME-NOT: note
# SAME: a,Relu,15,120,60,7000000
# Empty lines are no rows.
# RUN: printf 'name,time\r\n\r\n#pcc_measured 1,0\r\n\r\n#dim batch=3,0\r\na,7us\r\n' > %t.lines.csv
# RUN: %pcc %s -d 1xa100 -p cost --costs=%t.lines.csv --emit csv 2>&1 | FileCheck %s --check-prefix=LINES
# LINES: pcc: note: planning for the sizes at which times were measured: batch=3{{$}}
# Many sizes: a note is short, and there is a limit.
# RUN: %python -c "print('name,time', '#pcc_measured 1,0', *(f'#dim n{k}=2,0' for k in range(1, 1001)), 'a,7us', sep=chr(10))" > %t.many.csv
# RUN: %pcc %s -d 1xa100 -p cost --costs=%t.many.csv --emit csv 2>&1 | FileCheck %s --check-prefix=MANY
# MANY: note: planning for the sizes at which times were measured: n1=2 n2=2 {{.*}} n8=2 and 992 more
# RUN: %python -c "print('name,time', '#pcc_measured 1,0', *(f'#dim n{k}=2,0' for k in range(1, 1002)), 'a,7us', sep=chr(10))" > %t.over.csv
# RUN: not %pcc %s -d 1xa100 -p cost --costs=%t.over.csv -q 2>&1 | FileCheck %s --check-prefix=OVER
# OVER: error: {{.*}}.over.csv: '#dim n1001=2': expected at most 1000 sizes
# Two tables of different sizes; one of them in JSON, for the class a100.
# RUN: printf '[{"name":"#pcc_measured 1","time":0},{"name":"#dim batch=0","time":0},{"name":"a","time":"1us"}]' > %t.0.json
# RUN: not %pcc %s -d 1xa100 -p cost --costs=%t.3.csv --costs=%t.0.json:a100 -q 2>&1 | FileCheck %s --check-prefix=TWO
# TWO: error: --costs {{.*}}.0.json: it was measured at batch=0, but {{.*}}.3.csv says batch=3
# RUN: %pcc %s -d 1xa100 -p cost --costs=%t.0.json:a100 -q --emit csv 2>&1 | FileCheck %s --check-prefix=ZERO
# ZERO: a,Relu,0,0,0,1000000
# A table without sizes is taken, with a warning; one of operator types is not about sizes.
# RUN: printf 'name,time\na,7us\n#dim batch=3,0\n' > %t.old.csv
# RUN: %pcc %s -d 1xa100 -p cost --costs=%t.old.csv -q --emit csv 2>&1 | FileCheck %s --check-prefix=OLD
# OLD: warning: {{.*}}.old.csv: it does not say at which sizes it was measured: taken to be those that are planned for, batch=1 a "b"=128 [-Wunsized-cost]
# OLD: a,Relu,128,1024,512,7000000
# A file of pcc-profile: its sizes are members, and a row that begins with "#" is a node.
# RUN: printf '{"pcc_measured":1,"source":"x.onnx","dims":{"batch":3},"nodes":[{"name":"a","time":7000000},{"name":"#dim batch=5","time":0}],"parts":[]}' > %t.new.json
# RUN: %pcc %s -d 1xa100 -p cost --costs=%t.new.json --emit csv 2>/dev/null | FileCheck %s --check-prefix=NEW
# NEW: a,Relu,384,3072,1536,7000000
# RUN: %pcc %s -d 1xa100 -p cost --costs=%t.new.json --emit csv 2>&1 >/dev/null | FileCheck %s --check-prefix=SAID
# SAID: note: planning for the sizes at which times were measured: batch=3
# SAID: warning: {{.*}}.new.json: 1 rows name nodes, operators or classes that are not there, the first is '#dim batch=5'
# RUN: not %pcc %s -d 1xa100 -p cost --costs=%t.new.json --dim batch=4 -q 2>&1 | FileCheck %s --check-prefix=NEWDIM
# NEWDIM: error: --costs {{.*}}.new.json: it was measured at batch=3, but --dim says batch=4
# RUN: printf '{"pcc_measured":1,"source":"x.onnx","dims":{},"nodes":[{"name":"b","time":7}]}' > %t.none.json
# RUN: not %pcc %s -d 1xa100 -p cost --costs=%t.none.json -q 2>&1 | FileCheck %s --check-prefix=FOREIGN
# FOREIGN: error: {{.*}}.none.json: none of 1 rows names a node of the model, the first is 'b': it was measured of 'x.onnx'
# RUN: printf '{"pcc_measured":2,"dims":{},"nodes":[]}' > %t.two.json
# RUN: not %pcc %s -d 1xa100 -p cost --costs=%t.two.json -q 2>&1 | FileCheck %s --check-prefix=VERSION
# VERSION: error: {{.*}}.two.json: expected "pcc_measured": 1 and a list "nodes"
# RUN: printf '{"pcc_measured":1,"dims":{"batch":"3"},"nodes":[]}' > %t.text.json
# RUN: not %pcc %s -d 1xa100 -p cost --costs=%t.text.json -q 2>&1 | FileCheck %s --check-prefix=TEXT
# TEXT: error: {{.*}}.text.json: dims: 'batch': expected a name and an integer >= 0
# RUN: printf 'op,time\nRelu,7us\n' > %t.op.csv
# RUN: %pcc %s -d 1xa100 -p cost --costs=%t.op.csv -q --emit csv 2>&1 | FileCheck %s --check-prefix=OP
# OP-NOT: unsized
# OP: a,Relu,128,1024,512,7000000
# RUN: printf 'name,time\n#pcc_measured 1,0\n#dim batch=few,0\na,7us\n' > %t.bad.csv
# RUN: not %pcc %s -d 1xa100 -p cost --costs=%t.bad.csv -q 2>&1 | FileCheck %s --check-prefix=BAD
# BAD: error: {{.*}}.bad.csv: '#dim batch=few': expected #dim NAME=N with N >= 0
# What --profile-at says of the batch must be what the tables say, and their other sizes hold.
# RUN: printf 'name,time\n#pcc_measured 1,0\n#dim batch=2,0\n#dim a "b"=5,0\na,4us\n' > %t.2.csv
# RUN: not %pcc %s -d 1xa100 -p cost --profile-at=2=%t.2.csv --profile-at=4=%t.3.csv --dim batch=6 -q 2>&1 | FileCheck %s --check-prefix=AT
# AT: error: --profile-at 4={{.*}}.3.csv: it was measured at batch=3, other tables at another size: expected the batch size 4
# RUN: %pcc %s -d 1xa100 -p cost --profile-at=2=%t.2.csv --profile-at=3=%t.3.csv --dim batch=6 -q --emit csv 2>&1 | FileCheck %s --check-prefix=LINE
# LINE: a,Relu,30,240,120,16000000
# RUN: not %pcc %s -d 1xa100 -p cost --profile-at=2=%t.2.csv --profile-at=3=%t.3.csv --dim batch=0 -q 2>&1 | FileCheck %s --check-prefix=NONE
# NONE: error: --profile-at: --dim batch=0: expected a batch size of 1 to 16777216
# A table to compare with is of another batch only.
# RUN: printf 'name,time\n#pcc_measured 1,0\n#dim batch=4,0\n#dim a "b"=5,0\na,9us\n' > %t.check.csv
# RUN: %pcc %s -d 1xa100 -p cost --profile-at=2=%t.2.csv --profile-at=3=%t.3.csv --profile-check=4=%t.check.csv --dim batch=6 2>&1 | FileCheck %s --check-prefix=CHECKED
# CHECKED: note: {{.*}}mean deviation
# RUN: printf 'name,time\n#pcc_measured 1,0\n#dim batch=4,0\n#dim a "b"=6,0\na,9us\n' > %t.strange.csv
# RUN: not %pcc %s -d 1xa100 -p cost --profile-at=2=%t.2.csv --profile-at=3=%t.3.csv --profile-check=4=%t.strange.csv --dim batch=6 2>&1 | FileCheck %s --check-prefix=STRANGE
# STRANGE: error: --profile-check 4={{.*}}.strange.csv: it was measured at a "b"=6, predictions are for 5
# Without sizes in the tables of --profile-at, the batch is known, other sizes are not.
# RUN: printf 'name,time\na,4us\n' > %t.4.csv
# RUN: %pcc %s -d 1xa100 -p cost --profile-at=2=%t.2.csv --profile-at=4=%t.4.csv --dim batch=6 -q --emit csv 2>&1 | FileCheck %s --check-prefix=HALF
# HALF: warning: {{.*}}.4.csv: it does not say at which sizes it was measured: taken to be those that are planned for beside the batch, batch=6 a "b"=5 [-Wunsized-cost]
# HALF-NOT: unsized
graph {
  in %x : f32[batch,"'a \"b\"'"]
  %a = Relu(%x) name="a"
  out %a
}
