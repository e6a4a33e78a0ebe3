#!/bin/sh
# Which tests were skipped, and why: "N tests were left out: REASON", a line for each reason.
#
#   tools/left_out.sh REPORT...        (JUnit reports of ctest --output-junit)
#
# The reason is the last line that a skipped test printed, without "skipped: " before it.
set -eu
[ $# -gt 0 ] || { echo "left_out: no report given" >&2; exit 2; }

awk '
function told(line) {
    gsub(/^[ \t]*<system-out>|<\/system-out>.*$/, "", line)
    sub(/^skipped: /, "", line)
    gsub(/&lt;/, "<", line); gsub(/&gt;/, ">", line)
    gsub(/&quot;/, "\"", line); gsub(/&apos;/, "\047", line); gsub(/&amp;/, "\\&", line)
    if (line ~ /[^ \t]/)
        reason = line
}
/<testcase / { skipped = inside = 0; reason = "no reason given" }
/<skipped/ { skipped = 1 }
/<system-out>/ { inside = 1 }
inside { told($0) }
/<\/system-out>/ { inside = 0 }
/<\/testcase>/ && skipped { print reason }
' "$@" | sort | uniq -c | sort -k1,1nr -k2 | while read -r n reason; do
    [ "$n" -eq 1 ] && echo "1 test was left out: $reason" || echo "$n tests were left out: $reason"
done
