# The samples of an ONNX training graph are those of its batch dimension, as --dim says or as it is guessed: devices of a
# stage share whole samples, so four of them cannot share one.
# RUN: %pcc %s -d 4xv100 --objective=iteration-time --micro-batches=4 -p data-parallel-place --dim batch=8 2>&1 | FileCheck %s --check-prefix=EIGHT
# RUN: not %pcc %s -d 4xv100 --objective=iteration-time --micro-batches=4 -p data-parallel-place 2>&1 | FileCheck %s --check-prefix=ONE
# RUN: %pcc %s -d 4xv100 --objective=iteration-time --micro-batches=4 -p pipeline-place 2>&1 | FileCheck %s --check-prefix=PIPELINE
# RUN: not %pcc %s -d 4xv100 --objective=iteration-time --micro-batches=4 -p data-parallel-place --dim batch=3 2>&1 | FileCheck %s --check-prefix=ONE
# Where the text names the objective, its sizes count, and so do options about iterations.
# RUN: sed '1i cluster "2xv100" objective="iteration-time" micro_batches=2 micro_size=3 profiled=1 training="gpipe"' %s > %t.named.pir
# RUN: %pcc %t.named.pir --dim batch=1 -o %t.json 2>&1 | FileCheck %s --check-prefix=NAMED
# RUN: %pcc %t.named.pir --dim batch=1 --micro-batches=4 --schedule=dapple -Werror -o %t.json 2>&1 | FileCheck %s --check-prefix=OPTIONS
# RUN: %pcc %t.named.pir --dim batch=1 --micro-batch-size=5 --global-batch=10 -Werror -o %t.json 2>&1 | FileCheck %s --check-prefix=SIZES
# NAMED: of 6 samples through
# OPTIONS: 4 micro-batches of 3 samples through
# SIZES: 2 micro-batches of 5 samples through
# EIGHT: 4 micro-batches of 8 samples through 1 stage
# EIGHT: acc0 to acc3
# ONE: error: data-parallel-place: no plan that was tried has whole samples
# PIPELINE: 4 micro-batches of 1 sample through
# PIPELINE-NOT: acc0 to
graph {
  in %x : f32[batch,4096]
  in %w : f32[4096,4096]
  %a = MatMul(%x, %w)
  %b = Relu(%a)
  %c = MatMul(%b, %w)
  %d = Relu(%c) !backward
  %e = MatMul(%d, %w) !backward
  out %e
}
