#!/bin/sh
# arm64 from an x86-64 Debian: cross-builds pcc, runs the unit tests and ten plans under qemu, and compares the plans with
# those of the native build, byte for byte.
#
#   tools/arm64.sh [--plans | unit_NAME...]
#
# Needs clang, pkg-config, cmake, ninja, protoc-c, dpkg, apt-get, and build/release.
# The libraries for arm64, the linker and qemu are fetched by apt-get download and unpacked in build/arm64: nothing is
# installed and root is not needed.  Without solvers.  A minute of CPU time, most of an hour with the unit tests, which
# --plans leaves out; of those that are named only these are built and run.  Extras of tests are left out, among them what needs
# a solver and what qemu does not do as Linux does.  Exit code 1 if anything differs.
set -eu
cd "$(dirname "$0")/.."
native=$PWD/build/release
work=$PWD/build/arm64
root=$work/root host=$work/host
gcc=$(gcc -dumpversion | cut -d. -f1)

# Fetches the libraries for arm64 into $root, the linker and qemu into $host, by lists of packages of its own.
fetch() {
    mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial" "$work/debs" "$root" "$host"
    : >"$work/state/status"
    cat >"$work/apt.conf" <<END
Dir::State "$work/state";
Dir::State::status "$work/state/status";
Dir::Cache "$work/cache";
APT::Architecture "arm64";
APT::Architectures {"arm64";};
APT::Sandbox::User "root";
Acquire::Languages "none";
END
    cd "$work/debs"
    rm -f ./*.deb
    APT_CONFIG=$work/apt.conf apt-get update -qq
    APT_CONFIG=$work/apt.conf apt-get download -qq libprotobuf-c-dev libprotobuf-c1 libjansson-dev libjansson4 \
        zlib1g-dev zlib1g libgraphviz-dev libcgraph6 libcdt5 libcmocka-dev libcmocka0 libc6-dev libc6 linux-libc-dev libcrypt-dev \
        "libgcc-$gcc-dev" libgcc-s1
    for deb in ./*.deb; do dpkg -x "$deb" "$root"; done
    rm -f ./*.deb
    apt-get download -qq binutils-aarch64-linux-gnu qemu-user-static
    for deb in ./*.deb; do dpkg -x "$deb" "$host"; done
    cd - >/dev/null
    touch "$work/fetched"
}

# tool FILE PROGRAM: makes a script that runs a fetched program with the libraries that were fetched beside it.
tool() { printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s "$@"\n' "$host/usr/lib/x86_64-linux-gnu" "$2" >"$1"; chmod +x "$1"; }

[ -f "$work/fetched" ] || fetch
[ -x "$native/pcc" ] || { echo "arm64: no $native/pcc; cmake --build --preset release" >&2; exit 1; }
mkdir -p "$work/bin"
for name in ld as ar ranlib; do
    tool "$work/bin/aarch64-linux-gnu-$name" "$host/usr/bin/aarch64-linux-gnu-$name"
done
PATH=$work/bin:$PATH
export PKG_CONFIG_SYSROOT_DIR="$root" PKG_CONFIG_LIBDIR="$root/usr/lib/aarch64-linux-gnu/pkgconfig"
flags="--target=aarch64-linux-gnu --gcc-toolchain=$root/usr"
cmake -G Ninja -S . -B "$work/build" -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
    -DCMAKE_SYSROOT="$root" -DCMAKE_C_COMPILER=clang -DCMAKE_C_FLAGS="$flags" \
    -DCMAKE_AR="$work/bin/aarch64-linux-gnu-ar" -DCMAKE_RANLIB="$work/bin/aarch64-linux-gnu-ranlib" \
    -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_C_FLAGS_RELWITHDEBINFO=-O2 -DBUILD_TESTING=ON \
    -DPCC_WITH_LPSOLVE=OFF -DPCC_WITH_CBC=OFF -DPCC_WITH_SCOTCH=OFF -DPCC_WITH_METIS=OFF >"$work/cmake.log" 2>&1 ||
    { tail -n 20 "$work/cmake.log" >&2; exit 1; }
units=$(find tests/unit -name '*.c' | LC_ALL=C sort | sed 's,.*/\(.*\)\.c$,unit_\1,')
[ "${1:-}" = --plans ] && units=
[ "${1:---plans}" = --plans ] || units=$*
ninja -C "$work/build" pcc pcc-gen $units >"$work/ninja.log" 2>&1 || { tail -n 20 "$work/ninja.log" >&2; exit 1; }

run() { "$host/usr/bin/qemu-aarch64-static" -L "$root" "$@"; }
plans=0 differ=0
# plan NAME SHAPE PASSES OPTION...: makes a graph and plans it, natively and under qemu; compares graphs, plans and
# outputs.
plan() {
    name=$1 shape=$2 passes=$3
    shift 3
    mkdir -p "$work/x86" "$work/arm"
    "$native/pcc-gen" $shape -o "$work/x86/$name.in"
    run "$work/build/pcc-gen" $shape -o "$work/arm/$name.in"
    (cd "$work/x86" && "$native/pcc" "$name.in" -p "$passes" "$@" -o "$name.json" >"$name.txt" 2>&1) || true
    (cd "$work/arm" && run "$work/build/pcc" "$name.in" -p "$passes" "$@" -o "$name.json" >"$name.txt" 2>&1) || true
    sed -i '/Ctrl-C/d' "$work/x86/$name.txt" "$work/arm/$name.txt" # lines that tell how far a long run is
    plans=$((plans + 1))
    for what in in json txt; do
        cmp -s "$work/x86/$name.$what" "$work/arm/$name.$what" && continue
        echo "arm64: $name.$what differs: $work/x86, $work/arm"
        differ=1
    done
}
small="gpt --layers 4 --width 64 --heads 2 --vocab 100"
plan gpt "$small" fuse,dp-place
plan gpt_anneal "$small" anneal-place
plan gpt_dpl "$small" fuse,dpl-place -d 3xa100
plan bert "bert --layers 2 --width 64 --heads 2" auto-place
plan llama "llama --layers 2 --width 64 --heads 2 --kv-heads 2 --vocab 100" fuse,dp-place -d 3xa100,1xcpu
plan moe "moe --layers 1 --width 32 --heads 2 --kv-heads 2" celeritas-place --objective=makespan
plan resnet "resnet --depth 18" dp-place -d 4xa100 --link 300GB/s,2us
plan inception "inception" heft-place --objective=makespan -d 3xa100
plan layers "random-layers --nodes 2000" dp-place
plan train "train --layers 1" fuse,dp-place -d 2xa100
echo "arm64: $plans plans, $([ $differ = 0 ] && echo equal byte for byte || echo not all equal)"

bad=0 n=0
solved="unit_claim unit_ip_search" # they want lp_solve
for unit in $units; do
    case " $solved " in *" $unit "*) continue ;; esac
    n=$((n + 1))
    PCC_SOURCE=$PWD run "$work/build/tests/$unit" >"$work/$unit.log" 2>&1 ||
        { [ $? = 77 ] || { echo "arm64: $unit failed, see $work/$unit.log"; bad=$((bad + 1)); }; }
done
echo "arm64: $n unit tests, $bad failed; left out without lp_solve: $solved, and extras"
[ $bad = 0 ] && [ $differ = 0 ]
