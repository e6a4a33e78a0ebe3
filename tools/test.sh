#!/bin/sh
# Builds pcc and runs every test; the last line is "N passed, N failed, N skipped".  The lines before it
# say why tests were skipped: "N tests were left out: REASON".  Before these are the ten tests that took
# the most CPU time, and what all took.
#
#   tools/test.sh [--quick]
#
# Presets: release is built and tested by dev, asan is built and tested, clang (if there is one) and dist are built only,
# without optimising: warnings are errors.  Besides, one of the ways in which users may build it, another for each commit
# (tools/builds.sh --one).  Unit tests, lit tests and fuzz inputs run once, with sanitizers; programs run in both.
# --quick: release and dev alone, with all tests.  A build that fails counts as one failed test.
# Exits with 1 if anything failed.
set -eu
cd "$(dirname "$0")/.."

presets="release dev asan"
build_only="clang dist" others=yes
once='^(unit_|lit/|replay_)' # asan runs these
for arg in "$@"; do
    case $arg in
    --quick) presets="release dev" build_only= others= once= ;;
    -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
    *) echo "test: no option $arg (only --quick)" >&2; exit 2 ;;
    esac
done

passed=0 failed=0 skipped=0 reports= cpu=
jobs=$(($(getconf _NPROCESSORS_ONLN) + 1)) # some tests wait

build() { # preset, more for cmake
    echo "== build $1"
    cmake --preset "$@" >"build/$1.configure.log" 2>&1 || { cat "build/$1.configure.log"; return 1; }
    cmake --build --preset "$1"
}

# For what is built only: warnings of clang, and of what assertions alone use, do not depend on how it is optimised.
in_short() {
    case $1 in
    clang) echo -DCMAKE_C_FLAGS_RELWITHDEBINFO=-O0 ;;
    dist) echo -DCMAKE_C_FLAGS_RELWITHDEBINFO=-DNDEBUG ;;
    esac
}

# The number in an attribute of the <testsuite> element that spans the first lines of ctest's report.
count() { sed -n '/<testsuite/,/>/s/.*[[:space:]]'"$2"'="\([0-9]*\)".*/\1/p' "$1" | head -n 1; }

run_tests() {
    echo "== test $1"
    report=$PWD/build/$1.junit.xml
    rm -rf "$report" "build/cpu/$1"
    mkdir -p "build/cpu/$1"
    cpu="$cpu build/cpu/$1"
    status=0
    left_to=
    [ "$1" != dev ] || left_to=$once
    PCC_CPU=$PWD/build/cpu/$1 ctest --test-dir "build/$1" --output-on-failure -j"$jobs" --output-junit "$report" \
        ${left_to:+-E "$left_to"} || status=$?
    if [ ! -f "$report" ]; then
        echo "test: ctest left no report for $1" >&2
        failed=$((failed + 1))
        return
    fi
    reports="$reports $1.junit.xml"
    all=$(count "$report" tests) bad=$(count "$report" failures)
    left=$(($(count "$report" skipped) + $(count "$report" disabled)))
    if [ $status -ne 0 ] && [ "$bad" -eq 0 ]; then # such as: a test's program is missing
        bad=1 all=$((all > left ? all : left + 1))
    fi
    passed=$((passed + all - bad - left)) failed=$((failed + bad)) skipped=$((skipped + left))
}

mkdir -p build
tools/setup.sh || echo "test: setup is incomplete; going on with what is here" >&2
for preset in $presets; do
    if ! build "$preset"; then
        echo "test: the $preset build failed" >&2
        failed=$((failed + 1))
    elif [ "$preset" != release ]; then # whose programs are tested by dev
        run_tests "$preset"
    fi
done
for preset in $build_only; do
    if [ "$preset" = clang ] && ! command -v clang >/dev/null 2>&1; then
        echo "test: no clang here, its build is left out"
    elif ! build "$preset" $(in_short "$preset"); then
        echo "test: the $preset build failed" >&2
        failed=$((failed + 1))
    fi
done
if [ -n "$others" ] && ! tools/builds.sh --one; then
    echo "test: tools/builds.sh --one failed" >&2
    failed=$((failed + 1))
fi

[ -z "$cpu" ] || tests/support/cpu.sh --slowest 10 $cpu
[ -z "$reports" ] || (cd build && ../tools/left_out.sh $reports)
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
