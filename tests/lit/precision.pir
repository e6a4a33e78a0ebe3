# --precision: what devices compute f32 in.  TF32 and i8 count for products alone, i8 also for the bytes of these; f16
# for all nodes of f32, and not for others.
# RUN: %pcc %s -q -p one-place --emit csv | FileCheck %s --check-prefix=F32
# RUN: %pcc %s -q -p one-place --precision=f32 --emit csv | FileCheck %s --check-prefix=F32
# RUN: %pcc %s -q -p one-place --precision=tf32 --emit csv | FileCheck %s --check-prefix=TF32
# RUN: %pcc %s -q -p one-place --precision=f16 --emit csv | FileCheck %s --check-prefix=F16
# RUN: %pcc %s -q -p one-place --precision=i8:acc --emit csv | FileCheck %s --check-prefix=I8
# RUN: %pcc %s -q --precision=tf32 --emit=ir | FileCheck %s --check-prefix=IR
# RUN: sed 's/tf32:8T\]/tf32:8T] precision=f16/' %s > %t.f16.pir
# RUN: %pcc %t.f16.pir -q -p one-place --emit csv | FileCheck %s --check-prefix=F16
# RUN: %pcc %t.f16.pir -q -p one-place --precision=f32 --emit csv | FileCheck %s --check-prefix=F32
# RUN: not %pcc %s --precision=bf16 2>&1 | FileCheck %s --check-prefix=NONE
# RUN: not %pcc %s --precision=i8,bf16:acc 2>&1 | FileCheck %s --check-prefix=LACKS
# RUN: not %pcc %s --precision=f16:gpu 2>&1 | FileCheck %s --check-prefix=CLASS
# RUN: not %pcc %s --precision=f16,tf32 2>&1 | FileCheck %s --check-prefix=TWICE
# RUN: not %pcc %s --precision=f16:acc,f32,i8:acc 2>&1 | FileCheck %s --check-prefix=AGAIN
# RUN: %pcc %s -q -p one-place --precision=i8:acc,f16 --emit csv | FileCheck %s --check-prefix=I8
# RUN: not %pcc %s --precision=int8 2>&1 | FileCheck %s --check-prefix=WORD
# An ONNX model as it came says nothing of devices; textual IR does.
# RUN: %pcc %s --precision=tf32 --pin=m=acc0 -o %t.onnx 2>&1 | FileCheck %s --check-prefix=IDLE
# RUN: %pcc %s --precision=tf32 --pin=m=acc0 -o %t.out.pir 2>&1 | FileCheck %s --check-prefix=HELD
# RUN: %pcc %s --precision=tf32 --pin=m=acc0 -p one-place -o %t.onnx 2>&1 | FileCheck %s --check-prefix=HELD
# IDLE-DAG: warning: --precision has no effect: nothing is planned
# IDLE-DAG: warning: --pin has no effect: nothing is planned
# HELD-NOT: no effect
# HELD: wrote
# 2 * 64^3 operations; three times 16 KiB at 1 TB/s.  The table's bytes are those of the model.
# F32: m,MatMul,524288,49152,16384,525288
# F32: s,Softmax,{{[0-9]+}},32768,16384,33768
# F32: h,MatMul,524288,24576,8192,132072
# F32: g,Gather,128,1040,512,2040
# TF32: m,MatMul,524288,49152,16384,66536
# TF32: s,Softmax,{{[0-9]+}},32768,16384,33768
# TF32: h,MatMul,524288,24576,8192,132072
# F16: m,MatMul,524288,49152,16384,132072
# F16: s,Softmax,{{[0-9]+}},32768,16384,17384
# F16: h,MatMul,524288,24576,8192,132072
# The indices stay as they are: 1024 / 2 + 16 bytes.
# F16: g,Gather,128,1040,512,1528
# I8: m,MatMul,524288,49152,16384,13288
# I8: s,Softmax,{{[0-9]+}},32768,16384,33768
# IR: peak=[f32:1T, i8:64T, f16:4T, tf32:8T] precision=tf32
# NONE: --precision 'bf16': no class has a rate for it, expected a "peak" in a cluster file
# LACKS: --precision 'bf16:acc': the class has no rate for it, expected a "peak" in a cluster file
# TWICE: --precision 'tf32': a second type without a class, expected one, and others for a class each as in f16:a100
# AGAIN: --precision 'i8:acc': a second type for this class, expected one
# CLASS: --precision 'f16:gpu': there is no such class, expected the name of one of the cluster
# WORD: --precision 'int8': expected f32, tf32, f16, bf16 or i8, perhaps for a class as in f16:a100
class acc x1 link=25GB/s,10us overhead=1ns bandwidth=1TB/s peak=[f32:1T, f16:4T, i8:64T, tf32:8T]
graph {
  in %x : f32[64,64]
  in %y : f32[64,64]
  in %a : f16[64,64]
  in %b : f16[64,64]
  in %i : i64[2]
  %m = MatMul(%x, %y)
  %s = Softmax(%m)
  %h = MatMul(%a, %b)
  %g = Gather(%x, %i)
  out %m
  out %s
  out %h
  out %g
}
