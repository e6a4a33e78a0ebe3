#!/bin/sh
# The programs that are tested are there, and not older than their sources: ctest runs this before the tests of programs
# when these are of another build.
#
#   tests/support/programs.sh FOLDER       where pcc, pcc-gen, ... are; if it is a build folder, it is built
set -eu
[ ! -f "$1/CMakeCache.txt" ] || cmake --build "$1"
for name in pcc pcc-gen pcc-profile pcc-run pcc-verify; do
    [ -x "$1/$name" ] || { echo "no $1/$name: cmake --preset release && cmake --build --preset release" >&2; exit 1; }
done
