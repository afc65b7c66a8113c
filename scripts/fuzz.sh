#!/bin/sh
# Fuzzes every target of one package.
#
#   sh scripts/fuzz.sh TIME FOLDER    TIME is the time for each target
set -eu
work=$(mktemp -d) inputs=$(go env GOCACHE)/fuzz/$(go list "./$2")
trap 'rm -rf "$work"' EXIT
go test -vet=off -c -fuzz . -o "$work/test" "./$2"
cd "$2"
for target in $(grep -ho '^func Fuzz[A-Za-z0-9]*' ./*_test.go | cut -c 6-); do
	"$work/test" -test.run '^$' -test.fuzz "^$target\$" -test.fuzzcachedir "$inputs" -test.fuzztime "$1" -test.parallel 1 \
		-test.fuzzminimizetime 10x >"$work/log" 2>&1 || {
		# Go sometimes reports the end of the time as a failure (golang/go#48591). A real failure names its input.
		if ! grep -q 'context deadline exceeded' "$work/log" || grep -q 'Failing input' "$work/log"; then
			cat "$work/log"
			exit 1
		fi
	}
	echo "$2 $target"
done
