#!/usr/bin/env python3
"""Compare third_party/onnx/onnx.proto with the schema inside the installed onnx package.

usage: test_schema.py [onnx.proto]

Every message, field (number, type, label, packing, default, oneof) and enum value must agree, in
both directions. What onnx has beyond IR 13 must stand in NEWER below; anything else is a failure,
and so is a NEWER entry that our file already has. The comparison also proves itself: planted
changes must each be reported. Exit: 0 pass, 1 fail, 77 skip (no onnx package, no compiler).
"""

import os
import shutil
import subprocess
import sys
import tempfile

SKIP = 77

# Facts of onnx newer than IR 13, as facts() names them. Entries that the installed onnx does not
# have yet are fine.
NEWER = {
    "onnx.Version.IR_VERSION",          # the name moves to the newest version
    "onnx.TensorProto.DataType.FLOAT6E2M3",
    "onnx.TensorProto.DataType.FLOAT6E3M2",
}

# Text edits of our own file, each of which the comparison must notice.
PLANTED = [
    ("optional bytes raw_data = 9;", "optional bytes raw_data = 17;"),
    ("repeated int64 dims = 1;", "repeated int32 dims = 1;"),
    ("optional string op_type = 4;", "repeated string op_type = 4;"),
    ("float_data = 4 [packed = true]", "float_data = 4"),
    ("BFLOAT16 = 16;", "BFLOAT16 = 30;"),
    ("    Map map_type = 5;\n", ""),
    ("optional int32 pipeline_stage = 3;", ""),
    ("optional string overload = 8;", "optional string overlord = 8;"),
    ("optional string denotation = 6;", "optional string denotation = 6; optional int32 z = 10;"),
    ("oneof dim {", "oneof dimension {"),
    ("optional int64 num_shards = 3;", "optional int64 num_shards = 3 [default = 1];"),
]


def compile_command():
    """The protoc command line to use, or None."""
    for name in ("protoc", "protoc-c"):
        path = shutil.which(name)
        if path:
            return [path]
    try:
        import grpc_tools.protoc  # noqa: F401
    except ImportError:
        return None
    return [sys.executable, "-m", "grpc_tools.protoc"]


def compile_proto(command, text, descriptor_pb2):
    """FileDescriptorProto of the schema in `text`."""
    with tempfile.TemporaryDirectory() as tmp:
        with open(os.path.join(tmp, "onnx.proto"), "w", encoding="utf-8") as f:
            f.write(text)
        out = os.path.join(tmp, "onnx.desc")
        subprocess.run([*command, "--proto_path=" + tmp, "--descriptor_set_out=" + out,
                        "onnx.proto"], check=True)
        with open(out, "rb") as f:
            return descriptor_pb2.FileDescriptorSet.FromString(f.read()).file[0]


def facts(fd):
    """{dotted name: what must agree} for every message, field, oneof, enum and enum value."""
    out = {fd.package: ("package", fd.syntax or "proto2")}

    def add_enum(e, scope):
        name = scope + "." + e.name
        out[name] = ("enum", e.options.allow_alias)
        for v in e.value:
            out[name + "." + v.name] = ("value", v.number)

    def add_message(m, scope):
        name = scope + "." + m.name
        out[name] = ("message",)
        for e in m.enum_type:
            add_enum(e, name)
        for n in m.nested_type:
            add_message(n, name)
        for f in m.field:
            oneof = m.oneof_decl[f.oneof_index].name if f.HasField("oneof_index") else None
            default = f.default_value if f.HasField("default_value") else None
            out[name + "." + f.name] = ("field", f.number, f.label, f.type, f.type_name,
                                        f.options.packed, default, oneof)

    for e in fd.enum_type:
        add_enum(e, fd.package)
    for m in fd.message_type:
        add_message(m, fd.package)
    return out


def differences(ours, theirs):
    """Lines that say where two fact tables disagree."""
    out = []
    for name in sorted(set(ours) | set(theirs)):
        a, b = ours.get(name), theirs.get(name)
        if a is not None and name in NEWER:
            out.append(f"{name}: listed as newer than IR 13, but ours has it")
        elif a != b and name not in NEWER:
            out.append(f"{name}: ours {a}, onnx {b}")
    return out


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    path = sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, "../../third_party/onnx/onnx.proto")
    try:
        import onnx
        from google.protobuf import descriptor_pb2
        from onnx import onnx_ml_pb2
    except ImportError as e:
        print(f"skip: {e}")
        return SKIP
    command = compile_command()
    if command is None:
        print("skip: no protoc, protoc-c or grpc_tools")
        return SKIP

    with open(path, encoding="utf-8") as f:
        text = f.read()
    fd = descriptor_pb2.FileDescriptorProto()
    onnx_ml_pb2.DESCRIPTOR.CopyToProto(fd)
    theirs = facts(fd)
    ours = facts(compile_proto(command, text, descriptor_pb2))

    failed = differences(ours, theirs)
    for line in failed:
        print(line)
    for old, new in PLANTED:
        if text.count(old) == 0:
            failed.append(old)
            print(f"planted change {old!r}: not in the file")
            continue
        changed = facts(compile_proto(command, text.replace(old, new, 1), descriptor_pb2))
        if not differences(changed, theirs):
            failed.append(old)
            print(f"planted change {old!r} -> {new!r}: not noticed")
    if failed:
        return 1
    newer = sorted(n for n in NEWER if n in theirs)
    print(f"{len(ours)} facts agree with onnx {onnx.__version__}; newer there: {', '.join(newer)}; "
          f"{len(PLANTED)} planted changes noticed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
