#!/bin/sh
# Builds pcc in the ways that its users may: every compiler, build type and set of solvers.
#
#   tools/builds.sh [--one] [--list] [--keep FOLDER]
#
# For gcc and clang, as far as they are here: Release, RelWithDebInfo, Debug, and no build type (which is Release), each
# with its tests; in each of these trees the solvers are then left out, one at a time and all together, which compiles
# what they concern again; the planner that misses one has to say so.  Besides, without tests: by make, with CFLAGS of
# the caller's.  No build may show a warning.
#
# --one: one row, without tests, drawn by the commit (or the day, where there is no git); what CI does.
# --list: the rows; with --one that which is drawn.  --keep: build there and leave it, to go on from; else in a
# temporary folder.
# The last line is "N built, M failed"; exits with 1 if anything failed.
set -u
cd "$(dirname "$0")/.."
source=$PWD
names="lpsolve cbc scotch metis"
types="Release RelWithDebInfo Debug -"

one= list= keep=
while [ $# -gt 0 ]; do
    case $1 in
    --one) one=yes ;;
    --list) list=yes ;;
    --keep) keep=${2:?--keep wants a folder}; shift ;;
    -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
    *) echo "builds: no option $1 (--help shows them)" >&2; exit 2 ;;
    esac
    shift
done

compilers=
for c in gcc clang; do
    if command -v $c >/dev/null 2>&1; then compilers="$compilers $c"; else echo "builds: no $c here" >&2; fi
done

# Prints the rows, "gcc Release none" ... "clang - all": compiler, build type, solvers that are left out.
rows() {
    for c in $compilers; do
        for t in $types; do
            for out in none $names all; do
                echo "$c $t $out"
            done
        done
    done
}

if [ -n "$one" ]; then
    seed=$(git rev-parse --short=7 HEAD 2>/dev/null) && by="commit $seed" || { seed=$(date +%j) by="day $seed"; }
    count=$(rows | wc -l)
    n=$((0x$seed % count + 1))
    drawn=$(rows | sed -n "${n}p")
fi
[ -z "$list" ] || { if [ -n "$one" ]; then echo "$drawn"; else rows; fi; exit 0; }
folder=${keep:-$(mktemp -d)}
mkdir -p "$folder"
[ -n "$keep" ] || trap 'rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM
built=0 failed=0

# left_out OUT: prints CMake's switches that leave out these solvers (none, all, or a name).
left_out() {
    for name in $names; do
        with=AUTO
        if [ "$1" = all ] || [ "$1" = "$name" ]; then with=OFF; fi
        echo "-DPCC_WITH_$(echo "$name" | tr a-z A-Z)=$with"
    done
}

# says TREE PLANNER WORDS: checks that the planner ends with exit code 1 and an error that has these words.
says() {
    "$1/pcc" "$folder/tiny.onnx" -d 2xa100 -q -p "$2" >"$folder/said" 2>&1
    [ $? -eq 1 ] && grep -q "$3" "$folder/said" && return 0
    echo "builds: $2 without its library says:"
    cat "$folder/said"
    return 1
}

# speaks TREE OUT: checks that the program plans, and that the planners whose solvers were left out (OUT) say so.
speaks() {
    "$1/pcc-gen" gpt --layers 1 --width 16 --heads 2 --vocab 20 -o "$folder/tiny.onnx" >/dev/null || return 1
    "$1/pcc" "$folder/tiny.onnx" -d 2xa100 -q -p auto-place -Wno-guessed-dim || return 1
    case $2 in
    none) return 0 ;;
    lpsolve) says "$1" ip-place "ip-place: .*without lp_solve" ;;
    cbc) says "$1" "ip-place{solver=cbc}" "ip-place: .*without CBC" ;;
    scotch) says "$1" scotch-place "built without Scotch" ;;
    metis) says "$1" metis-place "built without METIS" ;;
    all)
        says "$1" ip-place "without lp_solve and without CBC" && says "$1" scotch-place "built without" &&
            says "$1" metis-place "built without" &&
            "$1/pcc" "$folder/tiny.onnx" -d 2xa100 -q -p "ip-place{solve=false:write=$folder/model.mps}" &&
            "$1/pcc" "$folder/tiny.onnx" -d 2xa100 -q -Wno-guessed-dim -p auto-place --time-limit 1s
        ;;
    esac
}

# build NAME TREE ARGUMENTS...: configures with these arguments and builds; fails on errors and warnings, and shows
# them.
build() {
    name=$1 tree=$2
    shift 2
    echo "== $name"
    if ! cmake -S "$source" -B "$tree" "$@" >"$folder/log" 2>&1 ||
        ! cmake --build "$tree" -j 2 >>"$folder/log" 2>&1 || grep -q "warning:" "$folder/log"; then
        grep -E "error|warning|Error" "$folder/log" | head -20
        return 1
    fi
}

# row COMPILER TYPE OUT TESTING: builds a row, with tests or not (ON, OFF), tries it, and counts it in built or failed.
row() {
    tree=$folder/$1-$2 type=
    [ "$2" = - ] || type=-DCMAKE_BUILD_TYPE=$2
    if build "$1, ${2#-} without ${3}, tests $4" "$tree" -G Ninja -DCMAKE_C_COMPILER="$1" $type -DBUILD_TESTING="$4" \
        $(left_out "$3") && speaks "$tree" "$3"; then
        built=$((built + 1))
    else
        echo "builds: this failed: $1 $2 $3"
        failed=$((failed + 1))
    fi
}

# Builds by make with CFLAGS of the caller's own, and checks that these reach the compiler.
by_make() {
    export CFLAGS="-O1 -g -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2"
    if build "make, CFLAGS=$CFLAGS" "$folder/make" -G "Unix Makefiles" &&
        grep -q -- "-D_FORTIFY_SOURCE=2" "$folder/make/compile_commands.json" && speaks "$folder/make" none; then
        built=$((built + 1))
    else
        failed=$((failed + 1))
    fi
    unset CFLAGS
}

if [ -n "$one" ]; then
    echo "builds: row $n of $count, drawn by $by: $drawn"
    row $drawn OFF
else
    for c in $compilers; do
        for t in $types; do
            for out in none $names all; do
                row "$c" "$t" "$out" ON
            done
            [ -n "$keep" ] || rm -rf "$folder/$c-$t"
        done
    done
    by_make
fi
echo "$built built, $failed failed"
[ $failed -eq 0 ]
