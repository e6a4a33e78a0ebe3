# Calls that are closed again keep what the costs say of estimated and unknown sizes: the plan's claim is about these sizes.
# RUN: %pcc %s -d 2xa100 -p open-functions,dp-place | FileCheck %s
# CHECK: for estimated sizes: {{[0-9.]+}} % of the time
# CHECK: memory without 1 value of unknown size, the first 'u'
# CHECK: optimal for these sizes
function my:layer {
  graph {
    in %x
    %m = Sigmoid(%x)
    %y = Neg(%m)
    out %y
  }
}
graph {
  in %x : f32[3000,4000]
  in %u : ?
  %w = Shape(%u) : i64[1]
  %i = NonZero(%x)
  %c = Cast(%i) {to=1}
  %a = my:layer(%c)
  %b = my:layer(%a)
  out %b, %w
}
