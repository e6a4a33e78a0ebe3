class acc x3 link=25GB/s,10us
class cpu host
between acc0 acc1=300GB/s,2us
between acc2 "acc0" oneway=50GB/s,0ps
graph {
  in %x : f32[4] !bytes=16B !elems=4
  %a = op(%x) : f32[4] !bytes=16B !elems=4 !time=[4us,9us]
  out %a
}
plan { a = acc2 }
