#!/bin/sh
# Fuzzes one target.
#
#   sh scripts/fuzz.sh TIME FILE:func NAME    in the form in which git grep prints FILE:func NAME
set -eu
pkg=./$(dirname "${2%%:*}") target=${2##*func } log=$(mktemp)
trap 'rm -f "$log"' EXIT
go test -vet=off -run '^$' -fuzz "^$target\$" -fuzztime "$1" -parallel 1 -fuzzminimizetime 10x "$pkg" >"$log" 2>&1 || {
	# Go sometimes reports the end of the time as a failure (golang/go#48591). A real failure names its input.
	if ! grep -q 'context deadline exceeded' "$log" || grep -q 'Failing input' "$log"; then
		cat "$log"
		exit 1
	fi
}
echo "$pkg $target"
