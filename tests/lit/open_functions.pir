# Calls that stand open while planning, what is written of them, and names of calls.
# RUN: %pcc %s -v -p open-functions,dp-place -d 2xnpu --pin first=acc0 --pin second/m=acc0 --pin second/out=acc1 --emit ir --print-pipeline 2>&1 | FileCheck %s
# RUN: %pcc %s -q -p open-functions,dp-place -d 2xnpu --pin first=acc0 --pin second/m=acc0 --pin second/out=acc1 -o %t.json
# RUN: %pcc %s -v -p 'plan{from=%t.json}' -d 2xnpu --print-pipeline 2>&1 | FileCheck %s --check-prefix=BACK
# RUN: %pcc %s -q -p dp-place -d 2xnpu -o %t.whole.json
# RUN: %pcc %s -p 'plan{from=%t.whole.json}' -d 2xnpu --print-pipeline 2>&1 | FileCheck %s --check-prefix=WHOLE
# RUN: echo '^first=acc0' > %t.lines; echo '^second=acc1' >> %t.lines
# RUN: %pcc %s -q -Wno-whole-call -p 'open-functions,plan{from=%t.lines}' -d 2xnpu --emit ir | FileCheck %s --check-prefix=LINES
# RUN: not %pcc %s -p infer-shapes,open-functions 2>&1 | FileCheck %s --check-prefix=LATE
# RUN: %pcc --help-pass=plan | FileCheck %s --check-prefix=HELP

# CHECK: open-functions,infer-shapes,cost,contract,dp-place
# CHECK: note: open-functions: 4 calls are opened: 2 nodes are 8
# CHECK: note: calls of functions: 2 are written as such, 1 are open, the first of these 'second'
# CHECK: %a = my:layer(%x, %w) : f32[2,8] {{.*}} name="first"
# CHECK-NEXT: %second/m = MatMul(%a, %w)
# CHECK-NEXT: %second/k = my:twice(%second/m) : f32[2,8] {{.*}} name="second/twice"
# CHECK-NEXT: %b = Neg(%second/k) : f32[2,8] {{.*}} name="second/out"
# CHECK: "first" = acc0
# CHECK: "second/out" = acc1

# BACK: open-functions{plan={{.*}}.json},infer-shapes,cost,contract,plan{from=
# BACK: note: open-functions: 4 calls are opened
# BACK: acc0 npu 1 {{[12]}} 
# WHOLE: warning: 2 calls of functions stay whole and take 100 % of the time, the largest 'first' (my:layer) with 50 %: begin -p with open-functions
# LINES: %a = my:layer(%x, %w)
# LINES: %b = my:layer(%a, %w)
# LATE: error: open-functions comes before all other passes
# HELP: needs open-functions (inserted if neither it nor
# HELP-NEXT: inline-functions is in the list)
file 1 "w"
function my:twice {
  graph {
    in %x
    %t = Relu(%x)
    %y = Tanh(%t)
    out %y
  }
}
function my:layer {
  graph {
    in %x
    in %w
    %m = MatMul(%x, %w)
    %k = my:twice(%m) name="twice"
    %y = Neg(%k) name="out"
    out %y
  }
}
graph {
  in %x : f32[2,8]
  init %w : f32[8,8] = file 1 at 0 len 256
  %a = my:layer(%x, %w) name="first"
  %b = my:layer(%a, %w) name="second"
  out %b
}
