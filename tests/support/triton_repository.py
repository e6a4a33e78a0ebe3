"""Triton's model repository as its server takes it: the message ModelConfig, the rules, and a run of an ensemble.

Message and rules are written from Triton's published pages ("Model Repository", "Model Configuration", "Ensemble
Models"), not from what pcc writes. The run follows the config files alone."""
from pathlib import Path

import numpy as np
import onnxruntime as ort
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format

KIND = ["KIND_AUTO", "KIND_GPU", "KIND_CPU", "KIND_MODEL"]
TYPES = {"BOOL": "bool", "UINT8": "uint8", "UINT16": "uint16", "UINT32": "uint32", "UINT64": "uint64", "INT8": "int8",
         "INT16": "int16", "INT32": "int32", "INT64": "int64", "FP16": "float16", "FP32": "float", "FP64": "double",
         "STRING": "string", "BF16": "bfloat16"}
# message: fields by name, with a type; "*": repeated
MESSAGES = {
    "Tensor": {"name": "string", "data_type": "Type", "dims": "*int64"},
    "Group": {"name": "string", "count": "int32", "kind": "Kind", "gpus": "*int32"},
    "Entry": {"key": "string", "value": "string"},
    "Step": {"model_name": "string", "model_version": "int64", "input_map": "*Entry", "output_map": "*Entry"},
    "Scheduling": {"step": "*Step"},
    "Config": {"name": "string", "platform": "string", "max_batch_size": "int32", "input": "*Tensor",
               "output": "*Tensor", "instance_group": "*Group", "ensemble_scheduling": "Scheduling"},
}


def config_class():
    """A message with those of ModelConfig's fields that a repository of parts may have."""
    file = descriptor_pb2.FileDescriptorProto(name="triton.proto", package="t", syntax="proto3")
    for name, words in (("Type", ["TYPE_INVALID", *(f"TYPE_{t}" for t in TYPES)]), ("Kind", KIND)):
        enum = file.enum_type.add(name=name)
        for number, word in enumerate(words):
            enum.value.add(name=word, number=number)
    scalars = {"string": 9, "int64": 3, "int32": 5}
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        for number, (field, kind) in enumerate(fields.items(), 1):
            made = message.field.add(name=field, number=number, label=3 if kind[0] == "*" else 1)
            kind = kind.lstrip("*")
            made.type = scalars.get(kind, 14 if kind in ("Type", "Kind") else 11)
            if kind not in scalars:
                made.type_name = f".t.{kind}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("t.Config"))


Config = config_class()


def read(repository, message=Config):
    """The configs of a repository by the names of its folders."""
    return {folder.name: text_format.Parse((folder / "config.pbtxt").read_text(encoding="utf-8"), message())
            for folder in sorted(Path(repository).iterdir())}


def wrong_tensors(config):
    for tensors in (config.input, config.output):
        if not tensors:
            yield "no inputs or no outputs"
        names = [t.name for t in tensors]
        if len(set(names)) < len(names) or "" in names:
            yield "two tensors of a name, or one without"
        for t in tensors:
            if t.data_type == 0:
                yield f"{t.name}: no data_type"
            if not t.dims or any(d == 0 or d < -1 for d in t.dims):
                yield f"{t.name}: dims {list(t.dims)}: there must be some, and each -1 or 1 at least"


def wrong_groups(config):
    for group in config.instance_group:
        if group.count < 1:
            yield "a group without instances"
        if (group.kind == KIND.index("KIND_GPU")) != bool(group.gpus):
            yield "a group of GPUs names them, others do not"


def same_tensor(a, b):
    return a.data_type == b.data_type and list(a.dims) == list(b.dims)


def wrong_steps(ensemble, configs):
    known = {t.name: t for t in ensemble.input}  # tensors that can be read
    read_names, made = set(), set()
    for step in ensemble.ensemble_scheduling.step:
        model = configs.get(step.model_name)
        if model is None or step.model_version < -1 or step.model_version == 0:
            yield f"step {step.model_name}: no such model or version"
            continue
        if (model.max_batch_size == 0) != (ensemble.max_batch_size == 0) or \
                model.max_batch_size < ensemble.max_batch_size:
            yield f"{step.model_name}: other batches than the ensemble's"
        inputs, outputs = {t.name: t for t in model.input}, {t.name: t for t in model.output}
        if sorted(e.key for e in step.input_map) != sorted(inputs):
            yield f"{step.model_name}: the input_map does not name each input once"
        if not step.output_map or not {e.key for e in step.output_map} <= set(outputs):
            yield f"{step.model_name}: the output_map is empty, or names what is no output"
        for e in step.input_map:
            read_names.add(e.value)
            if e.value not in known:
                yield f"{step.model_name} reads {e.value}, which no step before it makes"
            elif e.key in inputs and not same_tensor(known[e.value], inputs[e.key]):
                yield f"{e.value}: other type or dims where it is read"
        for e in step.output_map:
            if e.value in known:
                yield f"{e.value}: made twice, or an input"
            made.add(e.value)
            if e.key in outputs:
                known.setdefault(e.value, outputs[e.key])
    for t in ensemble.input:
        if t.name not in read_names:
            yield f"input {t.name} is not read"
    for t in ensemble.output:
        if t.name not in made or (t.name in known and not same_tensor(known[t.name], t)):
            yield f"output {t.name} is not made, or is of another type or dims"
    for name in made - read_names - {t.name for t in ensemble.output}:
        yield f"{name} is made and not read"


def complaints(configs, repository):
    """What the server would refuse of a repository."""
    for folder, config in configs.items():
        if config.name != folder:
            yield f"{folder}: its config's name is {config.name}"
        if not (Path(repository) / folder / "1").is_dir():
            yield f"{folder}: no folder for version 1"
        if config.platform == "ensemble":
            if config.instance_group:
                yield f"{folder}: an ensemble has no instances"
            if not config.ensemble_scheduling.step:
                yield f"{folder}: an ensemble has steps"
            yield from wrong_steps(config, configs)
        elif config.platform != "onnxruntime_onnx":
            yield f"{folder}: platform {config.platform}"
        elif not (Path(repository) / folder / "1/model.onnx").is_file():
            yield f"{folder}: no model.onnx"
        yield from wrong_tensors(config)
        yield from wrong_groups(config)


def session(path, optimise=False):
    options = ort.SessionOptions()
    if not optimise:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def takes(config, got, batched):
    """Whether a session's input or output is as its config says; the server compares them, too."""
    kind = config.DESCRIPTOR.fields_by_name["data_type"].enum_type.values_by_number[config.data_type].name
    dims = ([-1] if batched else []) + list(config.dims)
    sizes = [d if isinstance(d, int) else -1 for d in got.shape]
    return got.type == f"tensor({TYPES[kind.removeprefix('TYPE_')]})" and dims == sizes


def run(repository, configs, inputs):
    """The outputs of the repository's one ensemble, and what is wrong with its models, by its config files alone."""
    ensemble = next(c for c in configs.values() if c.platform == "ensemble")
    tensors, wrong = dict(inputs), []
    for step in ensemble.ensemble_scheduling.step:
        config, model = configs[step.model_name], session(Path(repository) / step.model_name / "1/model.onnx")
        for said, found in ((config.input, model.get_inputs()), (config.output, model.get_outputs())):
            found = {f.name: f for f in found}
            wrong += [f"{config.name}: {t.name}" for t in said
                      if t.name not in found or not takes(t, found[t.name], config.max_batch_size)]
        feeds = {e.key: tensors[e.value] for e in step.input_map}
        names = [e.key for e in step.output_map]
        for e, array in zip(step.output_map, model.run(names, feeds)):
            tensors[e.value] = np.asarray(array)
    return {t.name: tensors[t.name] for t in ensemble.output}, wrong
