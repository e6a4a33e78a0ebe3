#!/bin/sh
# Runs a test of the tests' list, and leaves what it took of the CPU, with all its children, in the
# folder that PCC_CPU names (if it names one): a file of the shell's `times` with the name below.
#
#   tests/cpu.sh NAME COMMAND [ARGUMENT...]
#   tests/cpu.sh --slowest COUNT FOLDER       the sum, and the tests that took the most, in seconds
set -u
if [ "$1" = --slowest ]; then
    awk 'function seconds(text, part) { split(text, part, "m"); return 60 * part[1] + part[2] }
        FNR == 1 { cpu = 0 }
        NF == 2 && /m.*s/ { cpu += seconds($1) + seconds($2); next }
        { sum += cpu; printf "%8.1f  %s\n", cpu, $0 }
        END { printf "%8.1f  %s\n", sum, "seconds of CPU in all" }' "$3"/* |
        sort -rn | head -n $(($2 + 1))
    exit
fi
name=$1
shift
[ -n "${PCC_CPU:-}" ] || exec "$@"
"$@"
status=$?
{ times; printf '%s\n' "$name"; } >"$PCC_CPU/$(printf '%s' "$name" | tr / -)"
exit $status
