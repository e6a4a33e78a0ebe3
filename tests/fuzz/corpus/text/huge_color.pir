# refused: no array of 16 GiB
class acc x2
graph {
  %a = profile:op() !time=1us !color=4294967295
}
