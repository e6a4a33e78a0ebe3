"""What a model that pcc has put together from the parts of a split must be, against the whole model of the folder."""
import collections
import json

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper


def cleaned(message):
    """A message without what a split writes into it, and without the places of external data."""
    copy = type(message)()
    copy.CopyFrom(message)
    for entry in [e for e in copy.metadata_props if e.key.startswith("pcc.") or e.key == "layer_ann"]:
        copy.metadata_props.remove(entry)
    for tensor in tensors(copy):
        if tensor.data_location == TensorProto.EXTERNAL:
            del tensor.external_data[:]
    return copy


def tensors(node):
    """The tensors in the attributes of a node, also of nodes in bodies."""
    found, stack = [], [node]
    while stack:
        for a in stack.pop().attribute:
            found += [a.t] * a.HasField("t") + list(a.tensors)
            for half in [a.sparse_tensor] * a.HasField("sparse_tensor") + list(a.sparse_tensors):
                found += [half.values, half.indices]
            for body in [a.g] * a.HasField("g") + list(a.graphs):
                stack += body.node
                found += body.initializer
    return found


def called(model, nodes):
    """Keys of the functions that nodes call, directly or not."""
    known = {(f.domain, f.name, f.overload): f for f in model.functions}
    found, stack = set(), list(nodes)
    while stack:
        node = stack.pop()
        key = (node.domain.replace("ai.onnx", "") if node.domain == "ai.onnx" else node.domain, node.op_type,
               node.overload)
        for a in node.attribute:
            for body in [a.g] * a.HasField("g") + list(a.graphs):
                stack += body.node
        if key in known and key not in found:
            found.add(key)
            stack += known[key].node
    return found


def count(messages):
    return collections.Counter(m.SerializeToString(deterministic=True) for m in messages)


def nodes_of(whole, parts):
    """The nodes of the whole model that some part has, with the names that the parts have where it has none."""
    names = {tuple(o for o in n.output if o): n for n in parts}
    for node in map(cleaned, whole):
        part = names.get(tuple(o for o in node.output if o))
        if not node.name and part:
            node.name = part.name
        yield node


def weights(model):
    return {t.name: t for t in model.graph.initializer} | {t.values.name: t for t in model.graph.sparse_initializer}


def same(one, two):
    """Whether two weights, loaded, are the same, in whatever field of the message their elements are."""
    if isinstance(one, onnx.SparseTensorProto):
        return one.dims == two.dims  # onnx loads no external data of these
    a, b = numpy_helper.to_array(one), numpy_helper.to_array(two)
    return (one.data_type, one.dims) == (two.data_type, two.dims) and (
        np.array_equal(a, b) if a.dtype == object else a.tobytes() == b.tobytes())


def complaints(folder, path):
    """What is wrong with the model at `path`, put together from the split in the folder."""
    manifest = json.loads((folder / "manifest.json").read_text())
    links = manifest["weights"]["mode"] == "link"  # whose bytes onnx does not read
    whole = onnx.load(str(folder / manifest["model"]["file"]), load_external_data=not links)
    made = onnx.load(str(path), load_external_data=not links)
    dropped, wrong = collections.Counter(manifest.get("dropped", [])), []
    kept, unnamed = [], 0
    for node in nodes_of(whole.graph.node, made.graph.node):
        if dropped[node.name]:
            dropped[node.name] -= 1
        elif node.name:
            kept.append(node)
        else:
            unnamed += 1  # in no part: the manifest made a name up
    if unnamed != sum(dropped.values()):
        wrong.append(f"{unnamed} nodes without a name are in no part, dropped are {dict(dropped)}")
    want, got = count(kept), count(map(cleaned, made.graph.node))
    if want != got:
        wrong.append(f"nodes: lacks {str(list(want - got))[:200]}, has {str(list(got - want))[:200]}")
    if any(e.key.startswith("pcc.") for n in made.graph.node for e in n.metadata_props):
        wrong.append("metadata of the split")
    for side in ("input", "output"):
        ours = [v for v in getattr(made.graph, side) if side == "output" or v.name not in weights(made)]
        theirs = [v for v in getattr(whole.graph, side) if side == "output" or v.name not in weights(whole)]
        if [v.name for v in ours] != [v.name for v in theirs]:
            wrong.append(f"{side}s {[v.name for v in ours]}, expected {[v.name for v in theirs]}")
        wrong += [f"{side} {a.name}: {a.type}, expected {b.type}" for a, b in zip(ours, theirs)
                  if a.type != b.type and b.type.tensor_type.HasField("shape")]
    if {(o.domain, o.version) for o in made.opset_import} != {(o.domain, o.version) for o in whole.opset_import}:
        wrong.append("other operator sets")
    if [f.name for f in made.functions if (f.domain, f.name, f.overload) not in called(whole, kept)]:
        wrong.append("functions that nothing calls")
    if {(f.domain, f.name, f.overload) for f in made.functions} != called(whole, kept):
        wrong.append("other functions")
    have = weights(whole)
    for name, t in weights(made).items():
        if name not in have or not (links or same(t, have[name])):
            wrong.append(f"weight {name} differs")
    if not checked(path) and checked(folder / manifest["model"]["file"]):
        wrong.append("onnx's checker refuses it")
    return wrong


def checked(path):
    try:
        onnx.checker.check_model(str(path))
        return True
    except Exception:  # onnx's checker has no common class for its errors
        return False
