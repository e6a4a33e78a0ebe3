# A Shape of state takes no time and has one neighbour, but it shares the state with its layer: moved into
# its neighbour, it would drag the state there.
# RUN: %pcc %s -p dp-place --emit ir -q | FileCheck %s
# CHECK: plan "dp-place" status=optimal value=100.032us
class acc x2 link=1GB/s,0us
graph {
  in %past_key_values.0.key : f32[100] !bytes=400kB !elems=100k
  %m = Shape(%past_key_values.0.key) : i64[2] !bytes=16B !elems=2 name="measure"
  %present.0.key = Tanh(%past_key_values.0.key) : f32[100] !bytes=400kB !elems=100k name="layer" !time=100us
  %b = Tanh(%m) : f32[4] !bytes=16B !elems=4 name="reader" !time=100us
  out %present.0.key, %b
}
