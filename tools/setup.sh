#!/bin/sh
# Installs what a build of pcc and its tests need and the machine lacks.
#
#   tools/setup.sh [--user] [--no-python] [--engines]
#
# --user: only what building and using pcc needs, which is about half: no clang, no packages of tests.
#
# On Debian and Ubuntu: packages by apt-get, only if one is missing, without questions (sudo unless
# root).  Ubuntu 22.04 and older systems have a protobuf-c and a Python that are too old, and are told so.
# Elsewhere: names what is missing.  Then a Python environment in build/venv for tests and
# demos, with --user for measuring and verifying (--no-python: leaves it out).  --engines: also, in build/engines, the
# engines that tests of docs/engines.md try.  Safe to run again: does nothing when all is there.
set -eu
cd "$(dirname "$0")/.."
LC_ALL=C
export LC_ALL

PACKAGES="gcc libc6-dev cmake ninja-build pkg-config protobuf-c-compiler protobuf-compiler
libprotobuf-c-dev libgraphviz-dev graphviz libjansson-dev lp-solve liblpsolve55-dev coinor-libcbc-dev
libscotch-dev libmetis-dev libopenmpi-dev openmpi-bin zlib1g-dev python3 python3-venv"
TEST_PACKAGES="clang libcmocka-dev"
TOOLS="cc cmake ninja pkg-config protoc-c dot"
LIBRARIES="libprotobuf-c jansson libcgraph zlib"
TEST_LIBRARIES="cmocka"
NODE_ENGINES="onnxruntime-web@1.30.0 onnxruntime-node@1.30.0" # in build/engines/node
USER_PYTHON='/^\(jsonschema\|numpy\|onnx\|onnxruntime\)==/p' # lines of requirements.txt, for sed

say() { echo "setup: $*"; }
fail() { echo "setup: $*" >&2; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

# Runs a command as root.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        env DEBIAN_FRONTEND=noninteractive "$@"
    elif have sudo; then
        sudo env DEBIAN_FRONTEND=noninteractive "$@"
    else
        fail "not root and no sudo; run as root: $*"
    fi
}

# Prints those of the named packages that are not installed.
missing_packages() {
    for p in "$@"; do
        dpkg-query -W -f='${Status}\n' "$p" 2>/dev/null | grep -q '^install ok installed$' || echo "$p"
    done
}

# Installs these packages by apt-get.
install_packages() {
    say "installing $*"
    as_root apt-get update -qq || say "apt-get update failed; trying with the lists that are here"
    as_root apt-get install -y -qq --no-install-recommends "$@"
}

# Prints the name of the package with Clang's sanitizer runtime, where the distribution has such a package.
sanitizer_package() {
    have clang || return 0
    name="libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev"
    if apt-cache show "$name" >/dev/null 2>&1; then
        echo "$name"
    fi
}

# Installs the packages that are missing on Debian and Ubuntu.
setup_debian() {
    lacking=$(missing_packages $PACKAGES)
    [ -z "$lacking" ] || install_packages $lacking
    [ $tests = yes ] || return 0
    lacking=$(missing_packages $(sanitizer_package))
    [ -z "$lacking" ] || install_packages $lacking
}

# On other systems: fails with the names of tools and libraries that are missing.
setup_other() {
    lacking=
    for t in $TOOLS; do
        have "$t" || lacking="$lacking $t"
    done
    if have pkg-config; then
        for l in $LIBRARIES; do
            pkg-config --exists "$l" || lacking="$lacking $l"
        done
    fi
    # lp_solve, CBC, Scotch, METIS and MPI may be missing
    [ -z "$lacking" ] || fail "not a Debian system; install these (development files included):$lacking"
}

# Makes build/venv with the packages of requirements.txt, with --user some of them, unless it is there and complete.
setup_python() {
    have python3 || fail "python3 is missing (--no-python goes on without it)"
    stamp=build/venv/.stamp # says with which Python and packages build/venv was made
    whole=$(python3 --version && cat tools/requirements.txt)
    user=$(echo "$whole" | sed -n "1p; $USER_PYTHON")
    if [ $tests = yes ]; then state=$whole; else state=$user; fi
    if [ -x build/venv/bin/python ] && build/venv/bin/python -c '' 2>/dev/null && [ -f "$stamp" ]; then
        case $(cat "$stamp") in "$state" | "$whole") return 0 ;; esac
    fi
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
        fail "the Python packages need Python 3.11 or later, here is $(python3 --version)"
    python3 -c 'import ensurepip, venv' 2>/dev/null ||
        fail "python3 cannot make environments (no ensurepip): install its venv package, on Debian" \
            "python3-venv or python$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')-venv"
    say "making build/venv"
    mkdir -p build
    rm -f "$stamp"
    python3 -m venv --clear build/venv
    echo "$state" | sed 1d >build/venv/requirements.txt
    build/venv/bin/python -m pip install --quiet --disable-pip-version-check -r build/venv/requirements.txt
    printf '%s\n' "$state" >"$stamp"
}

# Makes build/engines with the engines for which pcc writes files, where tests look for them, unless it is complete.
setup_engines() {
    stamp=build/engines/.stamp
    state=$(python3 --version && cat tools/engines.txt && echo "$NODE_ENGINES" && command -v npm || true)
    [ ! -f "$stamp" ] || [ "$(cat "$stamp")" != "$state" ] || return 0
    say "making build/engines"
    mkdir -p build
    python3 -m venv --clear build/engines
    build/engines/bin/python -m pip install --quiet --disable-pip-version-check -r tools/engines.txt
    if have npm; then # its scripts would only download libraries for GPUs
        npm install --prefix build/engines/node --no-save --ignore-scripts --no-audit --no-fund --silent $NODE_ENGINES
    else
        say "no npm: without the engines of Node ($NODE_ENGINES)"
    fi
    printf '%s\n' "$state" >"$stamp"
}

python=yes tests=yes engines=no
for arg in "$@"; do
    case $arg in
    --no-python) python=no ;;
    --user) tests=no ;;
    --engines) engines=yes ;;
    -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
    *) fail "no option $arg (only --user, --no-python and --engines)" ;;
    esac
done
if [ $tests = yes ]; then
    PACKAGES="$PACKAGES $TEST_PACKAGES" LIBRARIES="$LIBRARIES $TEST_LIBRARIES"
fi

if have dpkg-query && have apt-get; then
    setup_debian
else
    setup_other
fi
pkg-config --atleast-version=1.4.1 libprotobuf-c ||
    fail "pcc needs protobuf-c 1.4.1, here is $(pkg-config --modversion libprotobuf-c); Debian 12 and Ubuntu 24.04 have it"
[ $python = no ] || setup_python
[ $engines = no ] || setup_engines
say "complete"
