#!/bin/sh
# What tests take of the CPU, user and system, with all their children.
#
#   tests/support/cpu.sh NAME COMMAND [ARGUMENT...]   runs a test; leaves the shell's `times` and the name in a file
#                                                     of the folder that PCC_CPU names, if it names one
#   tests/support/cpu.sh --slowest COUNT FOLDER...    what such folders hold in all, and the tests that took the most
#
# A test that is killed, as by ctest's time limit, leaves nothing.
set -u
if [ "$1" = --slowest ]; then
    count=$2
    shift 2
    for folder in "$@"; do
        for file in "$folder"/*; do
            [ ! -f "$file" ] || awk -v preset="$(basename "$folder")" '
                function seconds(text, part) { split(text, part, "m"); return 60 * part[1] + part[2] }
                NF == 2 { sum += seconds($1) + seconds($2); next }
                { printf "%.2f %s %s\n", sum, preset, $1 }' "$file"
        done
    done | sort -rn | awk -v count="$count" '
        NR <= count { printf "%8.1f s of CPU: %s, %s\n", $1, $3, $2 }
        !($2 in sum) { order[++n] = $2 }
        { sum[$2] += $1; tests[$2]++ }
        END { for (i = 1; i <= n; i++) printf "%8.1f s of CPU: all %d tests, %s\n", sum[order[i]], tests[order[i]], order[i] }'
    exit
fi
name=$1
shift
[ -n "${PCC_CPU:-}" ] || exec "$@"
"$@"
status=$?
{ times; printf '%s\n' "$name"; } >"$PCC_CPU/$(printf '%s' "$name" | tr / -)"
exit $status
