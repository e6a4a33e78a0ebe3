#!/bin/sh
# Lines of frontends/ that the corpus runs: each file once, as it is, without mutations.
#
#   coverage.sh PERCENT COUNTED OBJECTS CORPUS REPLAY_PROGRAM...
#
# COUNTED: a shared object with frontends/ counted, which stands before the library of the programs; OBJECTS: the folder
# where its objects lie.  Programs are called replay_NAME and get the files of CORPUS/NAME.  Prints the figure of each source file and of all, and, with VERBOSE=1,
# the lines that are not run.  Exit code 1 below PERCENT, 77 without gcov.
set -eu
[ $# -ge 5 ] || { sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" >&2; exit 2; }
percent=$1 counted=$2 objects=$3 corpus=$4
shift 4
command -v gcov >/dev/null || { echo "no gcov"; exit 77; }
find "$objects" -name '*.gcda' -exec rm -f {} +
for program; do
    LD_PRELOAD=$counted "$program" "$corpus/${program##*/replay_}"/*
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
find "$objects" -name '*.gcda' | sort | xargs gcov >figures 2>/dev/null
[ -z "${VERBOSE:-}" ] || grep -h -B1 '#####:' ./*.c.gcov | cat
awk -v percent="$percent" '
    /^File/ { name = $0; gsub(/^.*\/|\047$/, "", name); ours = /frontends\/[a-z_\/]*\.c\047$/ }
    /^Lines executed/ && ours {
        split($0, part, /[:% ]+/)
        lines += part[5]; run += part[3] * part[5] / 100; ours = 0
        printf "%6.2f %% of %4d lines  %s\n", part[3], part[5], name
    }
    END {
        share = lines > 0 ? 100 * run / lines : 0
        printf "%6.2f %% of %4d lines, at least %d %% expected\n", share, lines, percent
        exit share < percent
    }' figures
