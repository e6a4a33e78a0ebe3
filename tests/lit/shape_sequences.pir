# Types of sequences: an element that is put in widens what is known of all; one of another kind leaves the kind alone.
# RUN: %pcc %s -q -p infer-shapes --emit ir | FileCheck %s
# CHECK: %s = SequenceConstruct(%x, %x) : seq(f32[2,3])
# CHECK: %same = SequenceInsert(%s, %x) : seq(f32[2,3])
# CHECK: %wider = SequenceInsert(%s, %y) : seq(f32[2,?])
# CHECK: %flat = SequenceInsert(%s, %z) : seq(f32[*])
# CHECK: %open = SequenceInsert(%s, %u) : seq(f32[*])
# CHECK: %other = SequenceInsert(%s, %i) : seq(f32[*])
# CHECK: %first = SequenceInsert(%e, %y) : seq(f32[2,4])
# CHECK: %at = SequenceAt(%wider, %i) : f32[2,?]
# CHECK: %o = Optional(%same) : opt(seq(f32[2,3]))
# CHECK: %got = OptionalGetElement(%o) : seq(f32[2,3])
graph {
  in %x : f32[2,3]
  in %y : f32[2,4]
  in %z : f32[5]
  in %i : i64[2]
  %u = my:Thing(%x)
  %s = SequenceConstruct(%x, %x)
  %same = SequenceInsert(%s, %x)
  %wider = SequenceInsert(%s, %y)
  %flat = SequenceInsert(%s, %z)
  %open = SequenceInsert(%s, %u)
  %other = SequenceInsert(%s, %i)
  %e = SequenceEmpty()
  %first = SequenceInsert(%e, %y)
  %at = SequenceAt(%wider, %i)
  %o = Optional(%same)
  %got = OptionalGetElement(%o)
  out %wider
}
