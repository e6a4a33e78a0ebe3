#!/bin/sh
# Runs fuzz targets with libFuzzer, AddressSanitizer and UndefinedBehaviorSanitizer, one after another.
#
#   tests/fuzz/run.sh SECONDS [TARGET...]
#
# SECONDS for each target (all of CMakeLists.txt if none is named).  Builds them with clang in build/fuzz
# (or $PCC_FUZZ_BUILD).  What the fuzzer thinks of is kept in the build folder and used again; findings
# go to build/fuzz/findings/TARGET-*.  Exit code 1 if there is one.
set -eu
cd "$(dirname "$0")/../.."
[ $# -ge 1 ] || { sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" >&2; exit 2; }
seconds=$1
shift
build=${PCC_FUZZ_BUILD:-build/fuzz}
[ $# -gt 0 ] || set -- $(sed -n 's/^set(PCC_FUZZ_TARGETS \(.*\))$/\1/p' tests/fuzz/CMakeLists.txt)

[ -f "$build/build.ninja" ] ||
    CC=clang cmake -G Ninja -S . -B "$build" -DBUILD_TESTING=ON -DPCC_FUZZ=ON -DCMAKE_BUILD_TYPE=RelWithDebInfo >/dev/null
bad=0
for target; do
    ninja -C "$build" "fuzz_$target" >/dev/null
    mkdir -p "$build/findings" "$build/grown/$target"
    log=$build/findings/$target.log
    rc=0
    nice -n 15 "$build/tests/fuzz/fuzz_$target" -max_total_time="$seconds" -max_len=4096 -timeout=20 \
        -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix="$build/findings/$target-" \
        "$build/grown/$target" "tests/fuzz/corpus/$target" >"$log" 2>&1 || rc=$?
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    rate=$(sed -n 's/^stat::average_exec_per_sec: *//p' "$log")
    if [ $rc -eq 0 ]; then
        echo "$target: $seconds s, ${runs:-?} inputs, ${rate:-?} a second, no finding"
    else
        echo "$target: FOUND something (exit code $rc), see $log"
        bad=1
    fi
done
exit $bad
