#!/bin/sh
# Fuzzes one target.
#
#   sh scripts/fuzz.sh TIME FILE:func NAME    as git grep prints it
set -eu
pkg=./$(dirname "${2%%:*}") target=${2##*func } log=$(mktemp)
trap 'rm -f "$log"' EXIT
go test -vet=off -run '^$' -fuzz "^$target\$" -fuzztime "$1" -parallel 1 -fuzzminimizetime 10x "$pkg" >"$log" 2>&1 || {
	# Go sometimes reports its own end of time as a failure (golang/go#48591); a real one names the input it found.
	if ! grep -q 'context deadline exceeded' "$log" || grep -q 'Failing input' "$log"; then
		cat "$log"
		exit 1
	fi
}
echo "$pkg $target"
