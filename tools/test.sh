#!/bin/sh
# Builds pcc and runs every test; the last line is "N passed, N failed, N skipped".  The lines before it
# say why tests were skipped: "N tests were left out: REASON".  Before these are the ten tests that took
# the most CPU time, and what all took.
#
#   tools/test.sh [--quick]
#
# Presets: release is built and tested by dev, asan is built and tested, dist is built only: warnings are errors.  Clang,
# if there is one, compiles all of it for its warnings (tools/clang_check.py).  Besides, one of the ways in which users may build it, another for each commit
# (tools/builds.sh --one); where that one has no assertions, dist is left out.  Unit tests, lit tests and fuzz inputs are
# built and run once, with sanitizers; programs run in both, but for tests with a line "# once: " (tests/CMakeLists.txt).
# What is built while tests run has less right to the processors than they, so that none waits.
# --quick: release and dev alone, with all tests.  A build that fails counts as one failed test.
# Exits with 1 if anything failed.
set -eu
cd "$(dirname "$0")/.."

quick=
once='^(unit_|lit/|replay_)' # asan runs these
for arg in "$@"; do
    case $arg in
    --quick) quick=yes once= ;;
    -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
    *) echo "test: no option $arg (only --quick)" >&2; exit 2 ;;
    esac
done

passed=0 failed=0 skipped=0 reports= cpu= gently= target=
jobs=$(($(getconf _NPROCESSORS_ONLN) + 1)) # some tests wait

# build PRESET ARGUMENTS...: configures a preset, with further arguments for cmake, and builds it or its $target.
build() {
    echo "== build $1"
    cmake --preset "$@" >"build/$1.configure.log" 2>&1 || { cat "build/$1.configure.log"; return 1; }
    $gently cmake --build --preset "$1" $target
}

# The number in an attribute of the <testsuite> element that spans the first lines of ctest's report.
count() { sed -n '/<testsuite/,/>/s/.*[[:space:]]'"$2"'="\([0-9]*\)".*/\1/p' "$1" | head -n 1; }

# run_tests PRESET: runs the tests of a preset and adds to passed, failed and skipped.
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
        ${left_to:+-E "$left_to" -LE '^once$'} || status=$?
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

# start STEP COMMAND...: starts a command in the background, with the least right to the processors; its output goes to
# a log, which finish() shows.
start() {
    step=$1 gently="nice -n 19"
    shift
    "$@" >"build/$step.log" 2>&1 &
    started=$! gently=
}
trap 'trap - INT; kill 0' INT # a shell's background jobs ignore Ctrl-C

# Waits for the step that start() has started last, and shows its output.  Returns 1 if it has failed.
finish() {
    status=0
    wait "$started" || status=1
    cat "build/$step.log"
    return $status
}

# Makes the builds whose tests are not run: clang's warnings; dist, unless the drawn build has no assertions either; and
# one of the ways in which users may build.
build_rest() {
    status=0
    $gently tools/clang_check.py build/asan --jobs $((jobs - 1)) || [ $? -eq 77 ] || status=1
    case $(tools/builds.sh --one --list) in
    *" Debug "*) build dist -DCMAKE_C_FLAGS_RELWITHDEBINFO=-DNDEBUG || status=1 ;;
    esac # others warn, too, of what assertions alone use
    $gently tools/builds.sh --one || status=1
    return $status
}

# missed WHAT: says that a step did not work, and counts it as one failed test.
missed() {
    echo "test: $1 failed" >&2
    failed=$((failed + 1))
}

incomplete="test: setup is incomplete; going on with what is here"
mkdir -p build
tools/setup.sh --no-python || echo "$incomplete" >&2
start setup tools/setup.sh # Python, which only tests need
build release || missed "the release build"
finish || echo "$incomplete" >&2
able=yes
[ -n "$quick" ] || target="--target for_programs" # asan builds the unit tests
build dev || { missed "the dev build"; able=; }
target=
[ -n "$quick" ] || start asan-build build asan
[ -z "$able" ] || run_tests dev # and the programs of release
if [ -z "$quick" ]; then
    able=yes
    finish || { missed "the asan build"; able=; }
    start other-builds build_rest
    [ -z "$able" ] || run_tests asan
    finish || missed "a build without tests"
fi

[ -z "$cpu" ] || tests/support/cpu.sh --slowest 10 $cpu
[ -z "$reports" ] || (cd build && ../tools/left_out.sh $reports)
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
