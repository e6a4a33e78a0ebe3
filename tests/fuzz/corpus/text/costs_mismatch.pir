# refused: costs for one class, a cluster of two
costs 1
class acc x2
class cpu host
graph {
  %a = profile:op() !time=1us
}
