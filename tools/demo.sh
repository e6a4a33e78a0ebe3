#!/bin/sh
# The main job, start to end: makes a 12-layer GPT with weights, splits it over three accelerators,
# and lets ONNX Runtime confirm that the parts compute what the whole computes.
set -eu
cd "$(dirname "$0")/.."

tools/setup.sh --user
cmake --preset release >/dev/null
cmake --build --preset release

run() { echo "+ $*"; "$@"; }
mkdir -p build/demo
run build/release/pcc-gen gpt -o build/demo/gpt.onnx \
    --layers 12 --width 256 --heads 8 --vocab 5000
run build/release/pcc build/demo/gpt.onnx -d 3xa100 --link 300GB/s,2us \
    -o build/demo/split
run build/venv/bin/python tools/verify_split.py build/demo/gpt.onnx build/demo/split --sensitive

echo
echo "parts:    $(ls build/demo/split/part*.onnx | tr '\n' ' ')"
echo "manifest: build/demo/split/manifest.json"
for picture in plan blocks; do
    if [ -f "build/demo/split/$picture.svg" ]; then
        echo "picture:  build/demo/split/$picture.svg"
    else
        echo "picture:  build/demo/split/$picture.dot (no svg: is Graphviz's dot installed?)"
    fi
done
